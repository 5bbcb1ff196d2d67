// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.verbs;

import io.rdma4j.verbs.RdmaException;

/** Who posts and polls. Each method makes so many calls and returns the nanoseconds they took. */
interface Caller {
    /** Posts lists of sends. */
    long sendLists(int length, int calls) throws RdmaException;

    /** Posts lists of receives. */
    long receiveLists(int length, int calls) throws RdmaException;

    /** Posts lists of receives to a shared queue. */
    long sharedLists(int length, int calls) throws RdmaException;

    /**
     * Polls.
     *
     * @param most how many completions are asked for
     * @param expected how many there are
     */
    long polls(int most, int expected, int calls) throws RdmaException;
}
