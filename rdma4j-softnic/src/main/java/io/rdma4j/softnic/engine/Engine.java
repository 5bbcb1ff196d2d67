// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.spi.IdTable;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.IntSupplier;

/**
 * Runs a device's queue pairs: decides which one sends next, whose deadline has come, and what completes. Only the owner may
 * call its methods; {@link EngineDriver} decides which thread that is.
 *
 * <p>Work is bounded: a round receives a limited number of packets from the {@link Link}, runs due timers, and sends a limited
 * number of packets, in bursts of one queue pair after the other.
 */
public final class Engine {
    private static final System.Logger LOG = System.getLogger(Engine.class.getName());
    private static final int SEND_BUDGET = 256;
    private static final int BURST = 16;

    private final IdTable<EngineQueuePair> queuePairs;
    private final QueuePairNumbers numbers;
    private final DeadlineHeap deadlines = new DeadlineHeap();
    /** Those that may have something to send, linked by themselves. */
    private @Nullable EngineQueuePair firstActive;
    private @Nullable EngineQueuePair lastActive;
    private final DeviceCounters counters;
    private final List<CompletionRing> overrun = new ArrayList<>();
    private boolean hasOverrun;
    private final List<CompletionRing> moderated = new ArrayList<>();
    private final Link link;
    private boolean sendsInTurns;
    /** How many messages for the application the last look has brought. */
    private int delivered;
    private long nowNs;
    /** The interrupt status of the owner; null until it accesses memory of applications. */
    private @Nullable InterruptStatus ownerStatus;
    /** Of the thread that was the owner last; to look it up again takes longer. */
    private @Nullable InterruptStatus lastStatus;

    /**
     * With all queue pair numbers.
     *
     * @param random numbers that others cannot guess
     * @param link the transport of its queue pairs; the constructor does not use it
     */
    public Engine(IntSupplier random, Link link) {
        this(random, QueuePairNumbers.all(random), link);
    }

    /**
     * As above, with other queue pair numbers.
     *
     * @param numbers where they come from; several engines may share them
     */
    public Engine(IntSupplier random, QueuePairNumbers numbers, Link link) {
        queuePairs = new IdTable<>(random);
        counters = new DeviceCounters(queuePairs);
        this.numbers = numbers;
        this.link = link;
    }

    /** {@return the device's counters} */
    public DeviceCounters counters() {
        return counters;
    }

    /** Counts something that happened to the device as a whole. */
    public void count(Counter counter) {
        counters.add(counter, 1);
    }

    Link link() {
        return link;
    }

    // ---------------------------------------------------------------- queue pairs

    /** {@return a number for a new queue pair} */
    public int newQueuePairNumber() {
        int number;
        do {
            number = numbers.next();
        } while (QueuePairNumbers.isReserved(number) || queuePairs.find(number) != null);
        return number;
    }

    /** Adds a queue pair. */
    public void attach(EngineQueuePair queuePair) {
        queuePairs.put(queuePair.number(), queuePair);
        numbers.taken();
    }

    /** Removes a queue pair; packets that arrive for it are dropped. */
    public void detach(EngineQueuePair queuePair) {
        queuePair.isDetached = true;
        counters.remove(queuePair);
        numbers.returned();
        deadlines.forget(queuePair);
        queuePair.onDetached();
    }

    /** {@return the queue pair of a number, null if there is none} */
    public @Nullable EngineQueuePair find(int number) {
        return queuePairs.find(number);
    }

    /** {@return all queue pairs} */
    public List<EngineQueuePair> queuePairs() {
        List<EngineQueuePair> all = new ArrayList<>(queuePairs.size());
        queuePairs.forEach(all::add);
        return all;
    }

    /** Must be called after a call of a queue pair's protocol: it may have something to send, or another deadline. */
    public void touched(EngineQueuePair queuePair) {
        if (queuePair.isDetached) {
            return;
        }
        // First: if an Error ends this, at the end of a stack for example, the next round settles what is left.
        activate(queuePair);
        settle(queuePair);
    }

    private void activate(EngineQueuePair queuePair) {
        if (!queuePair.isActive) {
            enlist(queuePair);
        }
    }

