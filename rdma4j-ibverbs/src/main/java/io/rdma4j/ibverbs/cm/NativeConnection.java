// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.observe.jfr.FlightEvents.Outcome;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.spi.Refusal;
import io.rdma4j.state.Transitions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SystemErrors;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A connection of an id. Threads of the application call it under its lock; the thread that reads events reports
 * without the lock.
 */
final class NativeConnection
        implements
            CmConnection,
            NativeId.EventHandler,
            CmServices.Open,
            Route.Outcome {
    private static final byte[] NOTHING = {};

    /** How far it is. */
    enum State {
        /** The way to the peer is looked for. */
        FINDING_ROUTE,
        /** A request was sent to the peer. */
        CONNECTING,
        /** The peer has accepted, and waits for the message that this side is ready. */
        REPLIED,
        /** A request of the peer was received. */
        REQUESTED,
        /** This side has accepted. */
        ACCEPTED,
        /** Both are ready. */
        ESTABLISHED,
        /** This side disconnects. */
        LEAVING,
        /** Disconnected; only the end of time-wait is still to come. */
        ENDED,
        /** Forgotten. */
        CLOSED
    }

    /** What changes the state. */
    enum Step {
        /** The way to the peer is known. */
        ROUTE_FOUND,
        /** The peer has accepted, and waits for an answer. */
        REPLY,
        /** The application gives that answer. */
        ESTABLISH,
        /** The peer has accepted, where that is all. */
        PEER_ACCEPTED,
        /** The application accepts a request. */
        ACCEPT,
        /** The peer has confirmed that. */
        PEER_READY,
        /** It was accepted, and the peer was not reached any more. */
        LOSE,
        /** The application rejects a request or a reply. */
        REJECT,
        /** The application disconnects. */
        DISCONNECT,
        /** The peer has refused or disconnected, or cannot be reached. */
        END,
        /** The application closes it. */
        CLOSE
    }

    static final Transitions<State, Step> TRANSITIONS = Transitions.between(State.class, Step.class)
            .on(Step.ROUTE_FOUND, State.CONNECTING, State.FINDING_ROUTE)
            .on(Step.REPLY, State.REPLIED, State.CONNECTING)
            .on(Step.ESTABLISH, State.ESTABLISHED, State.REPLIED)
            .on(Step.PEER_ACCEPTED, State.ESTABLISHED, State.CONNECTING)
            .on(Step.ACCEPT, State.ACCEPTED, State.REQUESTED)
            .on(Step.PEER_READY, State.ESTABLISHED, State.ACCEPTED)
            .on(Step.LOSE, State.ENDED, State.ACCEPTED)
            .on(Step.REJECT, State.ENDED, EnumSet.of(State.REQUESTED, State.REPLIED))
            .on(Step.DISCONNECT, State.LEAVING, EnumSet.of(State.ACCEPTED, State.ESTABLISHED))
            .on(Step.END, State.ENDED,
                    EnumSet.complementOf(EnumSet.of(State.ENDED, State.CLOSED)))
            .on(Step.CLOSE, State.CLOSED, EnumSet.complementOf(EnumSet.of(State.CLOSED)))
            .build();

    private static final Set<State> WITH_PEER = EnumSet.of(State.REPLIED, State.REQUESTED,
            State.ACCEPTED, State.ESTABLISHED);

    private final CmServices device;
    private final NativeId id;
    private final @Nullable ConnectRequest request;
    private final Route route;
    private final ConnectionRecord record;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable Handler handler;
    private State state;

    private NativeConnection(CmServices device, NativeId id, State state,
            @Nullable ConnectRequest request) {
        this.device = device;
        this.id = id;
        this.state = state;
        this.request = request;
        route = new Route(device, id, this);
        record = new ConnectionRecord(id, request);
    }

    /** Requests a connection. */
    static NativeConnection ask(CmServices device, ConnectRequest request, Handler handler)
            throws RdmaException {
        NativeConnection connection = new NativeConnection(device, device.bound(request),
                State.FINDING_ROUTE, request);
        connection.handler = handler;
        connection.begin();
        try {
            connection.route.find(request);
        } catch (RdmaException e) {
            connection.close();
            throw e;
        }
        return connection;
    }

    /** Notifies the handler of a connection request. {@return the connection} */
    static NativeListener.Asked requested(CmServices device, NativeId id, IdEvent event,
            CmListener.Handler handler) throws RdmaException {
        NativeConnection connection = new NativeConnection(device, id, State.REQUESTED, null);
        InetSocketAddress local = id.local("listen");
        InetSocketAddress peer = id.peer("listen");
        connection.begin();
        connection.handler = handler.onRequest(device.via(), connection, local, peer,
                event.parameters());
        return connection::isUnanswered;
    }

    private void begin() {
        id.eventHandler(this);
        device.keep(this);
    }

    CmServices device() {
        return device;
    }

    NativeId id() {
        return id;
    }

    private boolean isUnanswered() {
        return in(State.REQUESTED);
    }

    private boolean in(State wanted) {
        lock.lock();
        try {
            return state == wanted;
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether a step can be taken in the present state; then it is taken} */
    private boolean take(Step step) {
        lock.lock();
        try {
            State next = TRANSITIONS.next(state, step);
            state = next == null ? state : next;
            return next != null;
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- what the application asks

    @Override
    public QueuePairBringUp bringUp(ConnectionParameters own, CmOptions options) {
        return new NativeBringUp(this, own, options);
    }

    /**
     * Checks that the peer's parameters are known.
     *
     * @throws RdmaException EINVAL if they are not, or not any more
     */
    void requirePeer() throws RdmaException {
        if (device.isIwarp()) {
            return;
        }
        lock.lock();
        try {
            if (!WITH_PEER.contains(state)) {
                throw wrong("initialize queue pair attributes",
                        "the peer's parameters are not known; a request or a reply brings them");
            }
        } finally {
            lock.unlock();
        }
    }

    /** A call that changes the state of the connection. */
    private interface Call {
        void make() throws RdmaException;
    }

    private void step(String operation, Step step, String advice, Call call)
            throws RdmaException {
        lock.lock();
        try {
            State next = TRANSITIONS.next(state, step);
            if (next == null) {
                throw wrong(operation, advice);
            }
            call.make();
            state = next;
        } finally {
            lock.unlock();
        }
    }

    private RdmaException wrong(String operation, String advice) {
        return state == State.ENDED
                ? new RdmaException(Errno.ECONNRESET, operation, "the peer has gone")
                : new RdmaException(Errno.EINVAL, operation, advice);
    }

    @Override
    public void accept(ConnectionParameters parameters, int queuePairNumber)
            throws RdmaException {
        record.queuePair(queuePairNumber);
        step("accept", Step.ACCEPT,
                "it stands for no request, or was answered",
                () -> id.accept(parameters, queuePairNumber));
    }

    @Override
    public void establish() throws RdmaException {
        step("establish", Step.ESTABLISH, device.isIwarp()
                ? "connections of iWARP are established when the peer accepts"
                : "there is no reply to confirm", id::establish);
        record.report(Outcome.ESTABLISHED, 0);
    }

    @Override
    public void communicationEstablished() throws RdmaException {
        if (device.isIwarp()) {
            return;
        }
        lock.lock();
        try {
            if (state == State.ESTABLISHED) {
                throw new RdmaException(Errno.EISCONN, "notify",
                        "the connection is established already");
            }
            if (state != State.ACCEPTED) {
                throw wrong("notify", "nothing was accepted yet");
            }
            // An event confirms it and changes the state.
            id.communicationEstablished();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void reject(byte[] privateData) throws RdmaException {
        step("reject", Step.REJECT,
                "there is no request or reply to answer", () -> id.reject(privateData));
        record.report(Outcome.REJECTED,
                device.isIwarp() ? 0 : RejectReason.CONSUMER_DEFINED.code());
    }

    @Override
    public void disconnect() throws RdmaException {
        lock.lock();
        try {
            if (state != State.LEAVING && state != State.ENDED) {
                step("disconnect", Step.DISCONNECT,
                        "it is not connected", id::disconnect);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        handler = null;
        lock.lock();
        try {
            if (state == State.CLOSED) {
                return;
            }
            leave();
            state = TRANSITIONS.after(state, Step.CLOSE);
        } finally {
            lock.unlock();
        }
        id.destroy();
        device.forget(this);
    }

    private void leave() {
        try {
            switch (state) {
                case REPLIED, REQUESTED -> id.reject(NOTHING);
                case ACCEPTED, ESTABLISHED -> id.disconnect();
                case FINDING_ROUTE, CONNECTING, LEAVING, ENDED, CLOSED -> {
                    // Destroying the id withdraws the request.
                }
            }
        } catch (RdmaException over) {
            // The peer was faster.
        }
    }

    // ---------------------------------------------------------------- connecting

    @Override
    public void onRoute() {
        ConnectRequest wanted = request;
        if (wanted == null || !take(Step.ROUTE_FOUND)) {
            return;
        }
        if (device.isIwarp()) {
            // The call blocks until TCP has connected, and must not block the thread that reads events.
            Thread.ofPlatform().name("rdma4j-connect").daemon().start(() -> connect(wanted));
            return;
        }
        try {
            id.connect(wanted.parameters(), wanted.queuePairNumber());
        } catch (RdmaException e) {
            unreachable(e.errno());
        }
    }

    private void connect(ConnectRequest wanted) {
        try {
            id.connectSlowly(wanted.parameters(), wanted.queuePairNumber());
        } catch (RdmaException e) {
            device.channel().execute(() -> notConnected(e.errno()));
        }
    }

    /** Some devices report at once that no program listens, others by an event. */
    private void notConnected(Errno reason) {
        if (reason == Errno.ECONNREFUSED || reason == Errno.ECONNRESET) {
            refused(new Refusal(-reason.number(), text(-reason.number()), NOTHING));
        } else {
            unreachable(reason);
        }
    }

    @Override
    public void onNoRoute(Errno reason) {
        unreachable(reason);
    }

    private String text(int status) {
        if (status >= 0) {
            return RejectReason.text(status);
        }
        if (status == -Errno.ECONNREFUSED.number()) {
            return "no process listens at that port of that address";
        }
        return status == -Errno.ECONNRESET.number() ? "rejected by the peer"
                : "refused: " + SystemErrors.text(-status);
    }

    // ---------------------------------------------------------------- what the kernel reports

    @Override
    public void onEvent(IdEvent event, @Nullable NativeId none) {
        if (device.takeDeviceEvent(id, event)) {
            return;
        }
        switch (event.type()) {
            case ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED, ROUTE_ERROR -> {
                if (in(State.FINDING_ROUTE)) {
                    route.onEvent(event);
                }
            }
            case CONNECT_RESPONSE -> replied(event.parameters());
            case ESTABLISHED -> established(event.parameters());
            case REJECTED -> refused(new Refusal(event.status(), text(event.status()),
                    event.privateData(),
                    event.status() == RejectReason.INVALID_SERVICE_ID.code()));
            case UNREACHABLE, CONNECT_ERROR -> unreachable(event.reason());
            case DISCONNECTED -> disconnected();
            case TIMEWAIT_EXIT -> report(Handler::onTimewaitExit);
            case OTHER -> event.reportTo(handler);
            case CONNECT_REQUEST, DEVICE_REMOVAL, MULTICAST_JOIN, MULTICAST_ERROR, ADDR_CHANGE -> {
                // Of listeners, devices and groups.
            }
        }
    }

    /** A call of the handler. */
    private interface Report {
        void to(Handler handler);
    }

    private void report(Report report) {
        Handler present = handler;
        if (present != null) {
            report.to(present);
        }
    }

    private void replied(ConnectionParameters granted) {
        if (take(Step.REPLY)) {
            report(to -> to.onReply(this, granted));
        }
    }

    private void established(ConnectionParameters granted) {
        if (take(Step.PEER_ACCEPTED)) {
            record.report(Outcome.ESTABLISHED, 0);
            report(to -> to.onEstablished(granted));
        } else if (take(Step.PEER_READY)) {
            record.report(Outcome.ESTABLISHED, 0);
            report(to -> to.onEstablished(null));
        }
    }

    private void refused(Refusal refusal) {
        if (end()) {
            record.report(Outcome.REJECTED, refusal.code());
            report(to -> to.onRefused(refusal));
        }
    }

    private void unreachable(Errno reason) {
        if (end()) {
            record.report(Outcome.UNREACHABLE, 0);
            report(to -> to.onUnreachable(reason));
        }
    }

    private boolean end() {
        return take(Step.END);
    }

    private void disconnected() {
        if (device.isIwarp() && take(Step.LOSE)) {
            record.report(Outcome.UNREACHABLE, 0);
            report(to -> to.onUnreachable(Errno.ECONNRESET));
            return;
        }
        boolean isPeers = !in(State.LEAVING);
        if (!end()) {
            return;
        }
        record.report(Outcome.DISCONNECTED, 0);
        if (device.isIwarp()) {
            report(Handler::onDisconnected);
            // With TCP nothing arrives late, but programs wait for this event.
            report(Handler::onTimewaitExit);
            return;
        }
        if (isPeers) {
            answerDisconnect();
        }
        report(Handler::onDisconnected);
    }

    /**
     * Confirms the peer's disconnect request. The kernel leaves this to the program; until then the peer repeats its
     * request.
     */
    private void answerDisconnect() {
        try {
            id.disconnect();
        } catch (RdmaException over) {
            // The peer no longer repeats its request.
        }
    }
}
