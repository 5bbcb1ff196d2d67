// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One end of a connection, a listener, or one end of a datagram service. It plays the role of a socket.
 *
 * <p>C: {@code struct} {@index rdma_cm_id}. An id created with an {@link CmEventChannel} is asynchronous: each step
 * returns at once, and its outcome arrives as an event. An id created without one is synchronous: each step
 * waits for its outcome and throws on failure. When the peer of a synchronous id disconnects, the id's queue pair
 * fails, so that no thread waits in vain: outstanding requests are flushed, and then waits for completions end with
 * ENOTCONN ({@link #awaitReceiveCompletion}). The steps:
 *
 * <pre>
 * active:  resolveAddress → resolveRoute → createQueuePair → connect → …  → disconnect → close
 * passive: bindAddress → listen → (request) createQueuePair → accept → … → disconnect → close
 * </pre>
 *
 * <p>In {@link PortSpace#UDP} the same steps look up a datagram service. ESTABLISHED on the active side
 * says where to send ({@link CmEvent#datagram}). The passive side is finished when it has accepted. Neither
 * disconnects. {@link #joinMulticast} needs only an address, and comes before the route.
 *
 * <p>A step that is not possible in the id's state throws {@link RdmaException} with EINVAL, or with ENODEV once its device
 * was removed ({@link CmEventType#DEVICE_REMOVAL}); after {@link #close} it throws {@link RdmaClosedException}.
 *
 * <p>What asks or uses the device ({@link #context}, {@link #privateDataLimits}, {@link #protectionDomain}, registering,
 * {@link #createQueuePair}, {@link #createSharedReceiveQueue}, {@link #initQueuePairAttributes}, {@link #joinMulticast}) throws
 * {@link IllegalStateException} while the id has none: before an address is bound or resolved, and while it is bound to the
 * wildcard address. {@link #localAddress} and {@link #peerAddress} throw it before the id has such an address;
 * {@link #queuePair}, posting and waiting for completions throw it before the id has a queue pair.
 *
 * <p>Thread safe; if several threads take steps of one id at once, its state refuses all but one. Source: Linux
 * man pages rdma_cm(7) and rdma_create_id(3).
 *
 * @since 0.1.0
 */
public final class CmId implements QueuePairOperations, AutoCloseable {
    /**
     * Each queue pair of an id accepts at least this many bytes of inline data in a request. So the short forms of
     * {@link QueuePairOperations} can send small messages from memory without a region.
     */
    public static final int INLINE_DATA = OwnQueuePair.INLINE_DATA;

    /** The default of {@code net.rdma_ucm.max_backlog}. */
    private static final int MOST_WAITING = 1024;
    private static final Duration ENDPOINT_TIMEOUT = Duration.ofSeconds(2);

    private final IdExchange.Kind kind;
    private final IdStateMachine states = new IdStateMachine();
    private final IdOptions options;
    private final IdChannel events;
    private final IdAddresses addresses;
    private final IdRoute route;
    private final IdQueuePair own;
    private final IdExchange exchange;
    private final IdGroups groups;
    private final ListenBacklog backlog;
    private final NameResolver resolver;
    /** The queue pair that each request of a listener gets, null for none. */
    private volatile @Nullable QueuePairTemplate template;
    private volatile @Nullable Object userContext;
    private volatile @Nullable CmId listener;
    /** A lock, not a monitor: the last id of a device closes it, which may take long. */
    private final ReentrantLock closing = new ReentrantLock();
    /** Guarded by {@link #closing}. */
    private boolean isFreed;

    /** Each part knows the parts above it here, but not the id, which passes in the methods they call. */
    private CmId(@Nullable CmEventChannel channel, PortSpace space, QueuePairType type)
            throws RdmaException {
        AddressInfo.requireFitting(space, type);
        kind = new IdExchange.Kind(space, type);
        options = new IdOptions(states, type);
        events = new IdChannel(this, states, channel);
        addresses = new IdAddresses(space, states, options, events, this::onDeviceGone);
        route = new IdRoute(states, events, addresses);
        own = new IdQueuePair(space, type, addresses);
        exchange = type == QueuePairType.UD
                ? new IdDatagram(kind, states, events, addresses, options, own)
                : new IdConnection(kind, states, events, addresses, options, own);
        groups = new IdGroups(states, events, addresses, options, own);
        backlog = new ListenBacklog(kind, states, events, addresses, options, this::requested);
        resolver = new NameResolver(events);
    }

    private void onDeviceGone() {
        own.failQuietly();
    }

    /**
     * {@return a new asynchronous id} C: {@index rdma_create_id}.
     *
     * @param channel where its events arrive
     * @param space what kind of service
     * @throws RdmaException EBADF if the channel is closed
     */
    public static CmId create(CmEventChannel channel, PortSpace space) throws RdmaException {
        return new CmId(channel, space, space.usualType());
    }

    /**
     * {@return a new synchronous id} C: {@index rdma_create_id} without a channel.
     *
     * @param space what kind of service
     * @throws RdmaException as {@link #create(CmEventChannel, PortSpace)}; there is no channel that could be closed
     */
    public static CmId create(PortSpace space) throws RdmaException {
        return new CmId(null, space, space.usualType());
    }

    /**
     * {@return a new synchronous id that is ready to connect or to listen, without a queue pair} C: {@index rdma_create_ep}
     * with a {@code qp_init_attr} of {@code NULL}.
     *
     * @param info as {@link AddressInfo#resolve} has found it
     * @throws RdmaException as {@link #createEndpoint(AddressInfo, QueuePairInitAttributes)}
     */
    public static CmId createEndpoint(AddressInfo info) throws RdmaException {
        return endpoint(info, null, ENDPOINT_TIMEOUT);
    }

    /**
     * {@return a new synchronous id that is ready to connect or to listen} The address and route of an active one are
     * resolved, each within two seconds. A passive one is bound; each id of {@link #awaitRequest} then has a queue pair. To
     * use it asynchronously, {@link #migrate} it. C: {@index rdma_create_ep}; {@index rdma_destroy_ep} is {@link #close}.
     *
     * @param info as {@link AddressInfo#resolve} has found it
     * @param attributes of the queue pairs; the address information determines their type
     * @throws RdmaException EINVAL for a type of queue pair that the
     *         port space does not allow, or if the address information lacks the address; and as
     *         {@link #bindAddress} for a passive one, as {@link #resolveAddress}, {@link #resolveRoute} and
     *         {@link #createQueuePair} for an active one
     */
    public static CmId createEndpoint(AddressInfo info, QueuePairInitAttributes attributes)
            throws RdmaException {
        return createEndpoint(info, attributes, ENDPOINT_TIMEOUT);
    }

    /**
     * The same with another time to resolve.
     *
     * @param info as {@link AddressInfo#resolve} has found it
     * @param attributes of the queue pair
     * @param timeout for the address, and once more for the route
     * @return a new synchronous id
     * @throws RdmaException as {@link #createEndpoint(AddressInfo, QueuePairInitAttributes)}
     */
    public static CmId createEndpoint(AddressInfo info, QueuePairInitAttributes attributes,
            Duration timeout) throws RdmaException {
        return endpoint(info,
                QueuePairTemplate.of(null, attributes, info.queuePairType()), timeout);
    }

    /**
     * The same with queue pairs in a protection domain of the program's.
     *
     * @param info as {@link AddressInfo#resolve} has found it
     * @param domain of the queue pairs, of the device that the addresses lead to
     * @param attributes of the queue pair
     * @param timeout for the address, and once more for the route
     * @return a new synchronous id
     * @throws RdmaException as {@link #createEndpoint(AddressInfo, QueuePairInitAttributes)}
     */
    public static CmId createEndpoint(AddressInfo info, ProtectionDomain domain,
            QueuePairInitAttributes attributes, Duration timeout) throws RdmaException {
        return endpoint(info,
                QueuePairTemplate.of(domain, attributes, info.queuePairType()), timeout);
    }

    private static CmId endpoint(AddressInfo info, @Nullable QueuePairTemplate wanted,
            Duration timeout) throws RdmaException {
        CmId id = new CmId(null, info.portSpace(), info.queuePairType());
        try {
            if (info.isPassive()) {
                id.bindAddress(info.sourceToBind());
                id.template = wanted;
            } else {
                id.resolveAddress(info.source(), info.destinationToResolve(), timeout);
                id.resolveRoute(timeout);
                if (wanted != null) {
                    id.createQueuePair(wanted);
                }
            }
            return id;
        } catch (RdmaException | RuntimeException e) {
            id.close();
            throw e;
        }
    }

    // ---------------------------------------------------------------- steps

    /** What a step does. */
    private interface Step {
        void take() throws RdmaException;
    }

    /** What a step makes. */
    private interface Making<T> {
        T make() throws RdmaException;
    }

    private void step(Step step) throws RdmaException {
        made(() -> {
            step.take();
            return this;
        });
    }

    /**
     * Takes a step. {@link #close} may overtake it: then the parts of the id give back what they have taken since, and the step
     * fails because the id is closed, whatever it stumbled over first.
     */
    private <T> T made(Making<T> making) throws RdmaException {
        try {
            return making.make();
        } catch (RdmaException | RuntimeException e) {
            if (states.is(IdState.CLOSED)) {
                throw IdStateMachine.closed(e);
            }
            throw e;
        }
    }

    // ---------------------------------------------------------------- properties

    /**
     * {@return the channel of its events; a synchronous id has a private one} C:
     * {@code id->}{@index channel of struct rdma_cm_id}.
     */
    public CmEventChannel channel() {
        return events.channel();
    }

    /** {@return its port space} C: {@code id->}{@index ps of struct rdma_cm_id}. */
    public PortSpace portSpace() {
        return kind.space();
    }

    /** {@return the type of its queue pair} C: {@code id->}{@index qp_type of struct rdma_cm_id}. */
    public QueuePairType queuePairType() {
        return kind.type();
    }

    /**
     * {@return the object attached by {@link #userContext(Object)}, or null} C:
     * {@code id->}{@index context of struct rdma_cm_id}.
     */
    public @Nullable Object userContext() {
        return userContext;
    }

    /** Attaches an object of the caller ({@code id->context}). */
    public void userContext(@Nullable Object value) {
        userContext = value;
    }

    /**
     * {@return the device it uses} C: {@code id->}{@index verbs of struct rdma_cm_id}.
     *
     * @throws IllegalStateException while the id has no device: before an address is bound or resolved, and while it is bound
     *         to the wildcard address
     */
    public DeviceContext context() {
        return addresses.device().context();
    }

    /**
     * {@return the port of the device it uses, 0 before it has a device} C:
     * {@code id->}{@index port_num of struct rdma_cm_id}.
     */
    public int devicePort() {
        return addresses.devicePort();
    }

    @Override
    public ProtectionDomain protectionDomain() throws RdmaException {
        states.requireUsable();
        QueuePair queuePair = own.queuePair();
        return queuePair != null
                ? queuePair.protectionDomain()
                : made(() -> addresses.device().defaultDomain());
    }

    @Override
    public QueuePair queuePair() {
        QueuePair queuePair = own.queuePair();
        if (queuePair == null) {
            throw new IllegalStateException(states.is(IdState.CLOSED)
                    ? IdState.CLOSED.hint()
                    : "the id has no queue pair: create one first");
        }
        return queuePair;
    }

    @Override
    public QueuePair requireQueuePair() throws RdmaException {
        states.requireUsable();
        QueuePair queuePair = own.queuePair();
        if (queuePair == null && own.wasClosed()) {
            throw RdmaClosedException.of("queue pair");
        }
        return queuePair == null ? queuePair() : queuePair;
    }

    @Override
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return own.shared();
    }

    /**
     * {@return how much private data requests and answers of the id can have, in bytes} It depends on the transport of
     * the device.
     *
     * @throws RdmaException EOPNOTSUPP for an id of datagrams if its device does not support datagrams
     * @throws IllegalStateException while the id has no device: before an address is bound or resolved, and while it is bound
     *         to the wildcard address
     */
    public PrivateDataLimits privateDataLimits() throws RdmaException {
        return made(exchange::privateDataLimits);
    }

    /**
     * {@return the local address and port} C: {@index rdma_get_local_addr}.
     *
     * @throws IllegalStateException before an address is bound or resolved
     */
    public InetSocketAddress localAddress() {
        return addresses.local("local address");
    }

    /**
     * {@return the peer's address and port} C: {@index rdma_get_peer_addr}.
     *
     * @throws IllegalStateException before an address is resolved, and for a listener
     */
    public InetSocketAddress peerAddress() {
        return addresses.peer("peer address");
    }

    /** {@return the local port, 0 before it has one} C: {@index rdma_get_src_port}. */
    public int localPort() {
        InetSocketAddress address = addresses.local();
        return address == null ? 0 : address.getPort();
    }

    /** {@return the peer's port, 0 before the id has a destination} C: {@index rdma_get_dst_port}. */
    public int peerPort() {
        InetSocketAddress address = addresses.peer();
        return address == null ? 0 : address.getPort();
    }

    /** {@return the addresses and port at which a listener can be reached, each once, also if several devices have it} */
    public List<InetSocketAddress> listenAddresses() {
        return backlog.addresses();
    }

    /**
     * {@return the event that ended the last step of a synchronous id, or null} C:
     * {@code id->}{@index event of struct rdma_cm_id}.
     */
    public @Nullable CmEvent event() {
        return events.last();
    }

    // ---------------------------------------------------------------- options

    /**
     * Sets the device of the id: its name, or the part before {@code _} that several names begin with ({@code iwarp}).
     * It must be set before the id has an address. Without it, the property {@code rdma4j.device} applies to all ids.
     * Without both, the id takes the best device that serves the address: native before software, InfiniBand and RoCE
     * before iWARP, then by name, whichever devices are open. If that one has just found no listener at the destination and
     * another one sees one there, the id takes that ({@link OtherDeviceException}).
     *
     * @param name the whole name, or the part before {@code _}
     * @throws RdmaException ENODEV if there is no such device and none may come ({@link RdmaDevices#absent}), naming the
     *         present ones; EOPNOTSUPP if ids cannot use it on this machine, saying why; EINVAL once the id has an address
     */
    public void device(String name) throws RdmaException {
        options.device(name);
    }

    /**
     * Does without the devices of a transport, present and later ones: a listener at the wildcard address does not listen on
     * them, and no address is served by them. It must be set before the id has an address. Ports of iWARP are those of TCP, so a program that
     * listens at the same port over TCP excludes {@link TransportType#IWARP}. There is nothing like it in C.
     *
     * @param transport of the devices; null for none, as at the beginning
     * @throws RdmaException EINVAL once the id has an address. If there are only such devices, binding, listening or resolving the
     *         address says ENODEV
     */
    public void excludedTransport(@Nullable TransportType transport) throws RdmaException {
        options.excludedTransport(transport);
    }

    /**
     * Sets the IP type of service or traffic class of the packets, 0 to 255; before the route is resolved.
     * The peer uses it too. C: {@index rdma_set_option} with {@index RDMA_OPTION_ID_TOS}.
     *
     * @throws RdmaException EBADF if the id is closed
     */
    public void typeOfService(int value) throws RdmaException {
        options.typeOfService(value);
    }

    /**
     * Sets whether the id may share its port with other ids for which this is set. Only one of them can listen.
     * C: {@index RDMA_OPTION_ID_REUSEADDR}.
     *
     * @throws RdmaException EINVAL to set it once the id listens, or to clear it once the id is bound
     */
    public void reuseAddress(boolean value) throws RdmaException {
        options.reuseAddress(value);
        addresses.onOptionsChanged();
    }

    /**
     * Sets whether the wildcard address means only the addresses of its own IP version. By default it means those
     * of both. C: {@index RDMA_OPTION_ID_AFONLY}.
     *
     * @throws RdmaException EINVAL unless the id is new or bound
     */
    public void addressFamilyOnly(boolean value) throws RdmaException {
        options.addressFamilyOnly(value);
        addresses.onOptionsChanged();
    }

    /**
     * Sets the acknowledgement time-out of the queue pair; before connecting or accepting. C:
     * {@index RDMA_OPTION_ID_ACK_TIMEOUT}.
     *
     * @param exponent the time-out is 4.096 us times 2 to this power, 1 to 31; 0 for no time-out
     * @throws RdmaException EINVAL if the id's queue pair is not of type RC
     */
    public void ackTimeoutExponent(int exponent) throws RdmaException {
        options.ackTimeoutExponent(exponent);
    }

    /**
     * Sets the path MTU of the connection; before connecting. Without it the connection gets the largest that both sides and
     * the network between them can have, as far as their systems know. Devices whose kernel decides it ignore it, and iWARP,
     * where TCP finds it. C: {@index RDMA_OPTION_IB_PATH}, {@code struct ibv_path_record}, {@code mtu}.
     *
     * @param value the path MTU, null for the largest; {@link #connect} fails with EINVAL if it is larger than this side's
     *        system knows to pass, and the peer rejects one that it cannot have
     * @throws RdmaException EBADF if the id is closed
     */
    public void pathMtu(@Nullable Mtu value) throws RdmaException {
        options.pathMtu(value);
    }

    // ---------------------------------------------------------------- addresses and routes

    /**
     * Binds the id to a local address and port. C: {@index rdma_bind_addr}.
     *
     * @param address an address of a device, or the wildcard address for all devices; port 0 for any
     * @throws RdmaException ENODEV if there is no device, EOPNOTSUPP if ids can use none on this machine, EADDRNOTAVAIL if
     *         no device has the address, EADDRINUSE if port or address are in use, EHOSTUNREACH for an unresolved
     *         address, EINVAL unless the id is new; over iWARP EMFILE or ENFILE if there can be no more sockets
     */
    public void bindAddress(InetSocketAddress address) throws RdmaException {
        step(() -> route.bind(address));
    }

    /**
     * Finds device and local address for a destination; ends with ADDR_RESOLVED or ADDR_ERROR. C:
     * {@index rdma_resolve_addr}.
     *
     * @param destination the peer's address, or a multicast address
     * @param timeout how long to try
     * @throws RdmaException EHOSTUNREACH for an unresolved destination, EINVAL if the id has resolved an address
     *         already or is in another step, ENODEV if its device was removed; a synchronous id also ENODEV if
     *         there is no device or the route leaves by an interface without one, EOPNOTSUPP if ids can use no device on
     *         this machine, ENETUNREACH without a route, EADDRINUSE or EADDRNOTAVAIL if port or local address are not
     *         available or of another IP version than the destination, and EINTR when interrupted.
     *         An asynchronous id reports those as ADDR_ERROR
     */
    public void resolveAddress(InetSocketAddress destination, Duration timeout)
            throws RdmaException {
        resolveAddress(null, destination, timeout);
    }

    /**
     * Finds the device for a destination from a given local address; ends with ADDR_RESOLVED or ADDR_ERROR. C:
     * {@index rdma_resolve_addr} with a source.
     *
     * @param source the local address, port 0 for any; null to let the route decide
     * @param destination the peer, or a group
     * @param timeout how long to wait at most
     * @throws RdmaException as {@link #resolveAddress(InetSocketAddress, Duration)}, and as {@link #bindAddress} for the local address
     */
    public void resolveAddress(@Nullable InetSocketAddress source, InetSocketAddress destination,
            Duration timeout) throws RdmaException {
        step(() -> route.resolveAddress(source, destination, timeout));
    }

    /**
     * Finds the path to the resolved address; ends with ROUTE_RESOLVED or ROUTE_ERROR. C:
     * {@index rdma_resolve_route}.
     *
     * @param timeout how long to try
     * @throws RdmaException EINVAL unless the address is resolved, ENODEV if the device was removed; a
     *         synchronous id also ENETUNREACH if the port is down or the device has lost the local address, and
     *         EINTR when interrupted. An asynchronous id reports ENETUNREACH as ROUTE_ERROR
     */
    public void resolveRoute(Duration timeout) throws RdmaException {
        step(() -> route.resolveRoute(timeout));
    }

    /**
     * Looks up a name and a service in the background; ends with ADDRINFO_RESOLVED or ADDRINFO_ERROR. C:
     * {@index rdma_resolve_addrinfo}.
     *
     * @param node as for {@link AddressInfo#resolve}
     * @param service as for {@link AddressInfo#resolve}
     * @param hints what is looked for
     * @throws RdmaException EINVAL for hints that contradict each other; a
     *         synchronous id also as {@link AddressInfo#resolve}, and EINTR when interrupted
     */
    public void resolveAddressInfo(@Nullable String node, @Nullable String service,
            AddressInfo.Hints hints) throws RdmaException {
        states.requireUsable();
        step(() -> resolver.start(node, service, hints));
    }

    /**
     * {@return what {@link #resolveAddressInfo} found, the best first} C: {@index rdma_query_addrinfo}.
     *
     * @throws RdmaException ENODATA before ADDRINFO_RESOLVED
     */
    public List<AddressInfo> queryAddressInfo() throws RdmaException {
        states.requireUsable();
        return resolver.found();
    }

    // ---------------------------------------------------------------- queue pair

    /**
     * Creates the id's queue pair with the sizes of new {@link QueuePairInitAttributes}. C: {@index rdma_create_qp} with a
     * {@index pd of struct rdma_cm_id} of {@code NULL}.
     *
     * @return the queue pair, which the id closes, or {@link #closeQueuePair}
     * @throws RdmaException as {@link #createQueuePair(QueuePairInitAttributes)}
     * @throws IllegalStateException while the id has no device: before an address is bound or resolved, and while it is bound
     *         to the wildcard address
     */
    public QueuePair createQueuePair() throws RdmaException {
        return createQueuePair(new QueuePairInitAttributes());
    }

    /**
     * Creates the id's queue pair, in the protection domain that the device's ids share. Receives can be posted to it at
     * once; connecting and accepting bring it to RTS. One of type UD can also send at once. C: {@index rdma_create_qp},
     * {@index rdma_create_qp_ex}, with a {@index pd of struct rdma_cm_id} of {@code NULL}.
     *
     * @param attributes its attributes. Its type is that of the id ({@link #queuePairType}). A missing completion queue is
     *        created, with a channel. If they name no shared receive queue, that of the id is used, if it has one. Inline
     *        data is raised to {@link #INLINE_DATA} bytes if it is less. Its user context is this id if none is set, so
     *        {@link io.rdma4j.verbs.CompletionQueue#queuePair} and {@link QueuePair#userContext} lead from a completion to the id
     * @return the queue pair, which the id closes, or {@link #closeQueuePair}
     * @throws RdmaException EINVAL if the id has a queue pair, if a type was set that is not that of the id, for a
     *         domain of another device context, for a listener of connections, and when the connection has ended; ENODEV if
     *         the device was removed; ENOMEM and others as from {@link ProtectionDomain#createQueuePair}
     * @throws IllegalStateException while the id has no device: before an address is bound or resolved, and while it is bound
     *         to the wildcard address
     */
    public QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException {
        return createQueuePair(new QueuePairTemplate(null, attributes));
    }

    /**
     * Creates the id's queue pair in a protection domain of the program's. C: {@index rdma_create_qp},
     * {@index rdma_create_qp_ex}.
     *
     * @param domain a domain of {@link #context}
     * @param attributes of the queue pair
     * @return the queue pair, which the id closes, or {@link #closeQueuePair}
     * @throws RdmaException as {@link #createQueuePair(QueuePairInitAttributes)}
     * @throws IllegalStateException while the id has no device: before an address is bound or resolved, and while it is bound
     *         to the wildcard address
     */
    public QueuePair createQueuePair(ProtectionDomain domain, QueuePairInitAttributes attributes)
            throws RdmaException {
        return createQueuePair(new QueuePairTemplate(domain, attributes));
    }

    private QueuePair createQueuePair(QueuePairTemplate wanted) throws RdmaException {
        return made(() -> {
            addresses.device();
            QueuePairInitAttributes attributes = ofThis(wanted.attributes());
            own.checkCreate(attributes);
            exchange.requireUseForQueuePair("create queue pair");
            return own.create(wanted.domain(), attributes, exchange.bringUpOfNew());
        });
    }

    /** What is found by a completion ({@code CompletionQueue.queuePair}) leads on to the id. */
    private QueuePairInitAttributes ofThis(QueuePairInitAttributes wanted) {
        QueuePairInitAttributes attributes = new QueuePairInitAttributes(wanted);
        return attributes.userContext() == null ? attributes.userContext(this) : attributes;
    }

    /**
     * Posts the smallest request that the peer's device must answer by itself, to find out whether the peer is still there. It is
     * signaled, and completes with success when the answer has come, or after the connection's acknowledgement time-outs with
     * {@link io.rdma4j.verbs.WorkCompletionStatus#RETRY_EXCEEDED_ERROR}, when the queue pair has failed; over iWARP, where TCP
     * decides that, perhaps much later. So a program that keeps connections alive posts one where nothing has come for a
     * while, and gives up a peer whose answer is late. Neither this side's memory nor the peer's, none of its receives and none
     * of its threads take part, but its process must run. No counterpart in C: over InfiniBand and RoCE it is a WRITE of no
     * bytes, over iWARP a READ of no bytes, since a WRITE is not answered there.
     *
     * @param requestId of its completion, among those of the program's sends
     * @throws RdmaException EINVAL in a state that takes no sends, for an id of datagrams, which nobody answers, and over iWARP for
     *         a connection without READs ({@link ConnectionParameters#initiatorDepth} 0); ENOMEM when the queue is full
     */
    public void postProbe(long requestId) throws RdmaException {
        QueuePair queuePair = requireQueuePair();
        if (kind.type() == QueuePairType.UD) {
            throw new RdmaException(Errno.EINVAL, "post probe",
                    "datagrams are not answered; probe a service by a message of the program's");
        }
        SendWorkRequest probe = new SendWorkRequest().id(requestId).set(SendFlag.SIGNALED);
        queuePair.postSend(switch (addresses.device().context().answeredOperation()) {
            case RDMA_READ -> probe.read(0, 0);
            default -> probe.write(0, 0);
        });
    }

    /**
     * Closes the id's queue pair and the completion queues that were created with it, and detaches it from multicast
     * groups. It does nothing without a queue pair. Repeat a call that failed. C: {@index rdma_destroy_qp}.
     *
     * @throws RdmaException EBUSY while the queue pair or its completion queues have unacknowledged events, or while
     *         other queue pairs use those queues
     */
    public void closeQueuePair() throws RdmaException {
        groups.detachAll();
        own.close();
    }

    /**
     * Creates a shared receive queue for the queue pairs of this id, in the protection domain that the device's ids share.
     * C: {@index rdma_create_srq} and {@index rdma_create_srq_ex} with a {@index pd of struct rdma_cm_id} of {@code NULL}.
     *
     * @param attributes its user context is this id if none is set
     * @return the shared receive queue, which the id closes, or {@link #closeSharedReceiveQueue}
     * @throws RdmaException EINVAL if the id has one already, if the domain is of another device context, for type XRC
     *         without XRC domain or completion queue, or naming the limit for a size out of range; EOPNOTSUPP for a type
     *         that the device does not support; ENOMEM naming the limit when the device has as many queues as it can have
     * @throws IllegalStateException while the id has no device: before an address is bound or resolved, and while it is bound
     *         to the wildcard address
     */
    public SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes)
            throws RdmaException {
        return made(() -> own.createShared(null, ofThis(attributes)));
    }

    /**
     * Creates a shared receive queue for the queue pairs of this id. C: {@index rdma_create_srq},
     * {@index rdma_create_srq_ex}.
     *
     * @param domain a domain of {@link #context}
     * @param attributes its user context is this id if none is set
     * @return the shared receive queue, which the id closes, or {@link #closeSharedReceiveQueue}
     * @throws RdmaException as {@link #createSharedReceiveQueue(SharedReceiveQueueInitAttributes)}
     * @throws IllegalStateException while the id has no device: before an address is bound or resolved, and while it is bound
     *         to the wildcard address
     */
    public SharedReceiveQueue createSharedReceiveQueue(ProtectionDomain domain,
            SharedReceiveQueueInitAttributes attributes) throws RdmaException {
        return made(() -> own.createShared(domain, ofThis(attributes)));
    }

    private SharedReceiveQueueInitAttributes ofThis(SharedReceiveQueueInitAttributes wanted) {
        SharedReceiveQueueInitAttributes attributes = new SharedReceiveQueueInitAttributes(wanted);
        return attributes.userContext() == null ? attributes.userContext(this) : attributes;
    }

    /**
     * Closes the id's shared receive queue, after its queue pair. C: {@index rdma_destroy_srq}.
     *
     * @throws RdmaException EBUSY while queue pairs use it or it has unacknowledged events
     */
    public void closeSharedReceiveQueue() throws RdmaException {
        own.closeShared();
    }

    /**
     * {@return the attributes that move a queue pair of the application to a state, including the
     * state} INIT is possible once the id has an address; RTR and RTS after CONNECT_RESPONSE on the
     * active side, after CONNECT_REQUEST on the passive side. C: {@index rdma_init_qp_attr}.
     *
     * @param target the state to move to
     * @throws RdmaException EINVAL for another state, before the peer's parameters are known, for a listener of connections,
     *         and when the connection has ended; ENODEV if the device was removed
     * @throws IllegalStateException while the id has no device: before an address is bound or resolved, and while it is bound
     *         to the wildcard address
     */
    public QueuePairAttributes initQueuePairAttributes(QueuePairState target) throws RdmaException {
        return made(() -> {
            addresses.device();
            exchange.requireUseForQueuePair("initialize queue pair attributes");
            return exchange.bringUp().attributes(target);
        });
    }

    // ---------------------------------------------------------------- listening

    /**
     * Starts to listen for connection requests. Each arrives as CONNECT_REQUEST with a new id; a
     * synchronous id returns them from {@link #awaitRequest}. C: {@index rdma_listen}.
     *
     * <p>At the wildcard address it listens on every device that can be opened, and on those that come later, such as when
     * an interface comes up or an address becomes usable: {@link #listenAddresses} says where it listens at the moment.
     * It also begins without any device if the machine has one that is only absent ({@link RdmaDevices#absent}), and
     * outlives its last one. The log has a line for a device or an address where it cannot listen, and one when it does.
     *
     * @param backlog how many requests may wait for an answer; further ones are rejected. 0 means as many as there may be,
     *        which are 1024 as under Linux; more are taken as said. A request that its peer withdraws counts until its id is
     *        closed.
     * @throws RdmaException EADDRINUSE if another id listens there, ENODEV if no device can be opened, now or later, EOPNOTSUPP if the
     *         device does not support the port space, as iWARP only TCP; EINVAL unless the id is new or bound; over
     *         iWARP EMFILE or ENFILE if there can be no more sockets
     */
    public void listen(int backlog) throws RdmaException {
        states.requireUsable();
        if (backlog < 0) {
            throw new IllegalArgumentException("a backlog cannot be " + backlog);
        }
        if (states.is(IdState.IDLE)) {
            bindAddress(new InetSocketAddress(0));
        }
        step(() -> this.backlog.listen(backlog == 0 ? MOST_WAITING : backlog));
    }

    /** {@return a new id for a request that has reached this one; it has the same channel, or is synchronous as well} */
    private ListenBacklog.Incoming requested() {
        try {
            CmId id = new CmId(events.isSynchronous() ? null : events.channel(), kind.space(),
                    kind.type());
            id.userContext = userContext;
            id.listener = this;
            return new ListenBacklog.Incoming(id, id.states, id.events, id.addresses, id.exchange);
        } catch (RdmaException e) {
            throw new IllegalStateException("a listening id keeps its channel open", e);
        }
    }

    /**
     * Waits for the next connection request of a synchronous listener. C: {@index rdma_get_request}, which fails with EINVAL
     * when another event comes. Here the wait goes on after ADDR_CHANGE, for so does the listener, and after an event that this
     * version does not know.
     *
     * @return a synchronous id; {@link #event} holds the request; from a listener made by
     *         {@link #createEndpoint} with attributes it has a queue pair
     * @throws RdmaException EINVAL unless the id is synchronous and listens, and after {@link #writeEvent}; ENODEV if the device
     *         was removed, EINTR when interrupted, EBADF when the id is closed; as {@link #createQueuePair} if it creates one
     */
    public CmId awaitRequest() throws RdmaException {
        states.requireUsable();
        backlog.requireSynchronousListener();
        CmEventChannel own = channel();
        CmEvent event = own.awaitEvent();
        while (events.passOver(event)) {
            event = own.awaitEvent();
        }
        return taken(event);
    }

    /**
     * {@return the next connection request of a synchronous listener, or null if none comes in time}
     *
     * @param timeout how long to wait at most
     * @throws RdmaException as {@link #awaitRequest}
     */
    public @Nullable CmId pollRequest(Duration timeout) throws RdmaException {
        states.requireUsable();
        backlog.requireSynchronousListener();
        long startNs = System.nanoTime();
        CmEventChannel own = channel();
        CmEvent event = own.pollEvent(timeout);
        while (event != null && events.passOver(event)) {
            event = own.pollEvent(timeout.minusNanos(System.nanoTime() - startNs));
        }
        return event == null ? null : taken(event);
    }

    private CmId taken(CmEvent event) throws RdmaException {
        if (event.type() != CmEventType.CONNECT_REQUEST) {
            events.remember(event);
            throw new RdmaException(
                    event.type() == CmEventType.DEVICE_REMOVAL ? Errno.ENODEV : Errno.EINVAL,
                    "await request", event.description());
        }
        CmId requested = event.id();
        requested.events.remember(event);
        QueuePairTemplate wanted = template;
        if (wanted != null) {
            try {
                requested.createQueuePair(wanted);
            } catch (RdmaException | RuntimeException e) {
                requested.close();
                throw e;
            }
        }
        return requested;
    }

    // ---------------------------------------------------------------- connecting

    /**
     * Connects with the parameters of a new {@link ConnectionParameters}, without private data. C: {@index rdma_connect}
     * with null.
     *
     * @throws RdmaException as {@link #connect(ConnectionParameters)}
     */
    public void connect() throws RdmaException {
        connect(new ConnectionParameters());
    }

    /**
     * Requests a connection to the resolved destination. C: {@index rdma_connect}. The outcome is one of these events:
     *
     * <ul>
     * <li>ESTABLISHED: the peer has accepted.
     * <li>CONNECT_RESPONSE: the peer has accepted, and the id has no queue pair of its own. iWARP reports ESTABLISHED
     * in this case, too.
     * <li>REJECTED: the peer has refused.
     * <li>UNREACHABLE: the peer has not answered within the connection manager's time-out and retries, or the system has
     * reported earlier that it cannot be reached; the status says which. A peer whose application is slow may extend the time
     * (MRA).
     * <li>CONNECT_ERROR: this side failed after the peer had accepted.
     * </ul>
     *
     * <p>If an id that names no device is rejected because no program listens, or is not answered, and another device of this
     * machine sees a listener there, the failure is an {@link OtherDeviceException}: whoever resolves the address again takes
     * that device. Such a request ends after four seconds without an answer.
     *
     * <p>For a datagram service the call looks the service up: ESTABLISHED, or UNREACHABLE with a status above 0 if the
     * service refused. A synchronous id waits for the outcome.
     *
     * @param parameters what is offered to the peer
     * @throws RdmaException EINVAL unless the route is resolved; EINVAL if the id has no queue pair and the parameters name
     *         none, if the private data is too long, if the device cannot have that many READs
     *         and atomics, or while another thread takes a step of this synchronous id; ENODEV if the device was removed;
     *         EOPNOTSUPP if the device does not support the port space, as iWARP only TCP; over iWARP EMFILE or ENFILE if
     *         there can be no more sockets, then it may be tried again; a synchronous id
     *         also as {@link CmEvent#failure} says, and EINTR when interrupted
     */
    public void connect(ConnectionParameters parameters) throws RdmaException {
        step(() -> exchange.connect(parameters));
    }

    /**
     * Accepts the request of this id. The outcome is ESTABLISHED, UNREACHABLE or CONNECT_ERROR; for a
     * datagram service no event follows. C: {@index rdma_accept}.
     *
     * @param parameters what is offered to the peer
     * @throws RdmaException EINVAL unless the id has a request to answer, which it no longer has after REJECTED;
     *         ECONNRESET if the peer withdraws at this moment; for a datagram service of a native device also EOPNOTSUPP
     *         for a Q_Key that the kernel cannot send; otherwise as for {@link #connect}
     */
    public void accept(ConnectionParameters parameters) throws RdmaException {
        step(() -> exchange.accept(parameters));
    }

    /**
     * Accepts with the parameters that the peer requested, and without private data. C: {@index rdma_accept} with NULL.
     *
     * @throws RdmaException as {@link #accept(ConnectionParameters)}
     */
    public void accept() throws RdmaException {
        step(() -> exchange.accept(null));
    }

    /**
     * Rejects the request of this id, or a CONNECT_RESPONSE, and sends bytes to the peer. C:
     * {@index rdma_reject}.
     *
     * @param privateData bytes for the peer, at most {@link #privateDataLimits} allows
     * @throws RdmaException EINVAL if the private data is too long or there is nothing to reject, for example after
     *         REJECTED; ECONNRESET if the peer withdraws at this moment
     */
    public void reject(byte[] privateData) throws RdmaException {
        step(() -> exchange.reject(privateData));
    }

    /**
     * Confirms a CONNECT_RESPONSE once the application's own queue pair is ready. C:
     * {@index rdma_establish}.
     *
     * @throws RdmaException EINVAL before CONNECT_RESPONSE, after the connection was established, and for an
     *         id with a queue pair of its own
     */
    public void establish() throws RdmaException {
        step(() -> exchange.establish());
    }

    /**
     * Tells the connection manager that a first message has arrived at the queue pair
     * ({@link AsyncEventType#COMMUNICATION_ESTABLISHED}). So the connection is established although the peer's confirmation
     * may be lost; ESTABLISHED follows. C: {@index rdma_notify}.
     *
     * @throws RdmaException EISCONN if the connection is established already, which may be ignored; EINVAL before it is
     *         accepted and when it has ended; ECONNRESET if the peer ends it at this moment
     */
    public void communicationEstablished() throws RdmaException {
        step(() -> exchange.communicationEstablished());
    }

    /**
     * Ends the connection: the queue pair goes to state ERR, and both sides get DISCONNECTED. If the peer has
     * disconnected already, only the queue pair changes. C: {@index rdma_disconnect}.
     *
     * @throws RdmaException EINVAL for a datagram service, if the id neither is nor was connected, or while
     *         another thread takes a step of this synchronous id; EINTR when a synchronous id is interrupted
     */
    public void disconnect() throws RdmaException {
        step(() -> exchange.disconnect());
    }

    // ---------------------------------------------------------------- multicast

    /**
     * Joins a multicast group to send to it and to receive from it, without an object for the event.
     *
     * @param group a multicast address
     * @throws RdmaException as {@link #joinMulticast(InetAddress, Object)}
     * @throws IllegalStateException while the id has no device: before an address is bound or resolved, and while it is bound
     *         to the wildcard address
     */
    public void joinMulticast(InetAddress group) throws RdmaException {
        joinMulticast(group, null);
    }

    /**
     * Joins a multicast group to send to it and to receive from it. The outcome is MULTICAST_JOIN, which says
     * where to send, or MULTICAST_ERROR. The id's queue pair, if it has one, is attached when the group is
     * joined. A software device has joined when this returns; a native device asks the kernel and joins later. C:
     * {@index rdma_join_multicast}.
     *
     * @param group an IPv4 or IPv6 multicast address, of the version of the id's address
     * @param context an object for {@link CmEvent#joinContext}
     * @throws RdmaException EINVAL unless the id is of datagrams and bound, or has resolved its address and no more, as Linux
     *         has it; for an address that is not a multicast group or of another IP version than the id's, or while another thread takes a step of this synchronous id; EADDRINUSE
     *         if the id has joined the group already; a synchronous id also EOPNOTSUPP if the device supports no
     *         datagrams or its driver no such groups, ENETUNREACH if the device has lost the local address,
     *         EADDRNOTAVAIL if its interface cannot join, EINVAL or ENOMEM naming the limit if the queue pair or the
     *         device is in as many groups as it can be, EBADF if the queue pair was closed meanwhile, and EINTR when
     *         interrupted. An asynchronous id reports those as MULTICAST_ERROR
     * @throws IllegalStateException while the id has no device: before an address is bound or resolved, and while it is bound
     *         to the wildcard address
     */
    public void joinMulticast(InetAddress group, @Nullable Object context) throws RdmaException {
        step(() -> groups.join(exchange, group, MulticastMembership.FULL_MEMBER, context));
    }

    /**
     * Joins a multicast group, to receive from it or only to send to it; ends like {@link #joinMulticast(InetAddress, Object)}.
     * C: {@index rdma_join_multicast_ex}.
     *
     * @param group a multicast address
     * @param membership whether it receives, or only sends
     * @param context an object of the caller, which its events have, or null
     * @throws RdmaException as {@link #joinMulticast(InetAddress, Object)}
     * @throws IllegalStateException while the id has no device: before an address is bound or resolved, and while it is bound
     *         to the wildcard address
     */
    public void joinMulticast(InetAddress group, MulticastMembership membership,
            @Nullable Object context) throws RdmaException {
        step(() -> groups.join(exchange, group, membership, context));
    }

    /**
     * Leaves a multicast group. C: {@index rdma_leave_multicast}.
     *
     * @param group a multicast address
     * @throws RdmaException EADDRNOTAVAIL if the id has not joined it
     */
    public void leaveMulticast(InetAddress group) throws RdmaException {
        step(() -> groups.leave(group));
    }

    // ---------------------------------------------------------------- events

    /**
     * Moves the id to another channel, with its events that no thread has taken yet; a listener's
     * requests move along. C: {@index rdma_migrate_id}, which waits until all events are acknowledged; this does not
     * wait.
     *
     * @param channel the channel, or null to make the id synchronous
     * @throws RdmaException EBUSY while this id has unacknowledged events, EINVAL for null if it
     *         is synchronous already, EBADF if the channel is closed
     */
    public void migrate(@Nullable CmEventChannel channel) throws RdmaException {
        states.requireUsable();
        step(() -> backlog.migrate(channel));
        if (channel == null && states.is(IdState.ENDED)) {
            // As if it had been synchronous when the connection ended: the event of that reaches no thread any more.
            own.failQuietly();
        }
    }

    /**
     * Puts an event of type USER into the id's channel, to wake a thread that waits there. C:
     * {@index rdma_write_cm_event}. It does nothing once the id is closed.
     *
     * @param status for {@link CmEvent#status}
     * @param argument for {@link CmEvent#argument}
     */
    public void writeEvent(int status, long argument) {
        events.publish(CmEventType.USER, EventDetails.user(status, argument));
    }

    /** An event of this id was handed to the application. */
    void onEventTaken(CmEvent event) {
        CmId listening = event.listenId();
        if (listening != null) {
            listening.backlog.forget(this);
        }
    }

    // ---------------------------------------------------------------- closing

    /**
     * Frees the id with its queue pair: a listener stops, an unanswered request is rejected, a connection
     * is ended, groups are left. Idempotent; repeat a call that failed, it continues where the
     * last one stopped. A step that another thread is taking fails with {@link RdmaClosedException}; what it holds at that
     * moment, such as a device that it is opening, is given back when it returns. C: {@index rdma_destroy_id},
     * {@index rdma_destroy_ep}, which wait until all events are acknowledged; this does not wait.
     *
     * @throws RdmaException EBUSY while this id has unacknowledged events; then the id is unchanged. EBUSY also while its
     *         queue pair, a completion queue created with it or its shared receive queue has unacknowledged events, or
     *         while something else uses such a queue; then the connection has ended, and the next call frees the rest
     */
    @Override
    public void close() throws RdmaException {
        closing.lock();
        try {
            if (!isFreed) {
                free();
                isFreed = true;
            }
        } finally {
            closing.unlock();
        }
    }

    /** The listener is closed: so is this id, unless a thread has taken the request meanwhile. */
    private void closeUnlessTaken() throws RdmaException {
        if (events.endUnlessTaken()) {
            close();
        }
    }

    private void free() throws RdmaException {
        events.end();
        states.take(IdStep.CLOSE);
        for (CmId request : backlog.close()) {
            request.closeUnlessTaken();
        }
        CmId parent = listener;
        if (parent != null) {
            parent.backlog.forget(this);
        }
        exchange.close();
        groups.close();
        own.end();
        closeQueuePair();
        own.closeShared();
        addresses.close();
        events.close();
    }

    /**
     * {@return its port space, state, addresses and device, such as {@code id TCP CONNECTED 10.0.0.1:7471 to 10.0.0.2:7471
     * on roce_eth0}} It looks at no device.
     */
    @Override
    public String toString() {
        StringBuilder text = new StringBuilder("id ").append(kind.space()).append(' ')
                .append(states.now());
        InetSocketAddress local = addresses.local();
        if (local != null) {
            text.append(' ').append(text(local));
        }
        InetSocketAddress peer = addresses.peer();
        if (peer != null) {
            text.append(" to ").append(text(peer));
        }
        DeviceLease lease = addresses.lease();
        if (lease != null) {
            text.append(" on ").append(lease.context().device().name());
        }
        return text.toString();
    }

    private static String text(InetSocketAddress address) {
        String host = address.getAddress().getHostAddress();
        return (host.contains(":") ? "[" + host + "]" : host) + ":" + address.getPort();
    }
}
