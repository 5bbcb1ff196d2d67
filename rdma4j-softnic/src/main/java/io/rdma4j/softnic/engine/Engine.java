package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.ibcm.IbConnectionManager;
import io.rdma4j.protocol.roce.RoundTripEstimate;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.work.Path;
import io.rdma4j.softnic.memory.IdTable;
import io.rdma4j.softnic.memory.RegisteredMemory;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * A device's packets, queue pairs and timers. Every method is for the owner; {@link EngineDriver} says
 * who that is.
 *
 * <p>Work is bounded: a round takes a number of datagrams from each port, lets due timers run, and sends a
 * number of packets, the queue pairs taking turns in bursts.
 */
public final class Engine {
    private static final System.Logger LOG = System.getLogger(Engine.class.getName());
    private static final int RECEIVE_BUDGET = 64;
    private static final int SEND_BUDGET = 256;
    /** To ask a port takes a system call. A poller asks the one only that had something last, so often in vain. */
    private static final int VAIN_LOOKS = 16;
    /** And no longer than so, and only if it has looked just now. */
    private static final long LOOK_AT_ALL_NS = 100_000;
    private static final long JUST_NOW_NS = 10_000;
    private static final int BURST = 16;
    /** 1 MiB at the longest path MTU: short enough for others to get their turn. */
    private static final int MAX_OWN_SEGMENTS = RegisteredMemory.MAX_ACCESS / Mtu.MTU_4096.bytes();
    /** Those below are for management, as in Linux. */
    private static final int FIRST_NUMBER = 16;

    private final DatagramNetwork network;
    private final IdTable<EngineQueuePair> queuePairs;
    private final ManagementPort management;
    private final MulticastGroups groups = new MulticastGroups();
    private final QueuePairNumbers numbers;
    private final Reception reception;
    private final Consumer<CompletionRing> onOverrun;
    private final DeadlineHeap deadlines = new DeadlineHeap();
    private final Queue<EngineQueuePair> active = new ArrayDeque<>();
    private final Counters counters = new Counters();
    private final OutgoingPacket outgoing;
    private final List<CompletionRing> overrun = new ArrayList<>();
    private final Peers peers = new Peers();
    private final List<CompletionRing> moderated = new ArrayList<>();
    private boolean skipsNetwork;
    private boolean isPortFull;
    private boolean isUnflushed;
    /** The port that had something last. */
    private int busyPort;
    private long lastLookNs;
    private long lastLookAtAllNs;
    private int vainLooks;
    private boolean hasReceived;
    private boolean hasDelivered;
    private long nowNs;
    /** The owner's, since it has accessed memory of applications. */
    private @Nullable InterruptStatus ownerStatus;

    /**
     * @param random numbers that others cannot guess, for queue pair numbers
     * @param onOverrun called after a completion queue has overrun, to fail its queue pairs
     */
    public Engine(DatagramNetwork network, IbConnectionManager connectionManager, IntSupplier random,
            Consumer<CompletionRing> onOverrun) {
        this.network = network;
        this.onOverrun = onOverrun;
        queuePairs = new IdTable<>(random);
        numbers = new QueuePairNumbers(random);
        Arena arena = Arena.ofAuto();
        management = new ManagementPort(connectionManager, arena);
        reception = new Reception(this, queuePairs, groups, management, arena);
        outgoing = new OutgoingPacket(arena.allocate(Opcode.MAX_HEADER_LENGTH, 64));
    }

    /** Says whether packets from one address of this device to another stay in memory. Before the first packet. */
    public void skipNetwork(boolean isSkipped) {
        skipsNetwork = isSkipped;
    }

    /** {@return the device's counters} */
    public Counters counters() {
        return counters;
    }

    /** Counts something that happened to the device as a whole. */
    public void count(Counter counter) {
        counters.add(counter, 1);
    }

    /** {@return the network} */
    public DatagramNetwork rim() {
        return network;
    }

    /** {@return the multicast groups} */
    public MulticastGroups groups() {
        return groups;
    }

    /** {@return what takes the packets that arrive} */
    public PacketHandler reception() {
        return reception;
    }

    // ---------------------------------------------------------------- queue pairs

    /** {@return a number for a new queue pair} */
    public int newQueuePairNumber() {
        int number;
        do {
            number = numbers.next();
        } while (number < FIRST_NUMBER || number == MulticastGroups.QUEUE_PAIR
                || queuePairs.find(number) != null);
        return number;
    }

