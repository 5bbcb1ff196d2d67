// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * TCP connections that have ended for the application but are still open: some have bytes that have not left yet; the others
 * wait until their peers have closed too, because the system drops bytes that have not arrived if it closes a connection and
 * the peer then sends something. Both are bounded in time and number. For the engine's owner.
 */
final class LingeringConnections {
    /** The most that have something to send; each keeps as much as is sent at once. */
    static final int MOST_UNSENT = 64;
    /** The maximum number that wait for their peers; each keeps a file descriptor. */
    static final int MOST_SENT = 256;

    /**
     * How long a peer that reads has time although there are too many: those that end in the same moment have their memory
     * anyway.
     */
    private static final long GRACE_NS = 1_000_000_000;

    private final long patienceNs;
    private final long graceNs;
    /** In the order of the times when their patience ends. */
    private final Set<StreamConnection> unsent = new LinkedHashSet<>();
    private final Set<StreamConnection> sent = new LinkedHashSet<>();

    /** @param patienceNs how long a connection may take to send its bytes, and then its peer to close */
    LingeringConnections(long patienceNs) {
        this.patienceNs = patienceNs;
        graceNs = Math.min(GRACE_NS, patienceNs);
    }

    /** Adds a connection with bytes to send. If there are too many, the oldest is closed after a second. */
    void addUnsent(StreamConnection connection, long nowNs) {
        add(unsent, MOST_UNSENT, connection, nowNs);
    }

    /** Adds a connection whose bytes have all left. If there are too many, the oldest is closed after a second. */
    void addSent(StreamConnection connection, long nowNs) {
        unsent.remove(connection);
        add(sent, MOST_SENT, connection, nowNs);
    }

    private void add(Set<StreamConnection> to, int most, StreamConnection connection,
            long nowNs) {
        connection.lingerUntil(nowNs + patienceNs);
        to.add(connection);
        giveUp(to, most, nowNs);
    }

    /** It is over. */
    void remove(StreamConnection connection) {
        if (!unsent.remove(connection)) {
            sent.remove(connection);
        }
    }

    /** {@return whether there is no lingering connection} */
    boolean isEmpty() {
        return unsent.isEmpty() && sent.isEmpty();
    }

    /** Closes the connections whose time is over. */
    void onTime(long nowNs) {
        giveUp(unsent, MOST_UNSENT, nowNs);
        giveUp(sent, MOST_SENT, nowNs);
    }

    private void giveUp(Set<StreamConnection> waiting, int most, long nowNs) {
        while (firstEndNs(waiting, most) <= nowNs) {
            StreamConnection oldest = waiting.iterator().next();
            waiting.remove(oldest);
            oldest.letGo();
        }
    }

    /** {@return when the next must be closed, {@link Long#MAX_VALUE} for never} */
    long deadlineNs() {
        return Math.min(firstEndNs(unsent, MOST_UNSENT), firstEndNs(sent, MOST_SENT));
    }

    private long firstEndNs(Set<StreamConnection> waiting, int most) {
        if (waiting.isEmpty()) {
            return Long.MAX_VALUE;
        }
        long endNs = waiting.iterator().next().lingersUntilNs();
        return waiting.size() > most ? endNs - patienceNs + graceNs : endNs;
    }

    /** Closes all. */
    void letGoOfAll() {
        List.copyOf(unsent).forEach(StreamConnection::letGo);
        List.copyOf(sent).forEach(StreamConnection::letGo);
    }
}
