// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.SendOpcode;

/**
 * The work of a send request, independent of how it is posted.
 *
 * @param remoteAddress where at the peer
 * @param localAddress where on this side
 * @param length the bytes of payload
 * @param compareAdd what an atomic compares with or adds
 * @param invalidated the key that a SEND or a local invalidation invalidates
 */
record Work(SendOpcode opcode, long remoteAddress, int rkey, long localAddress, int lkey,
        long length, long compareAdd, long swap, int invalidated, FlushPlacement placement,
        FlushSelectivity selectivity) {

    Work rkey(int value) {
        return new Work(opcode, remoteAddress, value, localAddress, lkey, length, compareAdd, swap,
                invalidated, placement, selectivity);
    }

    Work lkey(int value) {
        return new Work(opcode, remoteAddress, rkey, localAddress, value, length, compareAdd, swap,
                invalidated, placement, selectivity);
    }

    Work remoteAddress(long value) {
        return new Work(opcode, value, rkey, localAddress, lkey, length, compareAdd, swap,
                invalidated, placement, selectivity);
    }

    Work localAddress(long value) {
        return new Work(opcode, remoteAddress, rkey, value, lkey, length, compareAdd, swap,
                invalidated, placement, selectivity);
    }

    Work length(long value) {
        return new Work(opcode, remoteAddress, rkey, localAddress, lkey, value, compareAdd, swap,
                invalidated, placement, selectivity);
    }

    Work atomic(long newCompareAdd, long newSwap) {
        return new Work(opcode, remoteAddress, rkey, localAddress, lkey, length, newCompareAdd,
                newSwap, invalidated, placement, selectivity);
    }

    Work invalidated(int value) {
        return new Work(opcode, remoteAddress, rkey, localAddress, lkey, length, compareAdd, swap,
                value, placement, selectivity);
    }

    Work flush(FlushPlacement newPlacement, FlushSelectivity newSelectivity) {
        return new Work(opcode, remoteAddress, rkey, localAddress, lkey, length, compareAdd, swap,
                invalidated, newPlacement, newSelectivity);
    }
}
