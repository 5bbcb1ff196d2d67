// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import java.util.Map;

/**
 * What one look at a queue pair shows.
 *
 * @param number its number
 * @param type its transport service
 * @param state its state
 * @param peerAddress empty without a peer
 * @param peerNumber the number of the peer's queue pair, 0 without one
 * @param way how its messages travel, empty if it is not connected
 * @param counters by name, in the order they are shown; none on a native device
 */
record QueuePairReading(int number, String type, String state, String peerAddress, int peerNumber,
        String way, Map<String, Long> counters) {}
