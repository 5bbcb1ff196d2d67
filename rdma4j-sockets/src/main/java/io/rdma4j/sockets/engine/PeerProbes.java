// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.RsocketStream;
import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Asks a silent peer whether it lives: at the intervals that the application has set (keepalive), and while it waits for credits. A dead peer does not
 * acknowledge, and the device ends the connection.
 *
 * <p>All is called under the lock of the connection, which the timers take.
 */
final class PeerProbes {
    /** How long the application waits for credits before the peer is asked whether it lives, and how often then. */
    private static final Duration STARVED = Duration.ofSeconds(10);

    private final SocketEngine engine;
    private final ReentrantLock lock;
    private final ConnectionState state;
    private final ConnectionProgress progress;
    private int keepaliveSeconds;
    private int keepaliveChanges;
    /** What is scheduled, which holds the connection until it is cancelled. */
    private LeaderTasks.@Nullable Timer probing;
    private LeaderTasks.@Nullable Timer starving;

    /**
     * @param lock of the connection
     * @param keepaliveSeconds 0 for no keepalive
     */
    PeerProbes(SocketEngine engine, ReentrantLock lock, ConnectionState state,
            ConnectionProgress progress, int keepaliveSeconds) {
        this.engine = engine;
        this.lock = lock;
        this.state = state;
        this.progress = progress;
        this.keepaliveSeconds = keepaliveSeconds;
    }

    /** Ends all. */
    void cancel() {
        engine.cancel(probing);
        engine.cancel(starving);
    }

    // ---------------------------------------------------------------- keepalive

    int keepaliveSeconds() {
        return keepaliveSeconds;
    }

    /** The connection is established. */
    void start() {
        scheduleProbe();
    }

    /**
     * Probes an idle peer from now on.
     *
     * @param seconds after which time, and how often; 0 not to
     */
    void keepalive(int seconds) {
        if (seconds == keepaliveSeconds) {
            return;
        }
        keepaliveSeconds = seconds;
        keepaliveChanges++;
        if (state.isEstablished()) {
            scheduleProbe();
        }
    }

    private void scheduleProbe() {
        engine.cancel(probing);
        if (keepaliveSeconds > 0) {
            int changes = keepaliveChanges;
            probing = engine.schedule(Duration.ofSeconds(keepaliveSeconds), () -> probe(changes));
        }
    }

    private void probe(int changes) {
        lock.lock();
        try {
            RsocketStream open = state.stream();
            if (changes != keepaliveChanges) {
                // Another time was set since, from when on it counts.
                return;
            }
            if (!state.isEstablished() || state.isBroken() || open == null) {
                return;
            }
            if (!progress.hasMoved()) {
                open.probe();
                progress.process(false);
            }
            progress.forgetMoved();
            scheduleProbe();
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- starving

    /**
     * The application cannot write. If the peer has acknowledged everything, nothing is on its way that a dead one would not
     * acknowledge, and the application would wait for its credits for ever.
     */
    void watchStarving() {
        if (starving == null && !state.isWritable()) {
            starving = engine.schedule(STARVED, this::probeStarved);
        }
    }

    private void probeStarved() {
        lock.lock();
        try {
            starving = null;
            RsocketStream open = state.stream();
            if (open == null || state.isWritable()) {
                return;
            }
            if (open.isDrained()) {
                open.probe();
                progress.process(false);
            }
            watchStarving();
        } finally {
            lock.unlock();
        }
    }
}
