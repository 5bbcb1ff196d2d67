// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.event.EventQueue;
import io.rdma4j.event.UnacknowledgedEvents;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The asynchronous events of one object, or of a port or the whole device, in the channel of the device. Thread safe.
 *
 * <p>Before the object is closed, the events that were taken must be acknowledged; the others are dropped with it.
 */
public final class AsyncEvents {
    private final EventQueue<AsyncEvent, RdmaException> queue;
    private final @Nullable Object subject;
    private final UnacknowledgedEvents ofObject = new UnacknowledgedEvents();
    private final UnacknowledgedEvents unacknowledged = ofObject.ofKind();

    /** @param subject the queue pair, completion queue or shared receive queue; null for ports and the device */
    public AsyncEvents(DeviceEventChannel channel, @Nullable Object subject) {
        queue = EventQueue.of(channel);
        this.subject = subject;
    }

    /** {@return the count of all events of the object} If it has events of another kind, they are a part of it. */
    public UnacknowledgedEvents ofObject() {
        return ofObject;
    }

    /**
     * Tells the application.
     *
     * @param port the port that it happened to, 0 for none
     */
    public void publish(AsyncEventType type, int port) {
        publish(type, type.code(), port);
    }

    /**
     * Tells the application of an event that this version does not know.
     *
     * @param code the number of its type in verbs.h
     */
    public void publishUnknown(int code) {
        publish(AsyncEventType.UNKNOWN, code, 0);
    }

    private void publish(AsyncEventType type, int code, int port) {
        queue.publish(new EventQueue.Published<>(new Event(type, code, port), unacknowledged));
    }

    /**
     * The object is closed, if no thread holds an event of it: from now on none gets one. The other checks come first, and
     * what takes long afterwards.
     *
     * @param operation what the caller attempts
     * @throws RdmaException EBUSY if an event, of any kind, was taken and not acknowledged; then nothing has changed
     */
    public void end(String operation) throws RdmaException {
        if (!ofObject.end()) {
            throw new RdmaException(Errno.EBUSY, operation, ofObject.count()
                    + " event(s) are not acknowledged; acknowledge them first");
        }
        queue.discard(unacknowledged);
    }

    /** The object could not be made after all, and the application does not know it. */
    public void abandon() {
        ofObject.end();
        queue.discard(unacknowledged);
    }

    private final class Event implements AsyncEvent {
        private final AsyncEventType type;
        private final int code;
        private final int port;
        private final AtomicBoolean isAcknowledged = new AtomicBoolean();

        Event(AsyncEventType type, int code, int port) {
            this.type = type;
            this.code = code;
            this.port = port;
        }

        @Override
        public AsyncEventType type() {
            return type;
        }

        @Override
        public int typeCode() {
            return code;
        }

        @Override
        public @Nullable QueuePair queuePair() {
            return subject instanceof QueuePair queuePair ? queuePair : null;
        }

        @Override
        public @Nullable CompletionQueue completionQueue() {
            return subject instanceof CompletionQueue completionQueue ? completionQueue : null;
        }

        @Override
        public @Nullable SharedReceiveQueue sharedReceiveQueue() {
            return subject instanceof SharedReceiveQueue shared ? shared : null;
        }

        @Override
        public int port() {
            return port;
        }

        @Override
        public void acknowledge() {
            if (isAcknowledged.compareAndSet(false, true)) {
                unacknowledged.acknowledge(1);
            }
        }

        @Override
        public String toString() {
            return type == AsyncEventType.UNKNOWN ? "event " + code : type.text();
        }
    }
}
