package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.cm.ConnectionManager;
import io.rdma4j.protocol.wire.DropReason;
import io.rdma4j.protocol.wire.Opcode;
import io.rdma4j.protocol.wire.OutgoingPacket;
import io.rdma4j.protocol.wire.PacketView;
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
public final class Engine implements PacketHandler {
    private static final System.Logger LOG = System.getLogger(Engine.class.getName());
    private static final int RECEIVE_BUDGET = 64;
    private static final int SEND_BUDGET = 256;
    private static final int BURST = 16;
    private static final int FULL_MEMBER = 0x8000;

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
    private boolean isPortFull;
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

    /** {@return the rim} */
    public Rim rim() {
        return rim;
    }

    // ---------------------------------------------------------------- queue pairs

    /** {@return a number for a new queue pair} Numbers below 16 are for management, as in Linux. */
    public int newQueuePairNumber() {
        return queuePairs.newId(16);
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

    /** A queue pair's protocol was called: it may have packets to send and another deadline. */
    public void touched(EngineQueuePair queuePair) {
        if (queuePair.isDetached) {
            return;
        }
        queuePair.settle(nowNs);
        deadlines.update(queuePair, queuePair.protocol().deadlineNs());
        if (!queuePair.isActive) {
            queuePair.isActive = true;
            active.add(queuePair);
        }
        while (!overrun.isEmpty()) {
            onOverrun.accept(overrun.removeLast());
        }
    }

    /** Says what time it is. */
    void setTime(long newNowNs) {
        nowNs = newNowNs;
    }

    /** {@return the time of the round or task under way} */
    long timeNs() {
        return nowNs;
    }

    void onOverrun(CompletionRing ring) {
        if (!overrun.contains(ring)) {
            overrun.add(ring);
        }
    }

    /** Requests were posted to a queue pair. */
    void onBells(EngineQueuePair queuePair, long newNowNs) {
        nowNs = newNowNs;
        int bells = queuePair.takeBells();
        if (queuePair.isDetached) {
            return;
        }
        if ((bells & EngineQueuePair.SEND_BELL) != 0) {
            queuePair.protocol().onSendPosted(newNowNs);
        }
        if ((bells & EngineQueuePair.RECEIVE_BELL) != 0) {
            queuePair.protocol().onReceivePosted(newNowNs);
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
            more |= ports.get(i).receive(this, RECEIVE_BUDGET) == RECEIVE_BUDGET;
        }
        for (EngineQueuePair due = deadlines.due(newNowNs); due != null; due = deadlines
                .due(newNowNs)) {
            try {
                due.protocol().onDeadline(newNowNs);
            } catch (RuntimeException defect) {
                contain(due, defect);
            }
            touched(due);
        }
        management.onTime(newNowNs);
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
            deadlines.update(queuePair, queuePair.protocol().deadlineNs());
            if (hasMore) {
                queuePair.isActive = true;
                active.add(queuePair);
            }
        }
        return sent;
    }

    private boolean pollTransmit(EngineQueuePair queuePair) {
        try {
            return queuePair.protocol().pollTransmit(outgoing, nowNs);
        } catch (RuntimeException defect) {
            contain(queuePair, defect);
            return false;
        }
    }

    /** Our own defect in one queue pair must not harm the others: it fails alone, and says so. */
    private void contain(EngineQueuePair queuePair, RuntimeException defect) {
        LOG.log(System.Logger.Level.ERROR,
                "queue pair " + queuePair.number() + " failed by a defect in its protocol", defect);
        queuePair.fail(nowNs);
    }

    /** Sends the outgoing packet. {@return whether another may follow at once} */
    private boolean send(@Nullable EngineQueuePair queuePair) {
        int length = outgoing.totalLength();
        PacketPort port = rim.port(outgoing.path().source());
        PacketPort.Sent result = port == null ? PacketPort.Sent.REFUSED : port.send(outgoing);
        switch (result) {
            case SENT, KEPT -> {
                count(queuePair, Counter.SENT_PKTS, 1);
                count(queuePair, Counter.SENT_BYTES, length);
            }
            case REFUSED -> count(queuePair, Counter.SEND_ERR, 1);
        }
        isPortFull |= result == PacketPort.Sent.KEPT;
        return !isPortFull;
    }

    private boolean flush() {
        boolean isFlushed = true;
        List<PacketPort> ports = rim.ports();
        for (int i = 0; i < ports.size(); i++) {
            isFlushed &= ports.get(i).flush();
        }
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
        long earliest = Math.min(deadlines.earliestNs(), management.deadlineNs());
        // A full socket says nothing when it has room again: look soon.
        return isPortFull ? Math.min(earliest, nowNs + 1_000_000) : earliest;
    }

    // ---------------------------------------------------------------- what arrives

    @Override
    public void onDatagram(ReceivedDatagram datagram) {
        Gid local = datagram.local();
        Gid source = datagram.source();
        int length = datagram.length();
        DropReason reason = packet.wrap(datagram.memory(), datagram.offset(), length);
        if (reason != null) {
            counters.add(Counter.DROPPED_MALFORMED, 1);
            return;
        }
        // Full and limited members of the default partition understand each other. IBTA 10.9.3.
        if ((packet.pkey() | FULL_MEMBER) != OutgoingPacket.DEFAULT_PKEY) {
            counters.add(Counter.DROPPED_BAD_PKEY, 1);
            return;
        }
        if (packet.destinationQueuePair() == ConnectionManager.QUEUE_PAIR) {
            countReceived(null, length);
            Counter drop = management.onPacket(packet, local, source, nowNs);
            if (drop != null) {
                counters.add(drop, 1);
            }
            return;
        }
        EngineQueuePair queuePair = queuePairs.find(packet.destinationQueuePair());
        if (queuePair == null || queuePair.service() != packet.opcode().service()) {
            counters.add(Counter.DROPPED_UNKNOWN_QP, 1);
            return;
        }
        if (!queuePair.isFrom(local, source)) {
            queuePair.count(Counter.DROPPED_WRONG_SOURCE);
            return;
        }
        countReceived(queuePair, length);
        try {
            queuePair.protocol().onPacket(packet, nowNs);
        } catch (RuntimeException defect) {
            contain(queuePair, defect);
        }
        touched(queuePair);
    }

    private void countReceived(@Nullable EngineQueuePair queuePair, int length) {
        count(queuePair, Counter.RCVD_PKTS, 1);
        count(queuePair, Counter.RCVD_BYTES, length);
    }

    @Override
    public void onDamaged(int length) {
        counters.add(length < Opcode.BTH_LENGTH + PacketView.ICRC_LENGTH
                ? Counter.DROPPED_MALFORMED
                : Counter.DROPPED_BAD_ICRC, 1);
    }
}