    /** Adds a queue pair. */
    public void attach(EngineQueuePair queuePair) {
        queuePairs.put(queuePair.number(), queuePair);
    }

    /** Removes a queue pair; packets for it are dropped from now on. */
    public void detach(EngineQueuePair queuePair) {
        queuePair.isDetached = true;
        queuePairs.remove(queuePair.number());
        deadlines.update(queuePair, DeadlineHeap.NEVER);
    }

    /** {@return all queue pairs} */
    public List<EngineQueuePair> queuePairs() {
        List<EngineQueuePair> all = new ArrayList<>(queuePairs.size());
        queuePairs.forEach(all::add);
        return all;
    }

    /** A queue pair's protocol was called: it may have packets to send and another deadline. */
    public void touched(EngineQueuePair queuePair) {
        if (queuePair.isDetached) {
            return;
        }
        settle(queuePair);
        if (!queuePair.isActive) {
            queuePair.isActive = true;
            active.add(queuePair);
        }
    }

    /** Sees to what a call of a queue pair's protocol has changed besides packets. */
    private void settle(EngineQueuePair queuePair) {
        queuePair.settle(nowNs);
        deadlines.update(queuePair, queuePair.protocol().deadlineNs());
        while (!overrun.isEmpty()) {
            onOverrun.accept(overrun.removeLast());
        }
    }

    /** A completion queue is closed: it is notified of nothing more. */
    public void forget(CompletionRing ring) {
        moderated.remove(ring);
        overrun.remove(ring);
    }

    /** A completion queue has put a notification off. */
    public void onModerated(CompletionRing ring) {
        if (!moderated.contains(ring)) {
            moderated.add(ring);
        }
    }

    /** Says what time it is. */
    void setTime(long newNowNs) {
        nowNs = newNowNs;
    }

    /** {@return the time of the round or task under way} */
    public long timeNs() {
        return nowNs;
    }

    /** {@return where the last packet came from} */
    Gid packetSource() {
        return reception.source();
    }

    void onOverrun(CompletionRing ring) {
        if (!overrun.contains(ring)) {
            overrun.add(ring);
        }
    }

