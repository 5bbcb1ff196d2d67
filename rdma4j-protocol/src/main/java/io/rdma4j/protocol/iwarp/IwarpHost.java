// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.protocol.work.QueuePairHost;

/** What a queue pair of iWARP needs of its host besides what every one needs. */
public interface IwarpHost extends QueuePairHost {
    /** {@return whether the peer's system has all that was sent, true if that cannot be known} */
    default boolean isAcknowledged() {
        return true;
    }

    /** The first unit of the peer arrived, and is right. */
    default void peerIsReady() {}

    /**
     * The stream ends with a Terminate: the peer's, or that of this side after a fault of the peer. For people: nothing
     * depends on it.
     */
    void terminated(boolean isOwn, String reason);
}
