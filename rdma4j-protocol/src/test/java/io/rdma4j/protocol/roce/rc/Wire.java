// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.work.SendRequest;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Predicate;

/**
 * What connections travel over, in virtual time: bytes arrive after a latency, in order, unless a test loses, repeats or
 * delays them. It also drives the ends, and writes down what they do.
 */
final class Wire {
    static final long LATENCY_NS = 20_000;
    private static final long SECOND = 1_000_000_000L;
    private static final long LONG_NS = 600 * SECOND;
    private static final int TIME_WIDTH = 6;
    private static final int MOST_ROUNDS = 10_000_000;

    /** How long a packet takes. */
    long latencyNs = LATENCY_NS;
    /** How long the link to each device is busy with a packet; 0 for as fast as you like. */
    long linkNs;
    /** How many packets wait for a link; those beyond are lost. */
    int linkQueue = Integer.MAX_VALUE;

    private final List<RcEnd> ends = new ArrayList<>();
    private final PriorityQueue<Flight> flights = new PriorityQueue<>();
    private final Map<String, Long> linkFreeNs = new HashMap<>();
    private final StringBuilder trace = new StringBuilder();
    private long nowNs;
    private long sequence;
    private int packets;
    private int lostAtLink;

    private Predicate<PacketView> lossRule = Wire::isNever;
    private Predicate<PacketView> repetitionRule = Wire::isNever;
    private Predicate<PacketView> delayRule = Wire::isNever;
    private long delayNs;
    private Watcher watcher = new Watcher() {
    };

    private record Flight(long atNs, long sequence, RcEnd to,
            byte[] bytes) implements Comparable<Flight> {
        @Override
        public int compareTo(Flight other) {
            int byTime = Long.compare(atNs, other.atNs);
            return byTime != 0 ? byTime : Long.compare(sequence, other.sequence);
        }
    }

    /** Sees every packet. */
    interface Watcher {
        /** It leaves, perhaps to be lost. */
        default void onSent(RcEnd from, PacketView packet) {}

        /** It has arrived, and the queue pair has seen it. */
        default void onReceived(RcEnd to, PacketView packet) {}

        /** A send request has ended. */
        default void onCompleted(RcEnd by, SendRequest request) {}
    }

    // ---------------------------------------------------------------- what happens to packets

    private static boolean isNever(PacketView packet) {
        return false;
    }

    /** Loses just the packets that a rule says, asked once for each. */
    void loseIf(Predicate<PacketView> rule) {
        lossRule = rule;
    }

    /** Loses the first packet that is such, and no other. */
    void loseFirst(Predicate<PacketView> rule) {
        loseIf(first(rule));
    }

    void loseNothing() {
        loseIf(Wire::isNever);
    }

    /** Delivers twice the packets that a rule says. */
    void repeatIf(Predicate<PacketView> rule) {
        repetitionRule = rule;
    }

    /** Delivers later, perhaps behind others, the packets that a rule says. */
    void delayIf(long byNs, Predicate<PacketView> rule) {
        delayNs = byNs;
        delayRule = rule;
    }

    void watch(Watcher newWatcher) {
        watcher = newWatcher;
    }

    /** {@return a rule that holds for the first packet it fits only} */
    static Predicate<PacketView> first(Predicate<PacketView> rule) {
        boolean[] hasHeld = new boolean[1];
        return packet -> {
            boolean holds = !hasHeld[0] && rule.test(packet);
            hasHeld[0] |= holds;
            return holds;
        };
    }

    /**
     * An end sends a packet, or what a test has made up for it.
     *
     * @return false if the memory of its payload is gone
     */
    boolean send(RcEnd from, OutgoingPacket packet) {
        List<byte[]> datagrams = new ArrayList<>();
        for (int i = 0; i < packet.span(); i++) {
            byte[] bytes = new byte[packet.packetLength()];
            if (packet.copyTo(i, MemorySegment.ofArray(bytes), 0) == OutgoingPacket.PAYLOAD_GONE) {
                return false;
            }
            datagrams.add(bytes);
        }
        datagrams.forEach(bytes -> carry(from, bytes));
        return true;
    }

    private void carry(RcEnd from, byte[] bytes) {
        packets++;
        PacketView packet = view(bytes);
        watcher.onSent(from, packet);
        boolean isLost = lossRule.test(packet);
        boolean isRepeated = repetitionRule.test(packet);
        boolean isLate = delayRule.test(packet);
        String fate = (isLost ? " LOST" : "") + (isRepeated ? " TWICE" : "")
                + (isLate ? " LATE" : "");
        note(from.device() + ">" + from.peer().device() + " " + PacketText.of(packet) + fate);
        for (int copies = isLost ? 0 : isRepeated ? 2 : 1; copies > 0; copies--) {
            fly(from.peer(), bytes, latencyNs + (isLate ? delayNs : 0));
        }
    }

