// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.softnic.engine.DeviceCounters;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.SendFailures;

import java.util.List;

/**
 * Flushes the ports of a network. A port that has no room keeps its packets, and queue pairs wait. A network that has accepted
 * nothing for {@link #PATIENCE_NS} stands still: the packets are dropped, as are later ones until it accepts packets again.
 * Otherwise datagrams, which have no time-out, would wait for ever. For the engine's owner.
 */
final class FullPorts {
    /** A slow link still accepts something in this time: a message of 64 KiB at half a megabit per second. */
    static final long PATIENCE_NS = 1_000_000_000;

    private final DatagramNetwork network;
    private final DeviceCounters counters;
    private final SendFailures failures;
    private boolean isFull;
    /** How many packets had not left when the network accepted something last, or was first found full. */
    private int waiting;
    private long sinceNs;
    private boolean isStandingStill;

    /** @param failures is told why packets were refused */
    FullPorts(DatagramNetwork network, DeviceCounters counters, SendFailures failures) {
        this.network = network;
        this.failures = failures;
        this.counters = counters;
    }

    /** {@return whether the network stands still} */
    boolean isStandingStill() {
        return isStandingStill;
    }

    /**
     * Called when something was sent by a port, or a port was full.
     *
     * @return whether all packets have left, or were dropped
     */
    boolean flush(long nowNs) {
        int before = isStandingStill ? waiting() : 0;
        if (flushAll()) {
            isFull = false;
            isStandingStill = false;
            return true;
        }
        int left = waiting();
        if (left < before) {
            isStandingStill = false;
        }
        if (!isFull || left < waiting) {
            isFull = true;
            waiting = left;
            sinceNs = nowNs;
        }
        isStandingStill |= nowNs - sinceNs >= PATIENCE_NS;
        if (!isStandingStill) {
            return false;
        }
        drop();
        isFull = false;
        return true;
    }

    private boolean flushAll() {
        boolean isFlushed = true;
        List<PacketPort> ports = network.ports();
        for (int i = 0; i < ports.size(); i++) {
            isFlushed &= ports.get(i).flush();
            counters.add(Counter.SEND_ERR, ports.get(i).takeRefused(failures));
        }
        return isFlushed;
    }

    private int waiting() {
        int packets = 0;
        List<PacketPort> ports = network.ports();
        for (int i = 0; i < ports.size(); i++) {
            packets += ports.get(i).waiting();
        }
        return packets;
    }

    private void drop() {
        List<PacketPort> ports = network.ports();
        for (int i = 0; i < ports.size(); i++) {
            counters.add(Counter.SEND_ERR, ports.get(i).dropWaiting());
        }
    }
}
