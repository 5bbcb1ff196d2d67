// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Set;

/**
 * A completion queue whose completions are read in place, a batch at a time.
 *
 * <p>C: {@code struct} {@index ibv_cq_ex}, {@index ibv_create_cq_ex}; it is a {@link CompletionQueue} as well
 * ({@index ibv_cq_ex_to_cq}).
 *
 * {@snippet :
 * if (queue.startPoll()) {
 *     try {
 *         do {
 *             handle(queue.current());
 *         } while (queue.nextPoll());
 *     } finally {
 *         queue.endPoll();
 *     }
 * }
 * }
 *
 * <p>Between {@link #startPoll} that returned true and {@link #endPoll} the batch belongs to the calling
 * thread; other threads that poll wait for its end, and {@link #poll} of this thread throws {@link IllegalStateException}. A
 * handler ({@link CompletionQueue#poll(int, CompletionHandler)}) needs no end and keeps nobody waiting.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface ExtendedCompletionQueue extends CompletionQueue {
    /** {@return the fields its completions have} */
    Set<CompletionField> fields();

    /**
     * Begins a batch. C: {@index ibv_start_poll}.
     *
     * @return whether there is a completion, which {@link #current} then is; if not, the batch has ended
     * @throws RdmaException EIO when the queue has overrun and all it held has been taken
     * @throws IllegalStateException if the calling thread has begun a batch already
     */
    boolean startPoll() throws RdmaException;

    /**
     * Goes on to the next completion. C: {@index ibv_next_poll}.
     *
     * @return whether there was one
     * @throws IllegalStateException outside a batch
     */
    boolean nextPoll();

    /**
     * Ends the batch and frees its entries. C: {@index ibv_end_poll}.
     *
     * @throws IllegalStateException outside a batch
     */
    void endPoll();

    /**
     * {@return the completion of the batch that has been reached, valid until the next call} C: the
     * {@code ibv_wc_read_…} family. Fields that were not asked for may be zero.
     *
     * @throws IllegalStateException outside a batch
     */
    WorkCompletion current();
}
