// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

/** A cache of the GIDs of senders, so that none is created for each packet. */
final class KnownPeers {
    private static final int SLOTS = 4096;

    private final @Nullable Gid[] slots = new Gid[SLOTS];

    Gid find(long high, long low) {
        long mixed = (high * 31 + low) * 0x9e37_79b9_7f4a_7c15L;
        int slot = (int) (mixed >>> 52);
        Gid known = slots[slot];
        if (known == null || known.high() != high || known.low() != low) {
            known = new Gid(high, low);
            slots[slot] = known;
        }
        return known;
    }
}