    private void fly(RcEnd to, byte[] bytes, long afterNs) {
        long busyNs = 0;
        if (linkNs > 0) {
            long freeNs = Math.max(nowNs, linkFreeNs.getOrDefault(to.device(), 0L));
            if ((freeNs - nowNs) / linkNs >= linkQueue) {
                lostAtLink++;
                return;
            }
            linkFreeNs.put(to.device(), freeNs + linkNs);
            busyNs = freeNs + linkNs - nowNs;
        }
        flights.add(new Flight(nowNs + afterNs + busyNs, sequence++, to, bytes));
    }

    static PacketView view(byte[] bytes) {
        PacketView packet = new PacketView();
        if (packet.wrap(MemorySegment.ofArray(bytes), 0, bytes.length) != null) {
            throw new AssertionError("not a packet");
        }
        return packet;
    }

    /** A packet arrives that neither side has sent, and is processed together with the next. */
    void arrive(RcEnd to, OutgoingPacket packet) {
        byte[] bytes = new byte[packet.totalLength()];
        packet.copyTo(MemorySegment.ofArray(bytes), 0);
        to.arrive(bytes);
    }

    /** A packet arrives that neither side has sent. */
    void deliver(RcEnd to, OutgoingPacket packet) {
        arrive(to, packet);
        to.work();
    }

    void onReceived(RcEnd to, PacketView packet) {
        watcher.onReceived(to, packet);
    }

    void onCompleted(RcEnd by, SendRequest request) {
        watcher.onCompleted(by, request);
    }

    // ---------------------------------------------------------------- time

    void attach(RcEnd end) {
        ends.add(end);
    }

    long nowNs() {
        return nowNs;
    }

    /** Lets the ends work for a time. */
    void run(long durationNs) {
        long limitNs = nowNs + durationNs;
        workUntil(limitNs);
        nowNs = limitNs;
    }

    /** Lets the ends work until nothing is left to do, which takes ten minutes at most. */
    void settle() {
        workUntil(nowNs + LONG_NS);
        if (nextNs() != Long.MAX_VALUE) {
            throw new AssertionError("not at rest after ten minutes:\n" + endOfTrace());
        }
    }

    private void workUntil(long limitNs) {
        for (int round = 0; round < MOST_ROUNDS; round++) {
            work();
            long next = nextNs();
            if (next > limitNs) {
                return;
            }
            advanceTo(next);
        }
        throw new AssertionError("the ends never rest:\n" + endOfTrace());
    }

    /** Lets the ends work, and time pass until something can happen. */
    void step() {
        work();
        long next = nextNs();
        if (next != Long.MAX_VALUE) {
            advanceTo(next);
        }
    }

    private void work() {
        for (int i = 0; i < ends.size(); i++) {
            ends.get(i).work();
        }
    }

    private long nextNs() {
        Flight flight = flights.peek();
        long next = flight == null ? Long.MAX_VALUE : flight.atNs;
        for (RcEnd end : ends) {
            next = Math.min(next, end.wantsWorkAtNs());
        }
        return next;
    }

    private void advanceTo(long timeNs) {
        nowNs = Math.max(nowNs, timeNs);
        while (!flights.isEmpty() && flights.peek().atNs <= nowNs) {
            Flight arrived = flights.remove();
            arrived.to.arrive(arrived.bytes);
        }
    }

    // ---------------------------------------------------------------- what was seen

    /** {@return how many packets were sent} */
    int packets() {
        return packets;
    }

    /** {@return how many were lost because the queue of a link was full} */
    int lostAtLink() {
        return lostAtLink;
    }

    /** Something happens that is no packet. */
    void note(String event) {
        String us = Long.toString(nowNs / 1000);
        trace.repeat(' ', Math.max(0, TIME_WIDTH - us.length())).append(us).append(' ')
                .append(event).append('\n');
    }

    /** {@return what was sent and completed since the last call, each after its time in microseconds} */
    String takeTrace() {
        String seen = trace.toString();
        trace.setLength(0);
        return seen;
    }

    /** {@return the last of what {@link #takeTrace} would return} */
    String endOfTrace() {
        return trace.substring(Math.max(0, trace.length() - 3000));
    }
}
