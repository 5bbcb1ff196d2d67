package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.roce.RoundTripEstimate;
import io.rdma4j.verbs.Gid;

import java.util.LinkedHashMap;
import java.util.Map;

/** What queue pairs have learnt of the peers they lead to. Of very many peers those of the longest ago are forgotten. */
final class Peers {
    private static final int MOST = 4096;

    private final Map<Gid, RoundTripEstimate> roundTrips = new LinkedHashMap<>(16, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Gid, RoundTripEstimate> eldest) {
            return size() > MOST;
        }
    };

    /** {@return how long the answers of a peer take, the same for each who asks} */
    RoundTripEstimate roundTrips(Gid peer) {
        return roundTrips.computeIfAbsent(peer, _ -> new RoundTripEstimate());
    }
}
