// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.OtherDeviceException;
import io.rdma4j.cm.RejectedException;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.sockets.observe.jfr.SocketEvents;
import io.rdma4j.sockets.observe.jfr.SocketEvents.Outcome;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/** The active side until its connection stands: address, route, connection. Thread safe. */
public final class SocketConnector implements EngineEvents.EventUser, SocketConnection.Observer {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    /** Where a device of loopback is. The system's own is everywhere in 127.0.0.0/8, and hosts give that to names, as 127.0.1.1 to their own. */
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    /** How many devices of this machine may lead to a listener. */
    private static final int MOST_TRIES = 3;
    /** A listener whose backlog is full is asked again after so long, and after twice that the next time. */
    private static final long SHORTEST_REST_MS = 5;
    private static final long LONGEST_REST_MS = 500;
    /** How long it is asked, if nobody gives it up: as Linux repeats what opens a connection over TCP. */
    private static final Duration LONGEST_ASKING = Duration.ofMinutes(2);

    private final SocketEngine engine;
    private SocketSettings settings;
    private final InetSocketAddress peer;
    /** Where it is looked for at present. */
    private InetSocketAddress target;
    private final @Nullable InetSocketAddress local;
    private final ReentrantLock lock = new ReentrantLock();
    /** It has begun, or is done. */
    private final Condition changed = lock.newCondition();
    private @Nullable CmId id;
    private @Nullable SocketConnection connection;
    private @Nullable IOException failure;
    private boolean isBegun;
    private boolean isEstablished;
    private volatile boolean isCancelled;
    private boolean isTriedAgain;
    private int tries = 1;
    /** After the last refusal for lack of room, 0 without one. */
    private long restMs;
    private long startedNs;
    private final ReadinessListener listener;

    /**
     * @param bound the id that is bound to the local address, null for any address
     * @param peer a resolved address
     * @param listener is told when it is done; then it listens to the connection
     */
    public SocketConnector(SocketEngine engine, SocketSettings settings, @Nullable BoundId bound,
            InetSocketAddress peer, ReadinessListener listener) {
        this.listener = listener;
        this.engine = engine;
        this.settings = settings;
        this.peer = peer;
        target = peer;
        local = bound == null ? null : bound.localAddress();
        id = bound == null ? null : bound.take();
    }

    // ---------------------------------------------------------------- for the channel

    /** Begins. The outcome is known when {@link #isDone}. */
    public void start() {
        startedNs = System.nanoTime();
        engine.execute(this::resolve);
    }

