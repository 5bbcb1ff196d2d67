// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.protocol.ibcm.CmMessage.Request;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceRequest;
import io.rdma4j.protocol.roce.wire.Psn;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.List;
import java.util.Queue;
import java.util.TreeSet;
import java.util.function.IntPredicate;
import java.util.function.IntSupplier;

/**
 * What the connections and look-ups of one manager send by and wait by: the numbers of their messages, the messages that the host has not
 * polled yet, and their deadlines. One caller at a time; time is an argument.
 */
final class CmSending {
    /** The number of bits of a communication identifier after the prefix. */
    static final int IDENTIFIER_BITS = 24;
    private static final int IDENTIFIER_MASK = (1 << IDENTIFIER_BITS) - 1;
    /** The maximum number of answers that wait to be sent; for others the peer has to repeat its message. */
    private static final int MAX_OUTGOING = 4096;

    private final CmSettings settings;
    private final IntSupplier random;
    private final IntPredicate isUsed;
    private final TreeSet<CmTimer> timers = new TreeSet<>(
            Comparator.comparingLong(CmTimer::deadlineNs).thenComparingLong(CmTimer::order));
    private final Queue<Outgoing> outgoing = new ArrayDeque<>();
    private IntSupplier identifiers;
    private int lastIdentifier;
    private int identifierPrefix;
    private int trafficClass;
    private @Nullable Asker asker;
    private boolean isBeginning;
    private long nextOrder;

    /** Is notified of what the system reports of packets to its destination. */
    interface Asker {
        void onUnreachable(Errno why, long nowNs);

        boolean isTowards(Gid remote);
    }

    /** @param asker null if no object needs the system's report on the destination */
    private record Outgoing(CmPeer peer, int trafficClass, long transaction, CmMessage message,
            @Nullable Asker asker) {}

    /**
     * @param random numbers that others cannot guess, for identifiers and first PSNs
     * @param isUsed whether something of the manager has an identifier
     */
    CmSending(CmSettings settings, IntSupplier random, IntPredicate isUsed) {
        this.settings = settings;
        this.random = random;
        this.isUsed = isUsed;
        lastIdentifier = random.getAsInt();
        identifiers = () -> ++lastIdentifier;
    }

    // ---------------------------------------------------------------- numbers

    /** As {@link IbConnectionManager#identifiers}. */
    void identifiers(int prefix, IntSupplier next) {
        identifierPrefix = prefix;
        identifiers = next;
    }

    CmSettings settings() {
        return settings;
    }

    int newIdentifier() {
        int identifier;
        do {
            int next = identifiers.getAsInt();
            identifier = identifierPrefix == 0 ? next
                    : (identifierPrefix << IDENTIFIER_BITS) | (next & IDENTIFIER_MASK);
        } while (identifier == 0 || isUsed.test(identifier));
        return identifier;
    }

    /** {@return a number that decides between timers of equal deadline} */
    long newOrder() {
        return nextOrder++;
    }

    int newPsn() {
        return random.getAsInt() & Psn.MASK;
    }

    long newTransaction(int localId) {
        return (long) random.getAsInt() << 32 | (localId & 0xffff_ffffL);
    }

    // ---------------------------------------------------------------- messages

    /** Sends a message of no connection. */
    void send(CmPeer peer, long transaction, CmMessage message) {
        send(peer, 0, transaction, message);
    }

    void send(CmPeer peer, int messageTrafficClass, long transaction, CmMessage message) {
        send(peer, messageTrafficClass, transaction, message, null);
    }

    void send(CmPeer peer, int messageTrafficClass, long transaction, CmMessage message,
            @Nullable Asker messageAsker) {
        if (outgoing.size() < MAX_OUTGOING) {
            outgoing.add(new Outgoing(peer, messageTrafficClass, transaction, message,
                    messageAsker));
        }
    }

    boolean hasOutgoing() {
        return !outgoing.isEmpty();
    }

    /** As {@link IbConnectionManager#pollTransmit}. */
    @Nullable
    CmPeer pollTransmit(ByteBuffer out) {
        Outgoing next = outgoing.poll();
        asker = next == null ? null : next.asker;
        isBeginning = next != null && next.asker == null
                && (next.message instanceof Request || next.message instanceof ServiceRequest);
        if (next == null) {
            return null;
        }
        CmMessage.encode(next.transaction, next.message, out);
        trafficClass = next.trafficClass;
        return next.peer;
    }

    boolean isAsking() {
        return asker != null;
    }

    boolean isBeginning() {
        return isBeginning;
    }

    int trafficClass() {
        return trafficClass;
    }

    /** As {@link IbConnectionManager#onUnreachable(long)}. */
    void onUnreachable(long nowNs) {
        Asker handler = asker;
        if (handler != null) {
            asker = null;
            handler.onUnreachable(Errno.ECONNREFUSED, nowNs);
        }
    }

    /** As {@link IbConnectionManager#onUnreachable(Gid, Errno, long)}. */
    void onUnreachable(Gid remote, Errno why, long nowNs) {
        for (CmTimer timer : List.copyOf(timers)) {
            if (timer instanceof Asker waiting && waiting.isTowards(remote)) {
                waiting.onUnreachable(why, nowNs);
            }
        }
    }

    // ---------------------------------------------------------------- deadlines

    void schedule(CmTimer timer) {
        timers.add(timer);
    }

    void unschedule(CmTimer timer) {
        timers.remove(timer);
    }

    /** {@return when the first is, {@link Long#MAX_VALUE} if there is none} */
    long deadlineNs() {
        return timers.isEmpty() ? Long.MAX_VALUE : timers.first().deadlineNs();
    }

    /** As {@link IbConnectionManager#onDeadline}. */
    boolean onDeadline(long nowNs) {
        boolean isUnanswered = false;
        while (!timers.isEmpty() && timers.first().deadlineNs() <= nowNs) {
            isUnanswered |= onDeadline(timers.removeFirst(), nowNs);
        }
        return isUnanswered;
    }

    private boolean onDeadline(CmTimer due, long nowNs) {
        boolean isDone = false;
        try {
            boolean isUnanswered = due.onDeadline(nowNs);
            isDone = true;
            return isUnanswered;
        } finally {
            if (!isDone) {
                // An Error has ended this, at the end of a stack for example: it is due again.
                timers.add(due);
            }
        }
    }
}
