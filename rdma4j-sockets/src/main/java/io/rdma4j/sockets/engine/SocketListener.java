// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.sockets.observe.jmx.SocketListenerData;
import io.rdma4j.sockets.protocol.ConnectionData;
import io.rdma4j.sockets.protocol.RsocketException;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The passive side: it answers requests by itself, as many as the backlog has room for, and hands out the connections in the
 * order in which they stood. Further requests wait for an answer, as far as the connection manager lets them.
 *
 * <p>Thread safe.
 */
public final class SocketListener
        implements
            EngineEvents.EventUser,
            SocketConnection.Observer,
            OpenSockets.Listener {
    private static final System.Logger LOG = System.getLogger(SocketListener.class.getName());

    private final SocketEngine engine;
    private final SocketSettings settings;
    private final CmId id;
    private final InetSocketAddress localAddress;
    private final int backlog;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    /** Requests that were not answered, those that are being answered, and what came of them. */
    private final Deque<Request> waiting = new ArrayDeque<>();
    private final Set<SocketConnection> answered = new HashSet<>();
    private final Deque<SocketConnection> established = new ArrayDeque<>();
    private volatile boolean isClosed;
    private boolean isFreed;
    private @Nullable IOException failure;
    private final ReadinessListener listener;

    private record Request(CmId id, ConnectionParameters asked, ConnectionData peer) {}

    private SocketListener(SocketEngine engine, SocketSettings settings, CmId id,
            InetSocketAddress localAddress, int backlog, ReadinessListener listener) {
        this.listener = listener;
        this.engine = engine;
        this.settings = settings;
        this.id = id;
        this.localAddress = localAddress;
        this.backlog = backlog;
    }

    /**
     * {@return a listener}
     *
     * @param local the address, perhaps the wildcard address; port 0 for any
     * @param backlog how many connections may stand that nobody has taken, from 1
     * @param listener is told when there is a connection to take
     * @throws IOException a {@link java.net.BindException} if the address or the port cannot be had
     */
    public static SocketListener listen(SocketEngine engine, SocketSettings settings,
            InetSocketAddress local, int backlog, ReadinessListener listener)
            throws IOException {
        return listen(engine, settings, BoundId.bind(engine, settings, local), local, backlog,
                listener);
    }

    /**
     * {@return a listener} As the other.
     *
     * @param bound is bound to that address, and belongs to the listener then
     */
    public static SocketListener listen(SocketEngine engine, SocketSettings settings,
            BoundId bound, InetSocketAddress local, int backlog, ReadinessListener listener)
            throws IOException {
        InetSocketAddress address = bound.localAddress();
        CmId id = bound.take();
        SocketListener made = new SocketListener(engine, settings, id,
                address == null ? local : address, backlog, listener);
        try {
            id.userContext(made);
            id.listen(backlog);
        } catch (RdmaException e) {
            id.close();
            throw SocketConnector.ofBinding(e);
        }
        engine.open().add(made);
        return made;
    }

    public InetSocketAddress localAddress() {
        return localAddress;
    }

    @Override
    public SocketListenerData data() {
        lock.lock();
        try {
            return new SocketListenerData(localAddress.getAddress().getHostAddress(),
                    localAddress.getPort(), backlog, established.size(), answered.size(),
                    settings.rule());
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- for the channel

    /** {@return whether there is a connection to take, or a failure to tell} */
    public boolean hasInput() {
        lock.lock();
        try {
            return !established.isEmpty() || failure != null;
        } finally {
            lock.unlock();
        }
    }

    /**
     * {@return the oldest connection that nobody has taken, null if there is none}
     *
     * @throws IOException if the listener has lost its device
     */
    public @Nullable SocketConnection poll() throws IOException {
        SocketConnection taken;
        lock.lock();
        try {
            taken = established.poll();
            if (taken == null && failure != null) {
                throw new SocketException(failure.getMessage());
            }
        } finally {
            lock.unlock();
        }
        if (taken != null) {
            taken.recordAccept();
            engine.execute(this::answerWaiting);
        }
        return taken;
    }

    /**
     * Waits until there is a connection, or there will be none.
     *
     * @param timeoutNs {@link Long#MAX_VALUE} to wait without limit
     */
    public void await(long timeoutNs) {
        long endNs = System.nanoTime() + timeoutNs;
        engine.onSleep();
        lock.lock();
        try {
            while (established.isEmpty() && !isClosed && failure == null) {
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
     * Stops listening, and ends the connections that nobody has taken. The port is free when it returns, unless the engine's own
     * thread calls it. Idempotent.
     */
    public void close() {
        lock.lock();
        try {
            if (isClosed) {
                return;
            }
            isClosed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        engine.execute(this::free);
        awaitFree();
    }

    private void awaitFree() {
        if (engine.isLedByCaller()) {
            return;
        }
        lock.lock();
        try {
            while (!isFreed) {
                changed.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- in the engine's thread

    private void free() {
        try {
            endConnections();
        } finally {
            // Also after a failure: who closes waits for it.
            Freeing.all(id::close);
            engine.open().remove(this);
            signalFreed();
        }
    }

    private void endConnections() {
        List<SocketConnection> left;
        lock.lock();
        try {
            left = new ArrayList<>(established);
            left.addAll(answered);
            established.clear();
        } finally {
            lock.unlock();
        }
        // Outside of the lock: a connection takes its own first.
        left.forEach(each -> each.close(0));
        waiting.forEach(each -> reject(each.id()));
        waiting.clear();
    }

    private void signalFreed() {
        lock.lock();
        try {
            isFreed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void onEvent(CmEvent event) throws RdmaException {
        switch (event.type()) {
            case CONNECT_REQUEST -> onRequest(event);
            case REJECTED, UNREACHABLE, DISCONNECTED, CONNECT_ERROR -> drop(event.id());
            case DEVICE_REMOVAL -> {
                if (id.equals(event.id())) {
                    onFailure(event.failure("listen"));
                } else {
                    drop(event.id());
                }
            }
            default -> {
                // Nothing else happens to a listener that needs an answer.
            }
        }
    }

    private void onFailure(IOException why) {
        lock.lock();
        try {
            failure = why;
            changed.signalAll();
            listener.onReady(true, false);
        } finally {
            lock.unlock();
        }
    }

    private void onRequest(CmEvent event) {
        CmId request = event.id();
        ConnectionParameters asked = event.parameters();
        try {
            ConnectionData peer = ConnectionData.decode(event.privateData());
            if (isClosed || asked == null) {
                engine.execute(() -> reject(request));
            } else {
                waiting.add(new Request(request, asked, peer));
                engine.execute(this::answerWaiting);
            }
        } catch (RsocketException e) {
            LOG.log(System.Logger.Level.DEBUG, "a request was rejected", e);
            engine.execute(() -> reject(request));
        }
    }

    private static void reject(CmId request) {
        Freeing.all(() -> {
            try {
                request.reject(new byte[0]);
            } catch (RdmaException _) {
                // The peer has gone meanwhile.
            }
        }, request::close);
    }

    private void drop(CmId request) {
        waiting.removeIf(each -> each.id().equals(request));
        engine.execute(() -> Freeing.all(request::close));
    }

    private void answerWaiting() {
        while (!waiting.isEmpty() && hasRoom()) {
            answer(waiting.remove());
        }
    }

    /** {@return whether the peer has left already} Then no step of the id is possible. */
    private static boolean hasEnded(CmId request) {
        try {
            QueuePairAttributes _ = request.initQueuePairAttributes(QueuePairState.INIT);
            return false;
        } catch (RdmaException ended) {
            return true;
        }
    }

    private boolean hasRoom() {
        lock.lock();
        try {
            return !isClosed && established.size() + answered.size() < backlog;
        } finally {
            lock.unlock();
        }
    }

    private void answer(Request request) {
        SocketConnection made;
        try {
            made = new SocketConnection(engine, request.id(), settings, this);
        } catch (RdmaException | RuntimeException e) {
            // Who gives up while connecting is nothing that whoever runs this program can mend.
            LOG.log(hasEnded(request.id()) ? System.Logger.Level.DEBUG
                    : System.Logger.Level.WARNING,
                    "a connection could not be accepted", e);
            reject(request.id());
            return;
        }
        lock.lock();
        try {
            answered.add(made);
        } finally {
            lock.unlock();
        }
        try {
            made.accept(request.asked(), request.peer());
        } catch (RdmaException | RuntimeException e) {
            LOG.log(System.Logger.Level.DEBUG, "a peer has gone before it was accepted", e);
            onRefused(made, new SocketException(e.getMessage()));
            made.close(0);
        }
    }

    // ---------------------------------------------------------------- what becomes of the connections

    @Override
    public void onEstablished(SocketConnection connection) {
        lock.lock();
        try {
            answered.remove(connection);
            established.add(connection);
            changed.signal();
            listener.onReady(true, false);
        } finally {
            lock.unlock();
        }
        if (isClosed) {
            engine.execute(this::free);
        }
    }

    @Override
    public void onRefused(SocketConnection connection, IOException why) {
        lock.lock();
        try {
            answered.remove(connection);
        } finally {
            lock.unlock();
        }
        engine.execute(this::answerWaiting);
    }

    @Override
    public void onFreed(SocketConnection connection) {
        // Its place was free when it was taken, or refused.
    }
}
