// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.endpoint;

import io.rdma4j.verbs.Gid;

/**
 * What a peer must know of a queue pair to reach it.
 *
 * @param lid the port's local identifier, 0 on RoCE
 * @param number the queue pair's number
 * @param psn the first PSN it sends
 * @param gid the port's GID, zero if none was chosen
 */
public record QueuePairAddress(int lid, int number, int psn, Gid gid) {
    /** What stands for a queue pair that is not there. */
    public static final QueuePairAddress NONE = new QueuePairAddress(0, 0, 0, Gid.ZERO);

    /** {@return the same with another first PSN} */
    public QueuePairAddress withPsn(int other) {
        return new QueuePairAddress(lid, number, other, gid);
    }
}
