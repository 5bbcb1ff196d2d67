// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.observe.jfr.SocketEvents.End;
import io.rdma4j.sockets.protocol.RsocketStream;
import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * How a connection ends that its application has closed: what was written leaves, both sides come to know that, then it is freed. All is called under the lock of
 * the connection, which the timers take, but for {@link #awaitOver}.
 */
final class ConnectionEnd {
    /** How long the last bytes of a closed connection may take if its application does not say. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /**
     * How long the application waits in {@code close} while none of its messages arrives. One may take seconds in a slow network, or where packets are lost; who
     * leaves earlier, and ends its process, takes away what is not sent.
     */
    private static final Duration PATIENCE_ON_THE_WAY = Duration.ofSeconds(10);
    /** How long it waits for the peer when everything has arrived. */
    private static final Duration PATIENCE_WITH_PEER = Duration.ofSeconds(3);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(100);
    /** How long messages of a peer that has ended are answered; longer than it waits before it repeats one. */
    private static final Duration LAST_ANSWERS = Duration.ofSeconds(10);

    private final SocketEngine engine;
    private final ReentrantLock lock;
    private final ConnectionState state;
    private final Copying copying;
    private final ShownConnection shown;
    private final Steps steps;
    private final Condition over;
    private boolean wasClosedByPeer;
    private boolean isAborted;
    private boolean isGivenUp;
    /** Everything that was written is acknowledged, or lost. */
    private boolean isOver;
    private boolean isFreeing;
    /** It was ended for the connection manager, though the application has not closed it. */
    private boolean hasLeft;
    /** What is scheduled, which holds the connection until it is cancelled. */
    private LeaderTasks.@Nullable Timer closing;
    private LeaderTasks.@Nullable Timer answering;

    /** What the thread of the engine does then. Without the lock. */
    interface Steps {
        /** Ends the connection for the connection manager. */
        void disconnect();

        /** Frees everything, unless a thread of the application copies. */
        void free();
    }

    /** @param lock of the connection */
    ConnectionEnd(SocketEngine engine, ReentrantLock lock, ConnectionState state, Copying copying,
            ShownConnection shown, Steps steps) {
        this.engine = engine;
        this.lock = lock;
        this.state = state;
        this.copying = copying;
        this.shown = shown;
        this.steps = steps;
        over = lock.newCondition();
    }

    /**
     * The application closes the connection, for the first time.
     *
     * @param lingerSeconds as {@link SocketConnection#close}
     */
    void close(int lingerSeconds) {
        state.close();
        RsocketStream open = state.stream();
        wasClosedByPeer = open != null && open.hasPeerDisconnected();
        if (!state.isEstablished() || open == null || lingerSeconds == 0) {
            isAborted = !state.isBroken();
            state.breakOff();
        } else if (!state.isBroken()) {
            copying.disconnect(open);
            closing = engine.schedule(
                    lingerSeconds < 0 ? PATIENCE : Duration.ofSeconds(lingerSeconds),
                    this::giveUp);
        }
    }

    private void giveUp() {
        lock.lock();
        try {
            isGivenUp = !isOver;
            state.breakOff();
            freeIfOver();
        } finally {
            lock.unlock();
        }
    }

    /** As {@link SocketConnection#awaitOver}. */
    boolean awaitOver(int lingerSeconds) {
        engine.onSleep();
        lock.lock();
        try {
            long sinceNs = System.nanoTime();
            int left = unacknowledged();
            while (!isFreeing) {
                long nowNs = System.nanoTime();
                int leftNow = unacknowledged();
                if (lingerSeconds < 0 && leftNow != left) {
                    left = leftNow;
                    sinceNs = nowNs;
                }
                long leftNs = sinceNs + limit(lingerSeconds).toNanos() - nowNs;
                if (leftNs <= 0) {
                    return false;
                }
                long _ = over.awaitNanos(Math.min(leftNs, BETWEEN_LOOKS.toNanos()));
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
            engine.onAwake();
        }
    }

    private int unacknowledged() {
        RsocketStream open = state.stream();
        return open == null ? 0 : open.unacknowledged();
    }

    /** {@return how long {@code close} may wait, without a limit of the application's: while nothing changes} */
    private Duration limit(int lingerSeconds) {
        if (lingerSeconds >= 0) {
            return Duration.ofSeconds(lingerSeconds);
        }
        return unacknowledged() > 0 ? PATIENCE_ON_THE_WAY : PATIENCE_WITH_PEER;
    }

    /**
     * Leaves the connection if both directions have ended, and the peer's device knows it. The peer's {@code close} waits for that to be said: it need not
     * wait for this side's application.
     */
    void leaveIfEnded() {
        RsocketStream open = state.stream();
        if (!hasLeft && !state.isClosing() && !state.isBroken() && open != null
                && open.isEndAcknowledged()) {
            hasLeft = true;
            engine.execute(steps::disconnect);
        }
    }

    /** Frees the connection if it is closed, and nothing is on its way any more. */
    void freeIfOver() {
        RsocketStream open = state.stream();
        boolean isDrained = open == null || (open.isDisconnected() && open.isDrained());
        if (!state.isClosing() || isFreeing || !(state.isBroken() || isDrained)) {
            return;
        }
        if (!isOver) {
            isOver = true;
            shown.recordEnd(how());
            if (!state.isBroken() && open != null && !open.isEndAcknowledged()) {
                // The peer's last message may come again, if it does not know of its arrival. Then it disconnects.
                answering = engine.schedule(LAST_ANSWERS, this::giveUp);
            }
        }
        if (state.isBroken() || open == null || open.isEndAcknowledged()) {
            isFreeing = true;
            over.signalAll();
            engine.execute(steps::free);
        }
    }

    private End how() {
        if (state.failure() != null) {
            return End.BROKEN;
        }
        if (isGivenUp) {
            return End.GIVEN_UP;
        }
        if (isAborted) {
            return End.ABORTED;
        }
        return wasClosedByPeer ? End.CLOSED_BY_PEER : End.CLOSED;
    }

    /** Nothing more is waited for. */
    void cancel() {
        engine.cancel(closing);
        engine.cancel(answering);
    }
}
