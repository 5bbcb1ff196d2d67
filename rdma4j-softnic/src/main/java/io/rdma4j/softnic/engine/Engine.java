package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.cm.ConnectionManager;
import io.rdma4j.protocol.wire.DropReason;
import io.rdma4j.protocol.wire.Opcode;
import io.rdma4j.protocol.wire.OutgoingPacket;
import io.rdma4j.protocol.wire.PacketView;
import io.rdma4j.softnic.jfr.FlightEvents;
import io.rdma4j.softnic.memory.IdTable;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.softnic.rim.PacketHandler;
import io.rdma4j.softnic.rim.PacketPort;
import io.rdma4j.softnic.rim.ReceivedDatagram;
import io.rdma4j.softnic.rim.Rim;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
public final class Engine implements PacketHandler {
    private static final System.Logger LOG = System.getLogger(Engine.class.getName());
    private static final int RECEIVE_BUDGET = 64;
    private static final int SEND_BUDGET = 256;
    private static final int BURST = 16;
    private static final int FULL_MEMBER = 0x8000;
    /** Where datagrams to a group go. Source: IBTA 9.2. */
    private static final int MULTICAST_QUEUE_PAIR = 0xff_ffff;

    private final Rim rim;
    private final IdTable<EngineQueuePair> queuePairs;
    private final ManagementPort management;
    private final Consumer<CompletionRing> onOverrun;
    private final DeadlineHeap deadlines = new DeadlineHeap();
    private final Queue<EngineQueuePair> active = new ArrayDeque<>();
    private final Counters counters = new Counters();
    private final PacketView packet = new PacketView();
    private final OutgoingPacket outgoing;
    private final List<CompletionRing> overrun = new ArrayList<>();
    private final List<CompletionRing> moderated = new ArrayList<>();
    private final Map<Gid, List<MulticastMember>> groups = new HashMap<>();
    private boolean isPortFull;
    private boolean isUnflushed;
    private Gid packetSource = Gid.ZERO;
    private long nowNs;

    /**
     * @param random numbers that others cannot guess, for queue pair numbers
     * @param onOverrun called after a completion queue has overrun, to fail its queue pairs
     */
    public Engine(Rim rim, ConnectionManager connectionManager, IntSupplier random,
            Consumer<CompletionRing> onOverrun) {
        this.rim = rim;
        this.onOverrun = onOverrun;
        queuePairs = new IdTable<>(random);
        Arena arena = Arena.ofAuto();
        management = new ManagementPort(connectionManager, arena);
        outgoing = new OutgoingPacket(arena.allocate(Opcode.MAX_HEADER_LENGTH, 64));
    }

    /** {@return the device's counters} */
    public Counters counters() {
        return counters;
    }

    /** Counts something that happened to the device as a whole. */
    public void count(Counter counter) {
        counters.add(counter, 1);
    }

    /** {@return the rim} */
    public Rim rim() {
        return rim;
    }

    private record MulticastMember(EngineQueuePair queuePair, boolean isDeafToItself) {}

    // ---------------------------------------------------------------- queue pairs

    /** {@return a number for a new queue pair} Numbers below 16 are for management, as in Linux. */
    public int newQueuePairNumber() {
        int number;
        do {
            number = queuePairs.newId(16);
        } while (number == MULTICAST_QUEUE_PAIR);
        return number;
    }

