package io.rdma4j.cm;

import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.ConnectCall;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * One end of a connection, or a listener: what a socket is to TCP.
 *
 * <p>C: {@code struct rdma_cm_id}. An id made with an {@link EventChannel} is asynchronous: each step
 * returns at once and its outcome arrives as an event. An id made without is synchronous: each step
 * waits for its outcome and throws on failure; when the peer disconnects, its queue pair fails, so that
 * nobody waits in vain for a completion. The steps:
 *
 * <pre>
 * active:  resolveAddress → resolveRoute → createQueuePair → connect → …  → disconnect → close
 * passive: bindAddress → listen → (request) createQueuePair → accept → … → disconnect → close
 * </pre>
 *
 * <p>Thread safe; steps of one id from several threads at once are refused by its state. Source: Linux
 * man pages rdma_cm(7) and rdma_create_id(3).
 */
public final class CmId implements CmOperations, AutoCloseable {
    /** Private data a request over {@link PortSpace#TCP} can carry, in bytes. */
    public static final int MAX_CONNECT_PRIVATE_DATA = 56;
    /** Private data an acceptance can carry, in bytes. */
    public static final int MAX_ACCEPT_PRIVATE_DATA = 196;
    /** Private data a rejection can carry, in bytes. */
    public static final int MAX_REJECT_PRIVATE_DATA = 148;

    private enum State {
        IDLE, BOUND, ADDRESS_RESOLVED, ROUTE_RESOLVED, LISTENING, REQUESTED, CONNECTING, ACCEPTING, CONNECTED, ENDED, CLOSED
    }

