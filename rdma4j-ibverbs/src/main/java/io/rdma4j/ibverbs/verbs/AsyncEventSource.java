package io.rdma4j.ibverbs.verbs;

import io.rdma4j.event.EventQueue;
import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The asynchronous events of one object. The library's own events are acknowledged as soon as they are read; the
 * application's acknowledgements are counted here.
 *
 * @param device the name of its device
 * @param subject the object, null for the port or the whole device
 */
record AsyncEventSource(EventQueue<AsyncEvent, RdmaException> queue, String device,
        @Nullable Object subject, AtomicInteger unacknowledged) {
    AsyncEventSource(EventQueue<AsyncEvent, RdmaException> queue, String device,
            @Nullable Object subject) {
        this(queue, device, subject, new AtomicInteger());
    }

    void publish(AsyncEventType type, int port) {
        int number = subject instanceof QueuePair queuePair ? queuePair.number() : 0;
        FlightEvents.asyncEvent(device, type, number, port);
        unacknowledged.incrementAndGet();
        queue.publish(new Event(this, type, port, new AtomicBoolean()));
    }

    /** @throws RdmaException EBUSY if an event was taken and not acknowledged */
    void requireAcknowledged(String operation) throws RdmaException {
        int taken = unacknowledged.get() - queue.count(this::isMine);
        if (taken > 0) {
            throw new RdmaException(Errno.EBUSY, operation, taken
                    + " asynchronous event(s) are not acknowledged; acknowledge them first");
        }
    }

    /** Drops the events that no thread has taken. */
    void discard() {
        queue.removeIf(this::isMine);
    }

    private boolean isMine(AsyncEvent event) {
        return event instanceof Event own && own.source.unacknowledged.equals(unacknowledged);
    }

    private record Event(AsyncEventSource source, AsyncEventType type, int port,
            AtomicBoolean isAcknowledged) implements AsyncEvent {
        @Override
        public @Nullable QueuePair queuePair() {
            return source.subject instanceof QueuePair queuePair ? queuePair : null;
        }

        @Override
        public @Nullable CompletionQueue completionQueue() {
            return source.subject instanceof CompletionQueue queue ? queue : null;
        }

        @Override
        public @Nullable SharedReceiveQueue sharedReceiveQueue() {
            return source.subject instanceof SharedReceiveQueue queue ? queue : null;
        }

        @Override
        public void acknowledge() {
            if (isAcknowledged.compareAndSet(false, true)) {
                source.unacknowledged.decrementAndGet();
            }
        }

        @Override
        public String toString() {
            return type.text();
        }
    }
}