    /** {@return how many queue pairs there are} */
    public int queuePairCount() {
        return queuePairs.size();
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

    /**
     * Makes a queue pair a member of a multicast group.
     *
     * @param isDeafToItself whether its own datagrams are kept from it
     * @return whether the group had no member before
     */
    public boolean join(Gid group, EngineQueuePair queuePair, boolean isDeafToItself) {
        List<MulticastMember> members = groups.computeIfAbsent(group, g -> new ArrayList<>());
        members.add(new MulticastMember(queuePair, isDeafToItself));
        return members.size() == 1;
    }

    /** Ends a membership. {@return whether the group has no member left} */
    public boolean leave(Gid group, EngineQueuePair queuePair) {
        List<MulticastMember> members = groups.get(group);
        if (members == null) {
            return false;
        }
        members.removeIf(member -> member.queuePair.equals(queuePair));
        if (members.isEmpty()) {
            groups.remove(group);
            return true;
        }
        return false;
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
        return packetSource;
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
    void onBells(EngineQueuePair queuePair, long newNowNs) {
        nowNs = newNowNs;
        int bells = queuePair.takeBells();
        if (queuePair.isDetached) {
            return;
        }
        try {
            if ((bells & EngineQueuePair.SEND_BELL) != 0) {
                queuePair.protocol().onSendPosted(newNowNs);
            }
            if ((bells & EngineQueuePair.RECEIVE_BELL) != 0) {
                queuePair.protocol().onReceivePosted(newNowNs);
            }
        } catch (RuntimeException | InternalError defect) {
            contain(queuePair, defect);
        }
        touched(queuePair);
    }

    // ---------------------------------------------------------------- rounds

    /**
     * Receives, lets due timers run, sends.
     *
     * @return whether there is more to do at once
     */
    public boolean round(long newNowNs) {
        nowNs = newNowNs;
        boolean more = false;
        List<PacketPort> ports = rim.ports();
        for (int i = 0; i < ports.size(); i++) {
            more |= ports.get(i).receive(this, RECEIVE_BUDGET) >= RECEIVE_BUDGET;
        }
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
        boolean moreToSend = transmit(newNowNs);
        return more || moreToSend;
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
        isPortFull = !rim.pollDue(newNowNs);
        if (isPortFull) {
            return false;
        }
        boolean more = transmit();
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
        int sent = 0;
        boolean hasMore = !queuePair.isDetached;
        while (hasMore && sent < burst && !isPortFull) {
            hasMore = pollTransmit(queuePair);
            if (hasMore) {
                send(queuePair);
                sent++;
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
    private void contain(EngineQueuePair queuePair, Throwable defect) {
        LOG.log(System.Logger.Level.ERROR,
                "queue pair " + queuePair.number() + " failed by a defect in its protocol", defect);
        queuePair.fail(nowNs);
    }

    /** A defect in the connection manager, or in who hears from it, must not harm the queue pairs. */
    private static void contain(Throwable defect) {
        LOG.log(System.Logger.Level.ERROR, "the connection manager failed to handle a message",
                defect);
    }

    /** Sends the outgoing packet. {@return whether another may follow at once} */
    private boolean send(@Nullable EngineQueuePair queuePair) {
        int length = outgoing.totalLength();
        PacketPort port = rim.port(outgoing.path().source());
        PacketPort.Sent result = port == null ? PacketPort.Sent.REFUSED : send(port, queuePair);
        switch (result) {
            case SENT, KEPT -> {
                count(queuePair, Counter.SENT_PKTS, 1);
                count(queuePair, Counter.SENT_BYTES, length);
            }
            case REFUSED -> count(queuePair, Counter.SEND_ERR, 1);
        }
        isPortFull |= result == PacketPort.Sent.KEPT;
        isUnflushed = true;
        return !isPortFull;
    }

    private PacketPort.Sent send(PacketPort port, @Nullable EngineQueuePair queuePair) {
        try {
            return port.send(outgoing);
        } catch (RuntimeException | InternalError defect) {
            if (queuePair == null) {
                contain(defect);
            } else {
                contain(queuePair, defect);
            }
            return PacketPort.Sent.REFUSED;
        }
    }

    private boolean flush() {
        boolean isFlushed = true;
        List<PacketPort> ports = rim.ports();
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
        long earliest = Math.min(rim.nextDueNs(),
                Math.min(deadlines.earliestNs(), management.deadlineNs()));
        for (int i = 0; i < moderated.size(); i++) {
            earliest = Math.min(earliest, moderated.get(i).notificationDueNs());
        }
        // A full socket says nothing when it has room again: look soon.
        return isPortFull ? Math.min(earliest, nowNs + 1_000_000) : earliest;
    }

    // ---------------------------------------------------------------- what arrives

    @Override
    public void onDatagram(ReceivedDatagram datagram) {
        Gid local = datagram.local();
        Gid source = datagram.source();
        packetSource = source;
        int length = datagram.length();
        DropReason reason = packet.wrap(datagram.memory(), datagram.offset(), length);
        if (reason != null) {
            drop(Counter.DROPPED_MALFORMED, source);
            return;
        }
        packet.travelled(source, local);
        // Full and limited members of the default partition understand each other. IBTA 10.9.3.
        if ((packet.pkey() | FULL_MEMBER) != OutgoingPacket.DEFAULT_PKEY) {
            drop(Counter.DROPPED_BAD_PKEY, source);
            return;
        }
        if (packet.destinationQueuePair() == ConnectionManager.QUEUE_PAIR) {
            countReceived(null, length);
            onManagement(local, source);
            return;
        }
        if (local.isMulticast()) {
            onMulticast(local, source, length);
            return;
        }
        EngineQueuePair queuePair = queuePairs.find(packet.destinationQueuePair());
        if (queuePair == null || queuePair.service() != packet.opcode().service()) {
            drop(Counter.DROPPED_UNKNOWN_QP, source);
            return;
        }
        if (!queuePair.isFrom(local, source)) {
            queuePair.count(Counter.DROPPED_WRONG_SOURCE);
            return;
        }
        deliver(queuePair, length);
    }

    private void deliver(EngineQueuePair queuePair, int length) {
        countReceived(queuePair, length);
        try {
            queuePair.protocol().onPacket(packet, nowNs);
        } catch (RuntimeException | InternalError defect) {
            contain(queuePair, defect);
        }
        touched(queuePair);
    }

    private void onManagement(Gid local, Gid source) {
        try {
            Counter drop = management.onPacket(packet, local, source, nowNs);
            if (drop != null) {
                drop(drop, source);
            }
        } catch (RuntimeException | InternalError defect) {
            contain(defect);
        }
    }

    /** A datagram for a group goes to each of its members. IBTA 10.5.2. */
    private void onMulticast(Gid group, Gid source, int length) {
        List<MulticastMember> members = groups.get(group);
        if (members == null || packet.destinationQueuePair() != MULTICAST_QUEUE_PAIR
                || packet.opcode().service() != Opcode.Service.UD) {
            drop(Counter.DROPPED_UNKNOWN_QP, source);
            return;
        }
        for (int i = 0; i < members.size(); i++) {
            MulticastMember member = members.get(i);
            boolean isOwn = member.queuePair.number() == packet.sourceQueuePair()
                    && rim.port(source) != null;
            if (!isOwn || !member.isDeafToItself) {
                deliver(member.queuePair, length);
            }
        }
    }

    /** What arrived is for nobody. */
    private void drop(Counter reason, Gid source) {
        counters.add(reason, 1);
        FlightEvents.drop(reason, source, 0);
    }

    private void countReceived(@Nullable EngineQueuePair queuePair, int length) {
        count(queuePair, Counter.RCVD_PKTS, 1);
        count(queuePair, Counter.RCVD_BYTES, length);
    }

    @Override
    public void onDamaged(Gid source, int length) {
        drop(length < Opcode.BTH_LENGTH + PacketView.ICRC_LENGTH
                ? Counter.DROPPED_MALFORMED
                : Counter.DROPPED_BAD_ICRC, source);
    }
}