    private final EventChannel channel;
    private final boolean isSynchronous;
    private final PortSpace space;
    private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);
    private final AtomicInteger unacknowledged = new AtomicInteger();
    private final IdListening listening;
    private final Set<CmId> waitingRequests = ConcurrentHashMap.newKeySet();
    private volatile @Nullable InetSocketAddress heldPort;
    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress peer;
    private volatile @Nullable DeviceLease lease;
    private volatile @Nullable CmConnection connection;
    private volatile ConnectionParameters ownParameters = new ConnectionParameters();
    private volatile @Nullable IdDataPath dataPath;
    private volatile @Nullable CmEvent lastEvent;
    private volatile @Nullable Object userContext;
    private volatile @Nullable CmId listener;

    private CmId(EventChannel channel, boolean isSynchronous, PortSpace space)
            throws RdmaException {
        this.channel = channel;
        this.isSynchronous = isSynchronous;
        this.space = space;
        listening = new IdListening(space);
        channel.attach();
    }

    /** {@return a new asynchronous id} C: {@code rdma_create_id}. */
    public static CmId create(EventChannel channel, PortSpace space) throws RdmaException {
        return new CmId(channel, false, space);
    }

    /** {@return a new synchronous id} C: {@code rdma_create_id} without a channel. */
    public static CmId create(PortSpace space) throws RdmaException {
        return new CmId(EventChannel.create(), true, space);
    }

    // ---------------------------------------------------------------- what it is

    /** {@return the channel its events arrive in; a synchronous id has one of its own} */
    public EventChannel channel() {
        return channel;
    }

    /** {@return its port space} */
    public PortSpace portSpace() {
        return space;
    }

    /** {@return the object attached by {@link #userContext(Object)}, or null} */
    public @Nullable Object userContext() {
        return userContext;
    }

    /** Attaches an object of the caller's ({@code id->context}). */
    public void userContext(@Nullable Object value) {
        userContext = value;
    }

    /**
     * {@return the device it uses} C: {@code id->verbs}.
     *
     * @throws IllegalStateException before an address is bound or resolved, and for a wildcard listener
     */
    public DeviceContext context() {
        return device().context();
    }

    @Override
    public ProtectionDomain protectionDomain() throws RdmaException {
        IdDataPath path = dataPath;
        return path != null ? path.queuePair.protectionDomain() : device().defaultDomain();
    }

    @Override
    public QueuePair queuePair() {
        return path().queuePair;
    }

    /**
     * {@return the local address and port} C: {@code rdma_get_local_addr}.
     *
     * @throws IllegalStateException before an address is bound or resolved
     */
    public InetSocketAddress localAddress() {
        return known(local, "local");
    }

    /**
     * {@return the peer's address and port} C: {@code rdma_get_peer_addr}.
     *
     * @throws IllegalStateException before an address is resolved, and for a listener
     */
    public InetSocketAddress peerAddress() {
        return known(peer, "peer");
    }

    private static InetSocketAddress known(@Nullable InetSocketAddress address, String which) {
        if (address == null) {
            throw new IllegalStateException("the id has no " + which + " address yet");
        }
        return address;
    }

    /** {@return the local port, 0 before there is one} C: {@code rdma_get_src_port}. */
    public int sourcePort() {
        InetSocketAddress address = local;
        return address == null ? 0 : address.getPort();
    }

    /** {@return the peer's port, 0 before there is one} C: {@code rdma_get_dst_port}. */
    public int destinationPort() {
        InetSocketAddress address = peer;
        return address == null ? 0 : address.getPort();
    }

    /** {@return the addresses and port a listener can be reached at, one an address of each device} */
    public List<InetSocketAddress> listenAddresses() {
        InetSocketAddress bound = local;
        return state.get() == State.LISTENING && bound != null
                ? listening.addresses(bound)
                : List.of();
    }

    /** {@return the event that ended the last step of a synchronous id, or null} C: {@code id->event}. */
    public @Nullable CmEvent event() {
        return lastEvent;
    }

    // ---------------------------------------------------------------- addresses and routes

    /**
     * Takes a local address and port. C: {@code rdma_bind_addr}.
     *
     * @param address an address of a device, or the wildcard address for all devices; port 0 for any
     * @throws RdmaException EADDRNOTAVAIL if no device has the address, EADDRINUSE if port or address
     *         are taken
     */
    public void bindAddress(InetSocketAddress address) throws RdmaException {
        checkResolved(address, "bind address");
        move(State.IDLE, State.BOUND, "bind address");
        try {
            bind(address);
        } catch (RdmaException | RuntimeException e) {
            state.compareAndSet(State.BOUND, State.IDLE);
            throw e;
        }
    }

    private void bind(InetSocketAddress address) throws RdmaException {
        DeviceLease taken = address.getAddress().isAnyLocalAddress()
                ? null
                : DeviceLease.forLocal(address.getAddress());
        try {
            InetSocketAddress held = PortTable.take(space, address);
            heldPort = held;
            local = held;
            lease = taken;
        } catch (RdmaException e) {
            if (taken != null) {
                taken.release();
            }
            throw e;
        }
    }

    /**
     * Finds device and local address for a destination; ends with ADDR_RESOLVED or ADDR_ERROR. C:
     * {@code rdma_resolve_addr}.
     *
     * @param timeout how long to try
     */
    public void resolveAddress(InetSocketAddress destination, Duration timeout)
            throws RdmaException {
        resolveAddress(null, destination, timeout);
    }

    /**
     * As above from a certain local address.
     *
     * @param source the local address, port 0 for any; null for whichever leads there
     */
    public void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress destination,
            Duration timeout) throws RdmaException {
        checkResolved(destination, "resolve address");
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("a time-out cannot be " + timeout);
        }
        if (source != null) {
            bindAddress(source);
        }
        State from = state.get();
        if (from != State.BOUND) {
            from = State.IDLE;
        }
        move(from, State.ADDRESS_RESOLVED, "resolve address");
        try {
            resolve(destination);
            publish(CmEventType.ADDR_RESOLVED, 0, null);
        } catch (RdmaException e) {
            state.compareAndSet(State.ADDRESS_RESOLVED, from);
            if (isSynchronous) {
                throw e;
            }
            publish(CmEventType.ADDR_ERROR, -e.errno().number(), null);
            return;
        }
        complete("resolve address", CmEventType.ADDR_RESOLVED);
    }

    private void resolve(InetSocketAddress destination) throws RdmaException {
        InetSocketAddress bound = local;
        if (lease == null) {
            DeviceLease.Towards towards = DeviceLease.towards(destination);
            try {
                InetSocketAddress source = new InetSocketAddress(towards.source(),
                        bound == null ? 0 : bound.getPort());
                if (heldPort == null) {
                    source = PortTable.take(space, source);
                    heldPort = source;
                }
                local = source;
                lease = towards.lease();
            } catch (RdmaException e) {
                towards.lease().release();
                throw e;
            }
        } else if (bound != null
                && bound.getAddress().getClass() != destination.getAddress().getClass()) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, "resolve address",
                    bound.getAddress().getHostAddress() + " and "
                            + destination.getAddress().getHostAddress()
                            + " are not of the same IP version");
        }
        peer = destination;
    }

    /**
     * Finds the path to the resolved address; ends with ROUTE_RESOLVED or ROUTE_ERROR. C:
     * {@code rdma_resolve_route}.
     */
    public void resolveRoute(Duration timeout) throws RdmaException {
        if (timeout.isNegative()) {
            throw new IllegalArgumentException("a time-out cannot be " + timeout);
        }
        move(State.ADDRESS_RESOLVED, State.ROUTE_RESOLVED, "resolve route");
        publish(CmEventType.ROUTE_RESOLVED, 0, null);
        complete("resolve route", CmEventType.ROUTE_RESOLVED);
    }

    // ---------------------------------------------------------------- queue pair

    /**
     * Creates the id's queue pair and makes it ready for receives; connecting and accepting bring it to
     * RTS. C: {@code rdma_create_qp}.
     *
     * @param domain a domain of the id's device, or null for the one its ids share
     * @param attributes where it names no completion queue, one with a channel is made
     */
    public QueuePair createQueuePair(@Nullable ProtectionDomain domain,
            QueuePairInitAttributes attributes) throws RdmaException {
        DeviceLease device = device();
        if (dataPath != null) {
            throw new RdmaException(Errno.EINVAL, "create queue pair", "the id has one already");
        }
        if (domain != null && !domain.context().equals(device.context())) {
            throw new RdmaException(Errno.EINVAL, "create queue pair",
                    "the protection domain is of another device than the id");
        }
        IdDataPath created = IdDataPath.create(device.context(),
                domain == null ? device.defaultDomain() : domain, attributes);
        try {
            created.queuePair.modify(new QueuePairAttributes()
                    .state(QueuePairState.INIT).port(1).pkeyIndex(0).accessFlags(Set.of()));
        } catch (RdmaException e) {
            created.close();
            throw e;
        }
        dataPath = created;
        return created.queuePair;
    }

    /** Closes the id's queue pair and what was made with it. C: {@code rdma_destroy_qp}. */
    public void closeQueuePair() throws RdmaException {
        IdDataPath path = dataPath;
        if (path != null) {
            path.close();
            dataPath = null;
        }
    }

    // ---------------------------------------------------------------- listening and connecting

    /**
     * Waits for connection requests; each arrives as CONNECT_REQUEST with an id of its own, or for a
     * synchronous id from {@link #awaitRequest}. C: {@code rdma_listen}.
     *
     * @param backlog requests that may wait unanswered, at least 1; further ones are rejected
     */
    public void listen(int backlog) throws RdmaException {
        if (backlog < 1) {
            throw new IllegalArgumentException("a backlog must be at least 1, not " + backlog);
        }
        if (state.get() == State.IDLE) {
            bindAddress(new InetSocketAddress(0));
        }
        move(State.BOUND, State.LISTENING, "listen");
        try {
            listening.start(known(local, "local"), lease, backlog, this::onRequest);
        } catch (RdmaException e) {
            listening.stop();
            state.compareAndSet(State.LISTENING, State.BOUND);
            throw e;
        }
    }

    /** Runs in the thread that drives the device. */
    private CmConnection.Handler onRequest(DeviceLease via, CmConnection request,
            InetSocketAddress to, InetSocketAddress from, ConnectionParameters parameters) {
        CmId id;
        try {
            id = new CmId(isSynchronous ? EventChannel.create() : channel, isSynchronous, space);
        } catch (RdmaException e) {
            throw new IllegalStateException("a listening id keeps its channel open", e);
        }
        id.userContext = userContext;
        id.local = to;
        id.peer = from;
        id.lease = via.share();
        id.connection = request;
        id.listener = this;
        id.state.set(State.REQUESTED);
        waitingRequests.add(id);
        channel.publish(new CmEvent(CmEventType.CONNECT_REQUEST, id, this, 0, parameters,
                id.unacknowledged::decrementAndGet));
        return id.new ConnectionHandler();
    }

    /**
     * Waits for the next connection request of a synchronous listener. C: {@code rdma_get_request}.
     *
     * @return a synchronous id; {@link #event} holds the request
     */
    public CmId awaitRequest() throws RdmaException {
        checkSynchronousListener();
        return taken(channel.awaitEvent());
    }

    /** {@return the next connection request of a synchronous listener, or null if none comes in time} */
    public @Nullable CmId pollRequest(Duration timeout) throws RdmaException {
        checkSynchronousListener();
        CmEvent event = channel.pollEvent(timeout);
        return event == null ? null : taken(event);
    }

    private static CmId taken(CmEvent event) {
        event.id().lastEvent = event;
        return event.id();
    }

    private void checkSynchronousListener() throws RdmaException {
        if (!isSynchronous || state.get() != State.LISTENING) {
            throw new RdmaException(Errno.EINVAL, "await request",
                    "only a synchronous id that listens hands out requests; this one is "
                            + (isSynchronous ? "in state " + state.get() : "asynchronous"));
        }
    }

    /**
     * Asks the resolved destination for a connection; ends with ESTABLISHED, REJECTED, UNREACHABLE or
     * CONNECT_ERROR, or without a queue pair of the id's own with CONNECT_RESPONSE. C:
     * {@code rdma_connect}.
     */
    public void connect(ConnectionParameters parameters) throws RdmaException {
        checkPrivateData(parameters.privateData(), MAX_CONNECT_PRIVATE_DATA, "connect");
        move(State.ROUTE_RESOLVED, State.CONNECTING, "connect");
        InetSocketAddress source = local;
        InetSocketAddress destination = peer;
        if (source == null || destination == null) {
            throw new IllegalStateException("a resolved id has both addresses");
        }
        ownParameters = new ConnectionParameters(parameters);
        try {
            connection = device().context().connect(new ConnectCall(space, source, destination,
                    ownParameters, queuePairNumber(parameters)), new ConnectionHandler());
        } catch (RdmaException e) {
            state.compareAndSet(State.CONNECTING, State.ROUTE_RESOLVED);
            throw e;
        }
        complete("connect to " + display(destination),
                dataPath == null ? CmEventType.CONNECT_RESPONSE : CmEventType.ESTABLISHED);
    }

    /**
     * Accepts the request this id stands for; ends with ESTABLISHED, UNREACHABLE or CONNECT_ERROR. C:
     * {@code rdma_accept}.
     */
    public void accept(ConnectionParameters parameters) throws RdmaException {
        checkPrivateData(parameters.privateData(), MAX_ACCEPT_PRIVATE_DATA, "accept");
        move(State.REQUESTED, State.ACCEPTING, "accept");
        try {
            CmConnection request = connection("accept");
            ConnectionParameters own = new ConnectionParameters(parameters);
            IdDataPath path = dataPath;
            if (path != null) {
                path.ready(request, own);
            }
            request.accept(own, queuePairNumber(parameters));
        } catch (RdmaException e) {
            state.compareAndSet(State.ACCEPTING, State.REQUESTED);
            throw e;
        }
        complete("accept", CmEventType.ESTABLISHED);
    }

    /** Rejects the request this id stands for, with bytes for the peer. C: {@code rdma_reject}. */
    public void reject(byte[] privateData) throws RdmaException {
        checkPrivateData(privateData, MAX_REJECT_PRIVATE_DATA, "reject");
        if (state.get() != State.REQUESTED && state.get() != State.CONNECTING) {
            throw wrongState("reject");
        }
        connection("reject").reject(privateData);
        state.set(State.ENDED);
    }

    /** Confirms a CONNECT_RESPONSE once the queue pair is ready. C: {@code rdma_establish}. */
    public void establish() throws RdmaException {
        move(State.CONNECTING, State.CONNECTED, "establish");
        connection("establish").establish();
    }

    /**
     * Ends the connection: the queue pair goes to the error state and both sides see DISCONNECTED. After
     * the peer has disconnected it only does the former. C: {@code rdma_disconnect}.
     */
    public void disconnect() throws RdmaException {
        State now = state.get();
        if (now != State.CONNECTED && now != State.ACCEPTING && now != State.ENDED) {
            throw wrongState("disconnect");
        }
        IdDataPath path = dataPath;
        if (path != null) {
            path.fail();
        }
        if (now != State.ENDED) {
            connection("disconnect").disconnect();
            complete("disconnect", CmEventType.DISCONNECTED);
        }
    }

    // ---------------------------------------------------------------- the end

    /**
     * Frees the id with its queue pair: a listener stops, a request not answered is rejected, a connection
     * is ended. Idempotent. C: {@code rdma_destroy_id}, which waits for unacknowledged events; this does
     * not wait.
     *
     * @throws RdmaException EBUSY while an event of this id was taken and not acknowledged
     */
    @Override
    public void close() throws RdmaException {
        CmEvent last = lastEvent;
        if (last != null) {
            last.acknowledge();
        }
        if (unacknowledged.get() > 0) {
            throw new RdmaException(Errno.EBUSY, "close id",
                    unacknowledged.get()
                            + " event(s) are not acknowledged; acknowledge them first");
        }
        if (state.getAndSet(State.CLOSED) == State.CLOSED) {
            return;
        }
        listening.stop();
        for (CmId waiting : waitingRequests) {
            waiting.close();
        }
        CmId parent = listener;
        if (parent != null) {
            parent.waitingRequests.remove(this);
        }
        CmConnection open = connection;
        if (open != null) {
            open.close();
        }
        closeQueuePair();
        InetSocketAddress held = heldPort;
        if (held != null) {
            PortTable.release(space, held);
        }
        DeviceLease device = lease;
        if (device != null) {
            device.release();
        }
        channel.detach(this);
        if (isSynchronous) {
            channel.close();
        }
    }

    // ---------------------------------------------------------------- events

    /** Hears from the device, in the thread that drives it. */
    private final class ConnectionHandler implements CmConnection.Handler {
        @Override
        public void onReply(CmConnection open, ConnectionParameters parameters) {
            if (state.get() != State.CONNECTING) {
                return;
            }
            IdDataPath path = dataPath;
            if (path == null) {
                publish(CmEventType.CONNECT_RESPONSE, 0, parameters);
                return;
            }
            try {
                path.ready(open, ownParameters);
                open.establish();
                state.compareAndSet(State.CONNECTING, State.CONNECTED);
                publish(CmEventType.ESTABLISHED, 0, parameters);
            } catch (RdmaException e) {
                fail(CmEventType.CONNECT_ERROR, -e.errno().number(), null);
            }
        }

        @Override
        public void onEstablished() {
            state.compareAndSet(State.ACCEPTING, State.CONNECTED);
            publish(CmEventType.ESTABLISHED, 0, null);
        }

        @Override
        public void onRejected(int reason, byte[] privateData) {
            fail(CmEventType.REJECTED, reason, new ConnectionParameters().privateData(privateData));
        }

        @Override
        public void onUnreachable(Errno reason) {
            fail(CmEventType.UNREACHABLE, -reason.number(), null);
        }

        @Override
        public void onDisconnected() {
            end();
            if (isSynchronous) {
                // Nobody listens for events, but a thread may wait for a completion.
                failQueuePair();
            }
            publish(CmEventType.DISCONNECTED, 0, null);
        }

        @Override
        public void onTimewaitExit() {
            publish(CmEventType.TIMEWAIT_EXIT, 0, null);
        }

        private void fail(CmEventType type, int status, @Nullable ConnectionParameters details) {
            end();
            failQueuePair();
            publish(type, status, details);
        }

        private void failQueuePair() {
            IdDataPath path = dataPath;
            if (path != null) {
                try {
                    path.fail();
                } catch (RdmaException | IllegalStateException closing) {
                    // The application closes the queue pair at this moment: nothing is left to fail.
                }
            }
        }

        private void end() {
            state.getAndUpdate(now -> now == State.CLOSED ? now : State.ENDED);
        }
    }

    private void publish(CmEventType type, int status, @Nullable ConnectionParameters parameters) {
        if (state.get() != State.CLOSED) {
            channel.publish(new CmEvent(type, this, null, status, parameters,
                    unacknowledged::decrementAndGet));
        }
    }

    /** An event of this id was handed to the application. */
    void onEventTaken(CmEvent event) {
        unacknowledged.incrementAndGet();
        CmId listening = event.listenId();
        if (listening != null) {
            listening.waitingRequests.remove(this);
        }
    }

    /** Waits for the outcome of a step if this id is synchronous. */
    private void complete(String operation, CmEventType expected) throws RdmaException {
        if (!isSynchronous) {
            return;
        }
        CmEvent event = channel.awaitEvent();
        while (event.type() == CmEventType.TIMEWAIT_EXIT && expected != event.type()) {
            event.acknowledge();
            event = channel.awaitEvent();
        }
        CmEvent previous = lastEvent;
        if (previous != null) {
            previous.acknowledge();
        }
        lastEvent = event;
        if (event.type() != expected) {
            throw new RdmaException(errno(event), operation, event.description());
        }
    }

    private static Errno errno(CmEvent event) {
        return switch (event.type()) {
            case REJECTED -> Errno.ECONNREFUSED;
            case UNREACHABLE -> Errno.ETIMEDOUT;
            case DISCONNECTED -> Errno.ECONNRESET;
            default -> Errno.EIO;
        };
    }

    // ---------------------------------------------------------------- checks

    private void move(State from, State to, String operation) throws RdmaException {
        if (!state.compareAndSet(from, to)) {
            throw wrongState(operation);
        }
    }

    private RdmaException wrongState(String operation) {
        State now = Objects.requireNonNull(state.get());
        if (now == State.CLOSED) {
            throw new IllegalStateException("the id is closed");
        }
        return new RdmaException(Errno.EINVAL, operation, switch (now) {
            case IDLE -> "the id has no address yet: bind or resolve one first";
            case BOUND -> "the id is bound; it can listen or resolve an address";
            case ADDRESS_RESOLVED -> "the address is resolved; the route comes next";
            case ROUTE_RESOLVED -> "the route is resolved; connecting comes next";
            case LISTENING -> "the id listens; requests bring ids of their own";
            case REQUESTED -> "the id stands for a request: accept or reject it";
            case CONNECTING, ACCEPTING -> "the id is being connected";
            case CONNECTED -> "the id is connected";
            case ENDED -> "the connection has ended; make a new id";
            case CLOSED -> "the id is closed";
        });
    }

    private DeviceLease device() {
        if (state.get() == State.CLOSED) {
            throw new IllegalStateException("the id is closed");
        }
        DeviceLease device = lease;
        if (device == null) {
            throw new IllegalStateException(
                    "the id has no device yet: bind it to one address or resolve one first");
        }
        return device;
    }

    private IdDataPath path() {
        IdDataPath path = dataPath;
        if (path == null) {
            throw new IllegalStateException("the id has no queue pair: create one first");
        }
        return path;
    }

    private CmConnection connection(String operation) throws RdmaException {
        CmConnection open = connection;
        if (open == null) {
            throw wrongState(operation);
        }
        return open;
    }

    private int queuePairNumber(ConnectionParameters parameters) {
        IdDataPath path = dataPath;
        return path == null ? parameters.queuePairNumber() : path.queuePair.number();
    }

    private static void checkPrivateData(byte[] data, int maximum, String operation)
            throws RdmaException {
        if (data.length > maximum) {
            throw new RdmaException(Errno.EINVAL, operation, "private data has " + data.length
                    + " bytes; at most " + maximum + " fit");
        }
    }

    private static void checkResolved(InetSocketAddress address, String operation)
            throws RdmaException {
        if (address.isUnresolved()) {
            throw new RdmaException(Errno.EHOSTUNREACH, operation,
                    "unknown host '" + address.getHostString() + "'");
        }
    }

    private static String display(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + " port " + address.getPort();
    }
}