    /** {@return whether the device that leads to the peer is open, or it is done} Only then anything takes the network's and the peer's time. */
    public boolean hasBegun() {
        lock.lock();
        try {
            return isBegun || isDone();
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether the connection stands or has failed} */
    public boolean isDone() {
        lock.lock();
        try {
            return isEstablished || failure != null || isCancelled;
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether the connection stands} */
    public boolean isEstablished() {
        lock.lock();
        try {
            return isEstablished && failure == null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until it {@link #hasBegun}.
     *
     * @param timeoutNs as for {@link #await}
     */
    public void awaitBegun(long timeoutNs) {
        await(this::hasBegun, timeoutNs);
    }

    /**
     * Waits until it is done.
     *
     * @param timeoutNs {@link Long#MAX_VALUE} to wait without limit
     */
    public void await(long timeoutNs) {
        await(this::isDone, timeoutNs);
    }

    private void await(BooleanSupplier isOver, long timeoutNs) {
        long endNs = System.nanoTime() + timeoutNs;
        engine.onSleep();
        lock.lock();
        try {
            while (!isOver.getAsBoolean()) {
                if (timeoutNs == Long.MAX_VALUE) {
                    changed.awaitUninterruptibly();
                    continue;
                }
                long leftNs = endNs - System.nanoTime();
                if (leftNs <= 0) {
                    return;
                }
                long _ = changed.awaitNanos(leftNs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
            engine.onAwake();
        }
    }

    /**
     * {@return the connection, null while it does not stand}
     *
     * @throws IOException why it could not be made, with the exception of {@code java.net} for that
     */
    public @Nullable SocketConnection connection() throws IOException {
        lock.lock();
        try {
            if (failure != null) {
                throw failure;
            }
            return isEstablished ? connection : null;
        } finally {
            lock.unlock();
        }
    }

    /** Gives it up, and wakes who waits. */
    public void cancel() {
        lock.lock();
        try {
            record(Outcome.CANCELLED, null);
            isCancelled = true;
            onDone();
        } finally {
            lock.unlock();
        }
        engine.execute(this::drop);
    }

    // ---------------------------------------------------------------- steps, in the engine's thread

    private void resolve() {
        if (isCancelled) {
            return;
        }
        try {
            CmId used = id;
            if (used == null) {
                used = new BoundId(engine, settings, local).take();
                id = used;
            }
            used.userContext(this);
            used.resolveAddress(target, TIMEOUT);
            begin();
        } catch (RdmaException | RuntimeException e) {
            fail(e);
        }
    }

    private void begin() {
        lock.lock();
        try {
            isBegun = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onEvent(CmEvent event) {
        CmId current = id;
        if (current == null || !current.equals(event.id())) {
            return;
        }
        try {
            switch (event.type()) {
                case ADDR_RESOLVED -> onAddress(current);
                case ROUTE_RESOLVED -> connect(current);
                case ADDR_ERROR, ROUTE_ERROR, DEVICE_REMOVAL -> fail(event.failure("connect"));
                default -> {
                    // The connection gets the others.
                }
            }
        } catch (RdmaException | RuntimeException e) {
            fail(e);
        }
    }

    private void onAddress(CmId current) throws RdmaException {
        if (settings.avoidsPortsOfTcp() && local == null && settings.device() == null) {
            // An id that names its device leaves it at that, if nobody answers: a look whether anybody listens would give a
            // program that listens over TCP connections which are for nobody.
            settings = settings.on(current.context().device());
            id = null;
            engine.execute(() -> Freeing.all(current::close));
            resolve();
        } else {
            current.resolveRoute(TIMEOUT);
        }
    }

    private void connect(CmId current) throws RdmaException {
        SocketConnection made = new SocketConnection(engine, current, settings, this);
        id = null;
        lock.lock();
        try {
            connection = made;
        } finally {
            lock.unlock();
        }
        try {
            made.connect();
        } catch (RdmaException | RuntimeException e) {
            made.close(0);
            throw e;
        }
    }

    private void fail(Exception why) {
        lock.lock();
        try {
            IOException thrown = translated(why);
            record(Outcome.FAILED, thrown);
            failure = thrown;
            onDone();
        } finally {
            lock.unlock();
        }
        engine.execute(this::drop);
    }

    /** Tells the recorder the outcome, which is the first one. Under the lock. */
    private void record(Outcome outcome, @Nullable IOException why) {
        if (SocketEvents.recordsConnects() && !isDone()) {
            SocketConnection made = connection;
            SocketEvents.connect(outcome,
                    made == null ? new SocketEvents.Ends(local, peer, "", 0, settings.rule())
                            : made.ends(),
                    System.nanoTime() - startedNs, why);
        }
    }

    private void onDone() {
        changed.signalAll();
        listener.onReady(true, true);
    }

    private void drop() {
        CmId left = id;
        id = null;
        if (left != null) {
            Freeing.all(left::close);
        }
        SocketConnection made = connection;
        if (made != null && isCancelled) {
            made.close(0);
        }
    }

    // ---------------------------------------------------------------- what becomes of the connection

    @Override
    public void onEstablished(SocketConnection established) {
        lock.lock();
        try {
            record(Outcome.ESTABLISHED, null);
            isEstablished = true;
            onDone();
        } finally {
            lock.unlock();
        }
        established.listener(listener);
    }

    @Override
    public void onRefused(SocketConnection refused, IOException why) {
        if (why instanceof OtherDeviceException && tries < MOST_TRIES) {
            tries++;
            isTriedAgain = true;
        } else if (isBacklogFull(why)) {
            restMs = Math.clamp(2 * restMs, SHORTEST_REST_MS, LONGEST_REST_MS);
            isTriedAgain = true;
        } else if (isElsewhereOnLoopback(why)) {
            target = new InetSocketAddress(LOOPBACK, peer.getPort());
            isTriedAgain = true;
        } else {
            fail(why);
        }
    }

    /** {@return whether nobody listens at the address of loopback that was asked for, and another one may lead to a listener of all addresses} */
    private boolean isElsewhereOnLoopback(IOException why) {
        InetAddress asked = target.getAddress();
        return why instanceof RdmaException refused && refused.errno() == Errno.ECONNREFUSED
                && asked instanceof Inet4Address && asked.isLoopbackAddress()
                && !asked.equals(LOOPBACK);
    }

    /** {@return whether the listener has no room at present} Over TCP its system says nothing then, and the client's asks again. */
    private boolean isBacklogFull(IOException why) {
        return why instanceof RejectedException rejected
                && rejected.status() == RejectReason.NO_RESOURCES.code()
                && System.nanoTime() - startedNs < LONGEST_ASKING.toNanos();
    }

    @Override
    public void onFreed(SocketConnection freed) {
        if (!isTriedAgain || isCancelled) {
            return;
        }
        isTriedAgain = false;
        if (restMs == 0) {
            resolve();
        } else {
            LeaderTasks.Timer _ = engine.schedule(Duration.ofMillis(restMs), this::resolve);
        }
    }

    // ---------------------------------------------------------------- exceptions

    private static IOException translated(Exception why) {
        return switch (why) {
            case RejectedException rejected -> by(rejected,
                    new ConnectException("Connection refused: " + rejected.detail()));
            case RdmaException failed -> by(failed, ofErrno(failed));
            case IOException failed -> failed;
            default -> by(why, new ConnectException(why.toString()));
        };
    }

    private static IOException by(Exception cause, IOException thrown) {
        thrown.initCause(cause);
        return thrown;
    }

    private static IOException ofErrno(RdmaException why) {
        return switch (why.errno()) {
            case ECONNREFUSED -> new ConnectException("Connection refused: " + why.detail());
            case ETIMEDOUT -> new ConnectException("Connection timed out: " + why.detail());
            case EHOSTUNREACH, ENETUNREACH, EHOSTDOWN -> new NoRouteToHostException(
                    why.getMessage());
            case EADDRINUSE -> new BindException("Address already in use: " + why.detail());
            case EADDRNOTAVAIL -> new BindException(
                    "Cannot assign requested address: " + why.detail());
            default -> new ConnectException(why.getMessage());
        };
    }

    /** {@return the exception of {@code java.net} for a local address that cannot be had} */
    static IOException ofBinding(RdmaException why) {
        boolean isAddress = why.errno() == Errno.EADDRINUSE
                || why.errno() == Errno.EADDRNOTAVAIL;
        return isAddress ? by(why, ofErrno(why)) : why;
    }
}
