// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.roce.RoundTripEstimate;
import io.rdma4j.verbs.Gid;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The round-trip times to peers, as their queue pairs have measured them. If there are very many peers, the least
 * recently used are forgotten.
 */
final class PeerRoundTrips {
    private static final int MOST = 4096;

    private final Map<Gid, RoundTripEstimate> roundTrips = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Gid, RoundTripEstimate> eldest) {
            return size() > MOST;
        }
    };

    /** {@return the estimate of the round-trip time to a peer, shared by all its queue pairs} */
    RoundTripEstimate roundTrips(Gid peer) {
        return roundTrips.computeIfAbsent(peer, _ -> new RoundTripEstimate());
    }
}
