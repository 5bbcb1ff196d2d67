// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

/** Who brings the queue pairs of reliable connections up. Datagrams need no connection, and always do it by hand. */
public enum ConnectionMethod {
    /**
     * The test itself, by attributes: GIDs, packet sequence numbers and queue pair numbers, exchanged in memory.
     * For InfiniBand and RoCE.
     */
    BY_HAND,
    /** The connection manager: one side listens, the other connects. For every transport, and all that iWARP has. */
    CONNECTION_MANAGER
}