    private void enlist(EngineQueuePair queuePair) {
        queuePair.isActive = true;
        queuePair.isListed = true;
        EngineQueuePair last = lastActive;
        if (last == null) {
            firstActive = queuePair;
        } else {
            last.nextActive = queuePair;
        }
        lastActive = queuePair;
    }

    /** Handles the changes by a call of a queue pair's protocol, except for packets to send. */
    private void settle(EngineQueuePair queuePair) {
        queuePair.isUnsettled = false;
        try {
            queuePair.settle(nowNs);
        } catch (RuntimeException | InternalError defect) {
            contain(queuePair, defect);
        }
        deadlines.update(queuePair, queuePair.protocol().deadlineNs());
        reportOverruns();
    }

    private void reportOverruns() {
        while (hasOverrun) {
            CompletionRing first = overrun.removeLast();
            hasOverrun = !overrun.isEmpty();
            first.reportOverrun();
        }
    }

    /** A completion queue is closed: it gets no more notifications. */
    public void forget(CompletionRing ring) {
        moderated.remove(ring);
        overrun.remove(ring);
        hasOverrun = !overrun.isEmpty();
    }

    /** A completion queue has put a notification off. */
    public void onModerated(CompletionRing ring) {
        if (!moderated.contains(ring)) {
            moderated.add(ring);
        }
    }

    void onOverrun(CompletionRing ring) {
        if (!overrun.contains(ring)) {
            overrun.add(ring);
            hasOverrun = true;
        }
    }

    /** Sets the time. */
    void setTime(long newNowNs) {
        nowNs = newNowNs;
    }

    /** {@return the time of the round or task under way} */
    public long timeNs() {
        return nowNs;
    }

    /** Requests were posted to a queue pair. */
    void onDoorbells(EngineQueuePair queuePair, long newNowNs) {
        onPosted(queuePair, queuePair.takeDoorbells(), newNowNs);
        settlePosted(queuePair);
    }

    /** What the call of the protocol by {@link #onPosted} has changed, if no transmission has settled it. */
    void settlePosted(EngineQueuePair queuePair) {
        if (queuePair.isUnsettled && !queuePair.isDetached) {
            settle(queuePair);
        }
    }

    /** As {@link #onDoorbells}, with the doorbells that would ring. After a transmission {@link #settlePosted} has to follow. */
    void onPosted(EngineQueuePair queuePair, int rung, long newNowNs) {
        nowNs = newNowNs;
        if (queuePair.isDetached) {
            return;
        }
        try {
            if ((rung & EngineQueuePair.SEND_DOORBELL) != 0) {
                queuePair.protocol().onSendPosted(newNowNs);
            }
            if ((rung & EngineQueuePair.RECEIVE_DOORBELL) != 0) {
                queuePair.protocol().onReceivePosted(newNowNs);
            }
        } catch (RuntimeException | InternalError defect) {
            contain(queuePair, defect);
        }
        if (!queuePair.isDetached) {
            queuePair.isUnsettled = true;
            activate(queuePair);
        }
    }

    /** A defect of this library in one queue pair must not harm the others: only that queue pair fails, with a log entry. */
    public void contain(EngineQueuePair queuePair, Throwable defect) {
        report(String.format("queue pair 0x%06x failed by a defect in its protocol",
                queuePair.number()), defect);
        queuePair.fail(nowNs);
    }

    /** Logs what failed by a defect of this library. */
    public static void report(String what, Throwable defect) {
        EngineLog.log(LOG, System.Logger.Level.ERROR, () -> what, defect);
    }

    // ---------------------------------------------------------------- memory of applications

    /** The owner is going to access it. */
    public void protectOwner() {
        if (ownerStatus != null) {
            return;
        }
        Thread owner = Thread.currentThread();
        InterruptStatus status = lastStatus;
        if (status == null || !status.isOf(owner)) {
            if (owner.isVirtual()) {
                return;
            }
            status = InterruptStatus.ofCurrentThread();
            lastStatus = status;
        }
        status.protect();
        ownerStatus = status;
    }

    /** Restores the owner's interrupt status, before it releases the engine or does other work. */
    void restoreOwner() {
        InterruptStatus status = ownerStatus;
        if (status != null) {
            ownerStatus = null;
            status.restore();
        }
    }

    // ---------------------------------------------------------------- rounds

