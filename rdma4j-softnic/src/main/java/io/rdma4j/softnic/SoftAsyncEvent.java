package io.rdma4j.softnic;

import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.SharedReceiveQueue;
import org.jspecify.annotations.Nullable;

/**
 * An asynchronous event.
 *
 * @param type what happened
 * @param queuePair to which queue pair, or null
 * @param completionQueue to which completion queue, or null
 */
record SoftAsyncEvent(AsyncEventType type, @Nullable QueuePair queuePair,
        @Nullable CompletionQueue completionQueue) implements AsyncEvent {

    static AsyncEvent of(AsyncEventType type, CompletionQueue queue) {
        return new SoftAsyncEvent(type, null, queue);
    }

    static AsyncEvent of(AsyncEventType type, QueuePair queuePair) {
        return new SoftAsyncEvent(type, queuePair, null);
    }

    @Override
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return null;
    }

    @Override
    public int port() {
        return 0;
    }

    @Override
    public void acknowledge() {
        // Nothing waits for it.
    }
}
