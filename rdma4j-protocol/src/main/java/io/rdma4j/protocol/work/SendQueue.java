// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

/**
 * Send requests in the order they were posted, each at an index that never repeats.
 */
public interface SendQueue {
    /** {@return the index behind the last posted request} */
    long end();

    /** {@return a request that was posted and is not retired} */
    SendRequest request(long index);

    /** Frees the slot of the oldest request. */
    void retire();

    /** As {@link #retire}, of a request that has no completion. */
    default void retireSilently() {
        retire();
    }

    /** {@return the index behind the last request posted so far, after it freed the slots of all of them} */
    long clear();
}
