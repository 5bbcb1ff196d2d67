// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Hands the completions of one queue to handlers, without a lock and, for one thread at a time, without allocation: each is
 * taken by itself, so what a handler throws leaves the others in the queue. Thread safe.
 */
public final class HandlerPolling {
    /** The object that is filled, null while a thread has it. */
    private final AtomicReference<@Nullable WorkCompletion> spare = new AtomicReference<>(
            new WorkCompletion());

    /**
     * As {@link CompletionQueue#poll(int, CompletionHandler)}.
     *
     * @throws RdmaException as {@link CompletionQueue#poll(int, CompletionHandler)}
     */
    public int poll(CompletionQueue queue, int limit, CompletionHandler handler)
            throws RdmaException {
        if (limit < 0) {
            throw new IllegalArgumentException("the limit must be at least 0, not " + limit);
        }
        WorkCompletion taken = spare.getAndSet(null);
        WorkCompletion completion = taken == null ? new WorkCompletion() : taken;
        try {
            int count = 0;
            while (count < limit && queue.poll(completion)) {
                count++;
                handler.onCompletion(completion);
            }
            return count;
        } finally {
            spare.set(completion);
        }
    }
}
