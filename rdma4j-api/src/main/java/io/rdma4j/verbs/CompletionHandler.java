// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * What a program does with a completion ({@link CompletionQueue#poll(int, CompletionHandler)}). No counterpart in C.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface CompletionHandler {
    /**
     * Handles a completion. It may post, and poll the same queue.
     *
     * @param completion what completed; the object is filled anew afterwards, so keep what is needed of it
     * @throws RdmaException of any errno, as {@link CompletionQueue#poll(int, CompletionHandler)} then throws it
     */
    void onCompletion(WorkCompletion completion) throws RdmaException;
}
