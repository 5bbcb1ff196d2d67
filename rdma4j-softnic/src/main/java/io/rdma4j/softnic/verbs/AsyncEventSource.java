package io.rdma4j.softnic.verbs;

import io.rdma4j.event.EventQueue;
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
 * The asynchronous events of one object. Before the object is closed, the events that were taken must be
 * acknowledged; the others are dropped with it.
 */
final class AsyncEventSource {
    private final EventQueue<AsyncEvent, RdmaException> queue;
    private final @Nullable QueuePair queuePair;
    private final @Nullable CompletionQueue completionQueue;
    private final @Nullable SharedReceiveQueue sharedReceiveQueue;
    private final int port;
    private final AtomicInteger unacknowledged = new AtomicInteger();

    private AsyncEventSource(EventQueue<AsyncEvent, RdmaException> queue,
            @Nullable QueuePair queuePair,
            @Nullable CompletionQueue completionQueue,
            @Nullable SharedReceiveQueue sharedReceiveQueue, int port) {
        this.queue = queue;
        this.queuePair = queuePair;
        this.completionQueue = completionQueue;
        this.sharedReceiveQueue = sharedReceiveQueue;
        this.port = port;
    }

    static AsyncEventSource of(EventQueue<AsyncEvent, RdmaException> queue, QueuePair source) {
        return new AsyncEventSource(queue, source, null, null, 0);
    }

    static AsyncEventSource of(EventQueue<AsyncEvent, RdmaException> queue,
            CompletionQueue source) {
        return new AsyncEventSource(queue, null, source, null, 0);
    }

    static AsyncEventSource of(EventQueue<AsyncEvent, RdmaException> queue,
            SharedReceiveQueue source) {
        return new AsyncEventSource(queue, null, null, source, 0);
    }

    static AsyncEventSource ofPort(EventQueue<AsyncEvent, RdmaException> queue, int port) {
        return new AsyncEventSource(queue, null, null, null, port);
    }

    void publish(AsyncEventType type) {
        unacknowledged.incrementAndGet();
        queue.publish(new Event(type));
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
        return event instanceof Event mine && mine.source().equals(this);
    }

    private final class Event implements AsyncEvent {
        private final AsyncEventType type;
        private final AtomicBoolean isAcknowledged = new AtomicBoolean();

        Event(AsyncEventType type) {
            this.type = type;
        }

        AsyncEventSource source() {
            return AsyncEventSource.this;
        }

        @Override
        public AsyncEventType type() {
            return type;
        }

        @Override
        public @Nullable QueuePair queuePair() {
            return queuePair;
        }

        @Override
        public @Nullable CompletionQueue completionQueue() {
            return completionQueue;
        }

        @Override
        public @Nullable SharedReceiveQueue sharedReceiveQueue() {
            return sharedReceiveQueue;
        }

        @Override
        public int port() {
            return port;
        }

        @Override
        public void acknowledge() {
            if (isAcknowledged.compareAndSet(false, true)) {
                unacknowledged.decrementAndGet();
            }
        }

        @Override
        public String toString() {
            return type.text();
        }
    }
}
