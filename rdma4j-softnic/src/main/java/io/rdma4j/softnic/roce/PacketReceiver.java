// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.softnic.engine.BriefPolls;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.SharedMemory;
import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Receives packets. Checking a port takes a system call, checking shared memory takes almost no time. So shared memory is
 * checked always; while it has packets, ports are checked only once each 100 µs; a poller mostly checks only the port that
 * had the last packet. For the engine's owner.
 */
final class PacketReceiver {
    private static final int BUDGET = 64;
    /** Instead of the index of a port: the last packets came through memory. */
    private static final int MEMORY = -1;

    /** So many in a row mean that packets wait: an answer has two, its acknowledgement and itself. */
    private static final int BACKLOG = 3;

    private final DatagramNetwork network;
    private final PacketHandler ofPorts;
    private final SharedMemory.Handler ofMemory;
    private final @Nullable SharedMemory memory;
    private final BriefPolls briefPolls = new BriefPolls();
    /** The source of the last packets. */
    private int busy;
    private boolean hasReceived;
    /** How many looks at one port in a row have found something. */
    private int hits;
    /** A port had more than was taken when all were asked last. */
    private boolean isMoreAtPorts;
    /** Processes had ended before the last call, which has emptied all ports. */
    private boolean hasAllOfEnded;

    /**
     * @param ofPorts gets the packets of ports
     * @param ofMemory gets those of shared memory
     */
    PacketReceiver(DatagramNetwork network, PacketHandler ofPorts,
            SharedMemory.Handler ofMemory) {
        this.network = network;
        this.ofPorts = ofPorts;
        this.ofMemory = ofMemory;
        memory = network.sharedMemory();
    }

    /**
     * Receives.
     *
     * @param isOften whether the caller comes back at once
     * @return whether there is more to receive at once
     */
    boolean receive(long nowNs, boolean isOften) {
        // First: what they have sent is there by now.
        boolean isAnyOver = memory != null && memory.hasEnded();
        hasAllOfEnded = false;
        int received = receiveFromMemory();
        boolean more = received >= BUDGET;
        hasReceived = received > 0;
        boolean areQuiet = network.takePortsQuiet() && !isMoreAtPorts;
        if (isAnyOver) {
            boolean isMore = receiveFromAll();
            hasAllOfEnded = !isMore;
            return isMore || more;
        }
        if (areQuiet) {
            // The system has just checked them all: who was woken through memory need not do it again.
            briefPolls.onAllChecked(nowNs);
            busy = hasReceived ? MEMORY : busy;
            return more;
        }
        boolean isBrief;
        if (hasReceived) {
            busy = MEMORY;
            // A port that had more than was taken is emptied first.
            isBrief = briefPolls.isBriefAfterFinding(nowNs) && !isMoreAtPorts;
        } else {
            isBrief = briefPolls.isBrief(nowNs, isOften);
        }
        return (isBrief ? receiveBriefly() : receiveFromAll()) || more;
    }

    private int receiveFromMemory() {
        return memory == null ? 0 : memory.receive(ofMemory, BUDGET);
    }

    /** Receives briefly from the port that had the last packets. */
    private boolean receiveBriefly() {
        if (busy == MEMORY) {
            return false;
        }
        if (busy >= network.ports().size()) {
            return receiveFromAll();
        }
        PacketPort port = network.ports().get(busy);
        int received = hits >= BACKLOG ? port.receive(ofPorts, BUDGET)
                : port.receiveBriefly(ofPorts, BUDGET);
        hits = received > 0 ? hits + 1 : 0;
        briefPolls.onBriefPoll(received > 0);
        hasReceived |= received > 0;
        return received >= BUDGET;
    }

    private boolean receiveFromAll() {
        boolean more = false;
        List<PacketPort> ports = network.ports();
        for (int i = 0; i < ports.size(); i++) {
            int received = ports.get(i).receive(ofPorts, BUDGET);
            hits = 0;
            if (received > 0) {
                hasReceived = true;
                busy = i;
            }
            more |= received >= BUDGET;
        }
        isMoreAtPorts = more;
        return more;
    }

    /** {@return whether processes have ended of which nothing is left at the ports} */
    boolean hasAllOfEnded() {
        return hasAllOfEnded;
    }

    /** {@return whether the last packets came through memory} */
    boolean isAtMemory() {
        return busy == MEMORY;
    }

    /** {@return whether the last call received anything} */
    boolean hasReceived() {
        return hasReceived;
    }
}