    /**
     * Receives, and runs due timers. Packets to send wait for {@link #transmit}.
     *
     * @param isOften as in {@link Link#receive}
     * @return whether there is more to receive at once
     */
    boolean receive(long newNowNs, boolean isOften) {
        nowNs = newNowNs;
        delivered = 0;
        boolean more = link.receive(newNowNs, isOften);
        for (EngineQueuePair due = deadlines.due(newNowNs); due != null; due = deadlines
                .due(newNowNs)) {
            try {
                due.protocol().onDeadline(newNowNs);
            } catch (RuntimeException | InternalError defect) {
                contain(due, defect);
            }
            touched(due);
        }
        link.onTime(newNowNs);
        for (int i = moderated.size() - 1; i >= 0; i--) {
            if (moderated.get(i).notifyIfDue(newNowNs)) {
                moderated.remove(i);
            }
        }
        return more;
    }

    /** {@return whether {@link #receive} found anything last time} */
    boolean hasReceived() {
        return link.hasReceived();
    }

    /** {@return whether a queue pair may have something to send, as after all that it is told} */
    boolean mayTransmit() {
        return firstActive != null;
    }

    /** {@return whether no other queue pair may have something to send} */
    boolean isAlone(EngineQueuePair queuePair) {
        EngineQueuePair first = firstActive;
        return first == null || (first.equals(queuePair) && queuePair.equals(lastActive));
    }

    /** {@return whether a message for the application was among it} */
    boolean hasDelivered() {
        return delivered > 0;
    }

    /** {@return how many messages for the application were among it} */
    int delivered() {
        return delivered;
    }

    /** A message for the application arrived. */
    void onDelivered() {
        delivered++;
    }

    /**
     * Sends what is ready: bursts of one queue pair after the other, which stays active if it may have more, or if an Error ends
     * this. One long method on purpose, which compilers do not inline: all that sends is compiled with it, once (ADR 56).
     *
     * @param isInTurns the queue pairs send one packet each and then the next: what is alike, such as acknowledgements, lies together
     * @return whether there is more to send at once
     */
    boolean transmit(long newNowNs, boolean isInTurns) {
        nowNs = newNowNs;
        sendsInTurns = isInTurns;
        if (!link.beginTransmit(newNowNs)) {
            return false;
        }
        int budget = SEND_BUDGET;
        boolean isFull = false;
        while (budget > 0 && !isFull) {
            EngineQueuePair queuePair = firstActive;
            if (queuePair == null) {
                link.endTransmit();
                return false;
            }
            firstActive = queuePair.nextActive;
            if (firstActive == null) {
                lastActive = null;
            }
            queuePair.nextActive = null;
            queuePair.isListed = false;
            int most = isInTurns ? 1 : BURST;
            int burst = budget < most ? budget : most;
            boolean isDone = false;
            try {
                int sent = 0;
                if (!queuePair.isDetached) {
                    try {
                        sent = queuePair.transmit(burst);
                    } catch (RuntimeException | InternalError defect) {
                        contain(queuePair, defect);
                    }
                }
                budget -= sent;
                isFull = link.isFull();
                queuePair.isActive = false;
                if (!queuePair.isDetached) {
                    if (sent >= burst || isFull) {
                        enlist(queuePair);
                    }
                    queuePair.isUnsettled = false;
                    try {
                        queuePair.settle(newNowNs);
                    } catch (RuntimeException | InternalError defect) {
                        contain(queuePair, defect);
                    }
                    deadlines.update(queuePair, queuePair.protocol().deadlineNs());
                    if (hasOverrun) {
                        reportOverruns();
                    }
                }
                isDone = true;
            } finally {
                if (!isDone && !queuePair.isListed) {
                    enlist(queuePair);
                }
            }
        }
        return link.endTransmit() && !isFull && firstActive != null;
    }

    /** {@return whether the transmission under way has the queue pairs send one packet each in turns} */
    public boolean sendsInTurns() {
        return sendsInTurns;
    }

    /** {@return when the next round is due if nothing arrives, {@link Long#MAX_VALUE} for never} */
    public long deadlineNs() {
        long earliest = Math.min(link.deadlineNs(), deadlines.earliestNs());
        for (int i = 0; i < moderated.size(); i++) {
            earliest = Math.min(earliest, moderated.get(i).notificationDueNs());
        }
        return earliest;
    }
}
