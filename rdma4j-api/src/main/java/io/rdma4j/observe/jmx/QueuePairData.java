// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.jmx;

import java.util.Map;

/**
 * A queue pair as JMX shows it.
 *
 * @param number its number
 * @param type its transport service, such as {@code RC}
 * @param state its state, such as {@code RTS}
 * @param peerAddress the address of its peer, empty without one
 * @param peerNumber the number of the peer's queue pair; 0 without one, and for iWARP, which does not tell it
 * @param way how its messages travel: {@code direct} within the process, {@code shared} through memory that it shares with the
 *        peer's, {@code network}, {@code tcp} for iWARP; empty if it is not connected, and for a native device
 * @param counters its counters by their Linux names; none for a native device, whose driver counts for a port alone
 * @since 0.1.0
 */
public record QueuePairData(int number, String type, String state, String peerAddress,
        int peerNumber, String way, Map<String, Long> counters) {}
