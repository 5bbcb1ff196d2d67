package io.rdma4j.softnic.observe.jmx;

import java.util.Map;

/**
 * A queue pair as JMX shows it.
 *
 * @param number its number
 * @param type its transport service, such as {@code RC}
 * @param state its state, such as {@code RTS}
 * @param peerAddress the address of its peer, empty without one
 * @param peerNumber the number of the peer's queue pair, 0 without one
 * @param counters its counters by their Linux names
 */
public record QueuePairData(int number, String type, String state, String peerAddress,
        int peerNumber, Map<String, Long> counters) {}