    /** The peer of a queue pair sends requests: its connection stands. */
    void onPeerReady(int queuePair) {
        try {
            management.onPeerReady(queuePair);
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
    }

    /** Requests were posted to a queue pair. */
    void onDoorbells(EngineQueuePair queuePair, long newNowNs) {
        nowNs = newNowNs;
        int bells = queuePair.takeDoorbells();
        if (queuePair.isDetached) {
            return;
        }
        try {
            if ((bells & EngineQueuePair.SEND_DOORBELL) != 0) {
                queuePair.protocol().onSendPosted(newNowNs);
            }
            if ((bells & EngineQueuePair.RECEIVE_DOORBELL) != 0) {
                queuePair.protocol().onReceivePosted(newNowNs);
            }
        } catch (RuntimeException | InternalError defect) {
            contain(queuePair, defect);
        }
        touched(queuePair);
    }

    // ---------------------------------------------------------------- memory of applications

    /** The owner is going to access it. */
    void protectOwner() {
        if (ownerStatus == null && !Thread.currentThread().isVirtual()) {
            InterruptStatus status = InterruptStatus.ofCurrentThread();
            status.protect();
            ownerStatus = status;
        }
    }

    /** The owner is about to let go, or to do something else. */
    void restoreOwner() {
        InterruptStatus status = ownerStatus;
        if (status != null) {
            ownerStatus = null;
            status.restore();
        }
    }

    // ---------------------------------------------------------------- rounds

    /**
     * Receives, and lets due timers run. What is to be sent then waits for {@link #transmit(long)}.
     *
     * @param isOften whether this may be called so often that quiet ports need not be asked each time, nor the others
     *        for more than they have at once
     * @return whether there is more to receive at once
     */
    boolean receive(long newNowNs, boolean isOften) {
        nowNs = newNowNs;
        hasReceived = false;
        hasDelivered = false;
        boolean more = (isOften && mayLookBriefly()) ? receiveBriefly() : receiveFromAll();
        lastLookNs = newNowNs;
        for (EngineQueuePair due = deadlines.due(newNowNs); due != null; due = deadlines
                .due(newNowNs)) {
            try {
                due.protocol().onDeadline(newNowNs);
            } catch (RuntimeException | InternalError defect) {
                contain(due, defect);
            }
            touched(due);
        }
        try {
            management.onTime(newNowNs);
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
        for (int i = moderated.size() - 1; i >= 0; i--) {
            if (moderated.get(i).notifyIfDue(newNowNs)) {
                moderated.remove(i);
            }
        }
        return more;
    }

    private boolean mayLookBriefly() {
        return busyPort < network.ports().size() && vainLooks < VAIN_LOOKS
                && nowNs - lastLookNs < JUST_NOW_NS
                && nowNs - lastLookAtAllNs < LOOK_AT_ALL_NS;
    }

    /** Takes what the port has at hand that had something last. */
    private boolean receiveBriefly() {
        int received = network.ports().get(busyPort).receiveBriefly(reception, RECEIVE_BUDGET);
        hasReceived = received > 0;
        vainLooks = hasReceived ? 0 : vainLooks + 1;
        return received >= RECEIVE_BUDGET;
    }

    private boolean receiveFromAll() {
        lastLookAtAllNs = nowNs;
        vainLooks = 0;
        boolean more = false;
        List<PacketPort> ports = network.ports();
        for (int i = 0; i < ports.size(); i++) {
            int received = ports.get(i).receive(reception, RECEIVE_BUDGET);
            if (received > 0) {
                hasReceived = true;
                busyPort = i;
            }
            more |= received >= RECEIVE_BUDGET;
        }
        return more;
    }

    /** {@return whether {@link #receive} found anything last time} */
    boolean hasReceived() {
        return hasReceived;
    }

    /** {@return whether a message for the application was among it} */
    boolean hasDelivered() {
        return hasDelivered;
    }

    /** A message for the application arrived. */
    void onDelivered() {
        hasDelivered = true;
    }

    /**
     * Sends what can be sent.
     *
     * @return whether there is more to send at once
     */
    public boolean transmit(long newNowNs) {
        nowNs = newNowNs;
        if (isPortFull && !flush()) {
            return false;
        }
        isPortFull = !network.pollDue(newNowNs);
        if (isPortFull) {
            return false;
        }
        boolean more = transmit();
        outgoing.release();
        // Ports gather packets to send them together; whoever drives the engine leaves none behind.
        if (isUnflushed && !isPortFull) {
            more &= flush();
        }
        return more;
    }

    private boolean transmit() {
        while (management.pollTransmit(outgoing)) {
            if (!send(null)) {
                return false;
            }
        }
        int budget = SEND_BUDGET;
        while (budget > 0) {
            EngineQueuePair queuePair = active.poll();
            if (queuePair == null) {
                return false;
            }
            int sent = transmit(queuePair, Math.min(BURST, budget));
            budget -= sent;
            if (isPortFull) {
                return false;
            }
        }
        return !active.isEmpty();
    }

    /** Sends a burst of one queue pair, which stays active if it may have more. */
    private int transmit(EngineQueuePair queuePair, int burst) {
        protectOwner();
        int sent = 0;
        boolean hasMore = !queuePair.isDetached;
        while (hasMore && sent < burst && !isPortFull) {
            hasMore = pollTransmit(queuePair);
            if (hasMore) {
                sent += outgoing.span();
                send(queuePair);
            }
        }
        queuePair.isActive = false;
        if (!queuePair.isDetached) {
            if (hasMore) {
                queuePair.isActive = true;
                active.add(queuePair);
            }
            settle(queuePair);
        }
        return sent;
    }

    private boolean pollTransmit(EngineQueuePair queuePair) {
        try {
            return queuePair.protocol().pollTransmit(outgoing, nowNs);
        } catch (RuntimeException | InternalError defect) {
            contain(queuePair, defect);
            return false;
        }
    }

    /** Our own defect in one queue pair must not harm the others: it fails alone, and says so. */
    void contain(EngineQueuePair queuePair, Throwable defect) {
        LOG.log(System.Logger.Level.ERROR,
                String.format("queue pair 0x%06x failed by a defect in its protocol",
                        queuePair.number()),
                defect);
        queuePair.fail(nowNs);
    }

    /** A defect in the connection manager, or in who hears from it, must not harm the queue pairs. */
    static void contain(Throwable defect) {
        LOG.log(System.Logger.Level.ERROR, "the connection manager failed to handle a message",
                defect);
    }

    /** Sends the outgoing packet. {@return whether another may follow at once} */
    private boolean send(@Nullable EngineQueuePair queuePair) {
        PacketPort port = network.port(outgoing.path().source());
        boolean staysHere = isOwn(outgoing.path());
        int packets = outgoing.span();
        int length = staysHere ? outgoing.totalLength() : packets * outgoing.packetLength();
        PacketPort.Sent result = port == null ? PacketPort.Sent.REFUSED
                : send(port, staysHere, queuePair);
        switch (result) {
            case SENT, KEPT, UNREACHABLE -> {
                count(queuePair, Counter.SENT_PKTS, packets);
                count(queuePair, Counter.SENT_BYTES, length);
            }
            case REFUSED -> count(queuePair, Counter.SEND_ERR, packets);
            case PAYLOAD_GONE -> onPayloadGone(queuePair);
        }
        isPortFull |= result == PacketPort.Sent.KEPT;
        if (result == PacketPort.Sent.UNREACHABLE) {
            onUnreachable();
        }
        return !isPortFull;
    }

    /** Nobody has the port that a message of the connection manager went to. */
    private void onUnreachable() {
        try {
            management.onUnreachable(nowNs);
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
    }

    private PacketPort.Sent send(PacketPort port, boolean staysHere,
            @Nullable EngineQueuePair queuePair) {
        try {
            if (staysHere) {
                return reception.onOwn(outgoing)
                        ? PacketPort.Sent.SENT
                        : PacketPort.Sent.PAYLOAD_GONE;
            }
            isUnflushed = true;
            // What this device itself holds is there; the others are asked for.
            boolean asks = queuePair == null && management.isAsking()
                    && network.port(outgoing.path().destination()) == null;
            return asks ? port.sendAsking(outgoing) : port.send(outgoing);
        } catch (RuntimeException | InternalError defect) {
            if (queuePair == null) {
                contain(defect);
            } else {
                contain(queuePair, defect);
            }
            return PacketPort.Sent.REFUSED;
        }
    }

    /** What the connection manager sends lies in memory of its own. */
    private void onPayloadGone(@Nullable EngineQueuePair queuePair) {
        if (queuePair == null) {
            return;
        }
        try {
            queuePair.protocol().onPayloadGone();
        } catch (RuntimeException | InternalError defect) {
            contain(queuePair, defect);
        }
    }

    /** {@return how many packets of a message may go as one: on a path back to this device many} */
    int maxSegments(Path path) {
        return isOwn(path) ? MAX_OWN_SEGMENTS : 1;
    }

    /** {@return how many middle packets of a message may go as one on a path that leads to a network} */
    int maxMiddleSegments(Path path) {
        PacketPort port = network.port(path.source());
        return port == null ? 1 : port.maxMiddleSegments();
    }

    /** {@return what queue pairs have learnt of the round trips to the end of a path} */
    RoundTripEstimate roundTrips(Path path) {
        return peers.roundTrips(path.destination());
    }

    /** {@return whether a path leads back to this device, and the network need not be bothered} */
    private boolean isOwn(Path path) {
        Gid destination = path.destination();
        return skipsNetwork && !destination.isMulticast() && network.port(destination) != null;
    }

    private boolean flush() {
        boolean isFlushed = true;
        List<PacketPort> ports = network.ports();
        for (int i = 0; i < ports.size(); i++) {
            isFlushed &= ports.get(i).flush();
            counters.add(Counter.SEND_ERR, ports.get(i).takeRefused());
        }
        isUnflushed = !isFlushed;
        isPortFull = !isFlushed;
        return isFlushed;
    }

    private void count(@Nullable EngineQueuePair queuePair, Counter counter, long amount) {
        if (queuePair == null) {
            counters.add(counter, amount);
        } else {
            queuePair.count(counter, amount);
        }
    }

    /** {@return when a round is due although nothing arrives, {@link Long#MAX_VALUE} for never} */
    public long deadlineNs() {
        long earliest = Math.min(network.nextDueNs(),
                Math.min(deadlines.earliestNs(), management.deadlineNs()));
        for (int i = 0; i < moderated.size(); i++) {
            earliest = Math.min(earliest, moderated.get(i).notificationDueNs());
        }
        // A full socket says nothing when it has room again: look soon.
        return isPortFull ? Math.min(earliest, nowNs + 1_000_000) : earliest;
    }
}
