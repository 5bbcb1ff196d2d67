package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.memory.RegisteredMemory;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.MemoryPath;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * The ways that packets take: back to this device, through memory to another process, or from a port; and the queue pairs that
 * are held up, for the process at the end of their way has no room. For the engine's owner.
 */
final class PacketWays {
    /** Who reads shared memory tells when there is room again, unless it has died. */
    private static final long LOOK_AFTER_NS = 50_000_000;
    /** A reader that goes on is waited for no longer than a full socket. */
    private static final long LOOK_AGAIN_NS = 1_000_000;
    /** 1 MiB at the longest path MTU: short enough for others to get their turn. */
    private static final int MAX_OWN_SEGMENTS = RegisteredMemory.MAX_ACCESS
            / Mtu.MTU_4096.bytes();

    private final Engine engine;
    private final DatagramNetwork network;
    private final PortSharing sharing;
    private final @Nullable SharedMemory memory;
    private final List<RoceQueuePair> heldUp = new ArrayList<>();
    private boolean skipsNetwork;

    PacketWays(DatagramNetwork network, Engine engine) {
        this.network = network;
        this.engine = engine;
        sharing = network.sharing();
        memory = network.sharedMemory();
    }

    /** As {@link RoceTransport#skipNetwork}. */
    void skipNetwork(boolean isSkipped) {
        skipsNetwork = isSkipped;
    }

    /** {@return whether an address is this device's} */
    boolean isOwn(Gid address) {
        return network.port(address) != null;
    }

    /**
     * {@return whether a path leads back to this device, and not to another process that shares its address, so that the
     * network need not be bothered} Which process listens at a service the network knows.
     */
    boolean staysHere(Path path, int queuePair) {
        Gid destination = path.destination();
        return skipsNetwork && !destination.isMulticast() && sharing.isOwn(queuePair)
                && isOwn(destination);
    }

    /** {@return the way through memory of a packet of a queue pair, null if it takes none} */
    @Nullable
    MemoryPath memoryPath(RoceQueuePair queuePair, OutgoingPacket packet) {
        SharedMemory shared = memory;
        if (shared != null && queuePair.service() == Opcode.Service.UD) {
            queuePair.memoryPath(shared.path(packet.path(), packet.destinationQueuePair()));
        }
        return queuePair.memoryPath();
    }

    // ---------------------------------------------------------------- of queue pairs

    /**
     * Finds the way of a queue pair's next packet, if it can be known: datagrams go anywhere, and it is known of the last.
     *
     * @return false if that way has no room; then the queue pair is noted
     */
    boolean find(RoceQueuePair queuePair) {
        SharedMemory shared = memory;
        if (shared == null) {
            return true;
        }
        queuePair.findMemoryPath(shared);
        if (mayGoOn(queuePair, engine.timeNs())) {
            return true;
        }
        if (!heldUp.contains(queuePair)) {
            heldUp.add(queuePair);
        }
        return false;
    }

    /** Queue pairs go on to send where there is room again. */
    void goOn(long nowNs) {
        for (int i = heldUp.size() - 1; i >= 0; i--) {
            if (mayGoOn(heldUp.get(i), nowNs)) {
                engine.touched(heldUp.remove(i));
            }
        }
    }

    /** {@return whether a queue pair can send} Reliable ones wait for a reader that lives: its packets would only come again. */
    private static boolean mayGoOn(RoceQueuePair queuePair, long nowNs) {
        MemoryPath way = queuePair.memoryPath();
        return way == null || way.hasRoom(nowNs)
                || (way.isStandingStill() && queuePair.service() != Opcode.Service.RC);
    }

    /** {@return when to look after those who are held up, {@link Long#MAX_VALUE} for never} */
    long deadlineNs() {
        if (heldUp.isEmpty()) {
            return Long.MAX_VALUE;
        }
        return engine.timeNs() + (isAnyStandingStill() ? LOOK_AFTER_NS : LOOK_AGAIN_NS);
    }

    private boolean isAnyStandingStill() {
        for (int i = 0; i < heldUp.size(); i++) {
            MemoryPath way = heldUp.get(i).memoryPath();
            if (way != null && way.isStandingStill()) {
                return true;
            }
        }
        return false;
    }

    /**
     * {@return how many packets of a message may go as one: back to this device, and through memory, several}
     *
     * @param queuePair that sends, and is connected
     * @param destination the queue pair that the path leads to
     * @param mtu bytes of a packet's payload
     */
    int maxSegments(RoceQueuePair queuePair, Path path, int destination, int mtu) {
        if (staysHere(path, destination)) {
            return MAX_OWN_SEGMENTS;
        }
        MemoryPath way = queuePair.memoryPath();
        return way == null ? 1 : way.maxPayload() / mtu;
    }

    /** {@return how many middle packets of a message may go as one on a path that leads to a network} */
    int maxMiddleSegments(Path path) {
        PacketPort port = network.port(path.source());
        return port == null ? 1 : port.maxMiddleSegments();
    }

    /** {@return how the packets of a queue pair that is connected travel at present} For any thread. */
    Loopback way(RoceQueuePair queuePair, Path path, int destination) {
        if (staysHere(path, destination)) {
            return Loopback.DIRECT;
        }
        return queuePair.memoryPath() == null ? Loopback.NETWORK : Loopback.SHARED;
    }
}
