package io.rdma4j.softnic.roce;

import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.SharedMemory;
import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Takes what has arrived. To ask a port takes a system call, to look into shared memory hardly anything: a poller looks there
 * always, and asks mostly the one port alone that had something last. For the engine's owner.
 */
final class PacketReceiver {
    private static final int BUDGET = 64;
    /** So often a port is asked in vain. */
    private static final int VAIN_LOOKS = 16;
    /** No longer than so, and only if it has looked just now. */
    private static final long LOOK_AT_ALL_NS = 100_000;
    private static final long JUST_NOW_NS = 10_000;
    /** In the place of a port: the last packets came through memory. */
    private static final int MEMORY = -1;

    private final DatagramNetwork network;
    private final PacketDispatcher dispatcher;
    private final @Nullable SharedMemory memory;
    /** Who had something last. */
    private int busy;
    private long lastLookNs;
    private long lastLookAtAllNs;
    private int vainLooks;
    private boolean hasReceived;

    PacketReceiver(DatagramNetwork network, PacketDispatcher dispatcher) {
        this.network = network;
        this.dispatcher = dispatcher;
        memory = network.sharedMemory();
    }

    /**
     * Receives.
     *
     * @param isOften whether the caller comes back at once
     * @return whether there is more to receive at once
     */
    boolean receive(long nowNs, boolean isOften) {
        boolean isBrief = isOften && nowNs - lastLookNs < JUST_NOW_NS
                && nowNs - lastLookAtAllNs < LOOK_AT_ALL_NS;
        lastLookNs = nowNs;
        int received = receiveFromMemory();
        boolean more = received >= BUDGET;
        hasReceived = received > 0;
        if (hasReceived) {
            busy = MEMORY;
        }
        if (!isBrief) {
            lastLookAtAllNs = nowNs;
            return receiveFromAll() || more;
        }
        return more || receiveBriefly();
    }

    private int receiveFromMemory() {
        return memory == null ? 0 : memory.receive(dispatcher, BUDGET);
    }

    /** Takes what the port has at hand that had something last. */
    private boolean receiveBriefly() {
        if (busy == MEMORY) {
            return false;
        }
        if (busy >= network.ports().size() || vainLooks >= VAIN_LOOKS) {
            return receiveFromAll();
        }
        int received = network.ports().get(busy).receiveBriefly(dispatcher, BUDGET);
        vainLooks = received > 0 ? 0 : vainLooks + 1;
        hasReceived |= received > 0;
        return received >= BUDGET;
    }

    private boolean receiveFromAll() {
        vainLooks = 0;
        boolean more = false;
        List<PacketPort> ports = network.ports();
        for (int i = 0; i < ports.size(); i++) {
            int received = ports.get(i).receive(dispatcher, BUDGET);
            if (received > 0) {
                hasReceived = true;
                busy = i;
            }
            more |= received >= BUDGET;
        }
        return more;
    }

    /** {@return whether there was anything last time} */
    boolean hasReceived() {
        return hasReceived;
    }
}
