// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.ibverbs.abi.CmLayout.CmId;
import io.rdma4j.ibverbs.abi.CmLayout.ConnectionParam;
import io.rdma4j.ibverbs.abi.CmLayout.JoinMulticast;
import io.rdma4j.ibverbs.abi.CmSymbol;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.Context;
import io.rdma4j.ibverbs.abi.Layout.Device;
import io.rdma4j.ibverbs.abi.Layout.QueuePairAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.values.QueuePairValues;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.locks.ReentrantLock;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

/**
 * A {@code struct rdma_cm_id} without a queue pair. Refuses calls for which the library would follow a null pointer, and
 * is destroyed once, when no call with it is under way. Thread safe.
 */
final class NativeId {
    /** Options of {@code RDMA_OPTION_ID}. */
    private static final int LEVEL_ID = 0;
    private static final int TYPE_OF_SERVICE = 0;
    private static final int REUSE_ADDRESS = 1;
    private static final int OWN_VERSION_ONLY = 2;
    private static final int ACKNOWLEDGE_TIMEOUT = 3;
    private static final int COMMUNICATION_ESTABLISHED = 4;
    private static final int RESOLVE_TIMEOUT_MS = 2000;
    /** Of {@code enum rdma_cm_join_mc_attr_mask}. */
    private static final int JOIN_ADDRESS = 1;
    private static final int JOIN_FLAGS = 2;
    /** Of {@code enum rdma_cm_mc_join_flags}. */
    private static final int FULL_MEMBER = 0;
    private static final int SEND_ONLY = 1;

    private final CmChannel channel;
    private final long address;
    private final MemorySegment structure;
    private final PortSpace space;
    private final ReentrantLock lock = new ReentrantLock();
    private volatile @Nullable EventHandler eventHandler;
    private boolean isInLongCall;
    private boolean isMember;
    private boolean isOver;
    private boolean isDestroyed;

    /** Is notified of events, in the thread that reads them. */
    interface EventHandler {
        /** @param request the id that a CONNECT_REQUEST brings, for the handler to destroy; null for other events */
        void onEvent(IdEvent event, @Nullable NativeId request);
    }

    NativeId(CmChannel channel, long address, PortSpace space) {
        this.channel = channel;
        this.address = address;
        this.space = space;
        structure = Native.at(address, CmId.SIZE);
    }

    /** {@return the exception for an impossible answer of the library} */
    static RdmaException nonsense(String operation, @Nullable String what) {
        return new RdmaException(Errno.EIO, operation,
                "the connection manager answers what does not exist: " + what);
    }

    long address() {
        return address;
    }

    PortSpace space() {
        return space;
    }

    /** Sets the receiver of later events. */
    void eventHandler(EventHandler next) {
        eventHandler = next;
    }

    void handle(IdEvent event, @Nullable NativeId request) {
        EventHandler present = eventHandler;
        if (present != null) {
            present.onEvent(event, request);
        } else if (request != null) {
            request.destroy();
        } else if (event.type() == EventType.OTHER) {
            event.reportTo(null);
        }
    }

    // ---------------------------------------------------------------- what it is

    /** {@return its device, null if there is none yet} */
    @Nullable
    String deviceName() {
        lock.lock();
        try {
            long verbs = isOver ? 0 : Native.getLong(structure, CmId.VERBS);
            if (verbs == 0) {
                return null;
            }
            long device = Native.getLong(Native.at(verbs, Context.SIZE), Context.DEVICE);
            return Native.text(Native.at(device, Device.SIZE), Device.NAME, Device.NAME_LENGTH);
        } finally {
            lock.unlock();
        }
    }

    /** {@return its own address and port} */
    InetSocketAddress local(String operation) throws RdmaException {
        return address(operation, CmId.SRC_ADDR);
    }

    /** {@return the peer's address and port} */
    InetSocketAddress peer(String operation) throws RdmaException {
        return address(operation, CmId.DST_ADDR);
    }

    private InetSocketAddress address(String operation, long at) throws RdmaException {
        lock.lock();
        try {
            requireAlive(operation);
            return SocketAddresses.read(structure, at);
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- before it is connected

    /** C: {@code rdma_set_option} with {@code RDMA_OPTION_ID_REUSEADDR}. */
    void shareAddress() throws RdmaException {
        option(REUSE_ADDRESS, 1, Integer.BYTES, "share port");
    }

    /**
     * Makes it reserve a port only for its own IP version. C: {@code rdma_set_option} with {@code RDMA_OPTION_ID_AFONLY}.
     */
    void ownVersionOnly() throws RdmaException {
        option(OWN_VERSION_ONLY, 1, Integer.BYTES, "take port for one IP version");
    }

    /** C: {@code rdma_set_option} with {@code RDMA_OPTION_ID_TOS}. */
    void typeOfService(int value) throws RdmaException {
        option(TYPE_OF_SERVICE, value, 1, "set type of service");
    }

    /** C: {@code rdma_set_option} with {@code RDMA_OPTION_ID_ACK_TIMEOUT}. */
    void ackTimeoutExponent(int value) throws RdmaException {
        option(ACKNOWLEDGE_TIMEOUT, value, 1, "set acknowledgement time-out");
    }

    private void option(int option, int value, int length, String operation)
            throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = arena.allocate(Integer.BYTES, Integer.BYTES);
            if (length == 1) {
                Native.putByte(memory, 0, value);
            } else {
                Native.putInt(memory, 0, value);
            }
            call(CmSymbol.SET_OPTION, operation, "leave the option out, or use a newer kernel",
                    LEVEL_ID, option, memory.address(), length);
        }
    }

    /**
     * Takes an address and a port. C: {@code rdma_bind_addr}.
     *
     * @throws RdmaException EADDRINUSE if the port is taken, ENODEV or EADDRNOTAVAIL if no device has the address
     */
    void bind(InetSocketAddress local) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = SocketAddresses.allocate(arena, local,
                    SocketAddresses.scope(local.getAddress()));
            call(CmSymbol.BIND_ADDR, "bind address", local + " is no address of an RDMA device, or"
                    + " another program has its port", memory.address());
        }
    }

    /** Begins to find a way to a peer. C: {@code rdma_resolve_addr}. */
    void resolveAddress(InetSocketAddress destination, int scope) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = SocketAddresses.allocate(arena, destination, scope);
            // Bound already, so no source.
            call(CmSymbol.RESOLVE_ADDR, "resolve address",
                    "the system knows no way to " + destination, 0, memory.address(),
                    RESOLVE_TIMEOUT_MS);
        }
    }

    /** C: {@code rdma_resolve_route}. */
    void resolveRoute() throws RdmaException {
        requireDevice("resolve route");
        call(CmSymbol.RESOLVE_ROUTE, "resolve route", "the device knows no way to the peer",
                RESOLVE_TIMEOUT_MS);
    }

    /** C: {@code rdma_listen}. */
    void listen(int backlog) throws RdmaException {
        call(CmSymbol.LISTEN, "listen", "another program listens at this port", backlog);
    }

    // ---------------------------------------------------------------- connecting

    /** C: {@code rdma_connect}. */
    void connect(ConnectionParameters parameters, int queuePairNumber) throws RdmaException {
        requireDevice("connect");
        try (Arena arena = Arena.ofConfined()) {
            call(CmSymbol.CONNECT, "connect", "the device does not connect to the peer",
                    param(arena, parameters, queuePairNumber).address());
        }
    }

    /** As {@link #connect}, but may take as long as a TCP connection; meanwhile other threads may destroy the id. */
    void connectSlowly(ConnectionParameters parameters, int queuePairNumber)
            throws RdmaException {
        requireDevice("connect");
        beginLongCall();
        try (Arena arena = Arena.ofConfined()) {
            channel.library().get(CmSymbol.CONNECT)
                    .call(address, param(arena, parameters, queuePairNumber).address())
                    .check("connect", "the device does not connect to the peer");
        } finally {
            endLongCall();
        }
    }

    private void beginLongCall() throws RdmaException {
        lock.lock();
        try {
            requireAlive("connect");
            isInLongCall = true;
        } finally {
            lock.unlock();
        }
    }

    private void endLongCall() {
        lock.lock();
        try {
            isInLongCall = false;
            if (isOver) {
                destroyNow();
            }
        } finally {
            lock.unlock();
        }
    }

    /** C: {@code rdma_accept}. */
    void accept(ConnectionParameters parameters, int queuePairNumber) throws RdmaException {
        requireDevice("accept");
        try (Arena arena = Arena.ofConfined()) {
            call(CmSymbol.ACCEPT, "accept",
                    "the peer has gone, or the queue pair does not fit the connection",
                    param(arena, parameters, queuePairNumber).address());
        }
    }

    private static MemorySegment param(Arena arena, ConnectionParameters parameters,
            int queuePairNumber) {
        byte[] data = parameters.privateData();
        MemorySegment out = arena.allocate(ConnectionParam.SIZE + Layout.SLACK, Long.BYTES);
        Native.putLong(out, ConnectionParam.PRIVATE_DATA, bytes(arena, data));
        Native.putByte(out, ConnectionParam.PRIVATE_DATA_LEN, data.length);
        Native.putByte(out, ConnectionParam.RESPONDER_RESOURCES, parameters.responderResources());
        Native.putByte(out, ConnectionParam.INITIATOR_DEPTH, parameters.initiatorDepth());
        Native.putByte(out, ConnectionParam.FLOW_CONTROL, parameters.flowControl() ? 1 : 0);
        Native.putByte(out, ConnectionParam.RETRY_COUNT, parameters.retryCount());
        Native.putByte(out, ConnectionParam.RNR_RETRY_COUNT, parameters.rnrRetryCount());
        Native.putByte(out, ConnectionParam.SRQ, parameters.sharedReceiveQueue() ? 1 : 0);
        Native.putInt(out, ConnectionParam.QP_NUM, queuePairNumber);
        return out;
    }

    private static long bytes(Arena arena, byte[] data) {
        return data.length == 0 ? 0 : arena.allocateFrom(JAVA_BYTE, data).address();
    }

    /** Rejects the request. C: {@code rdma_reject}. */
    void reject(byte[] privateData) throws RdmaException {
        requireDevice("reject");
        try (Arena arena = Arena.ofConfined()) {
            call(CmSymbol.REJECT, "reject", "there is nothing to answer", bytes(arena, privateData),
                    privateData.length);
        }
    }

    /** C: {@code rdma_establish}. */
    void establish() throws RdmaException {
        requireDevice("establish");
        call(CmSymbol.ESTABLISH, "establish", "there is no reply to confirm");
    }

    /** C: {@code rdma_notify} with {@code IBV_EVENT_COMM_EST}. */
    void communicationEstablished() throws RdmaException {
        requireDevice("notify");
        call(CmSymbol.NOTIFY, "notify", "the connection is established already",
                COMMUNICATION_ESTABLISHED);
    }

    /** C: {@code rdma_disconnect}. */
    void disconnect() throws RdmaException {
        requireDevice("disconnect");
        call(CmSymbol.DISCONNECT, "disconnect", "it is not connected");
    }

    /** {@return the attributes that bring a queue pair to a state} C: {@code rdma_init_qp_attr}. */
    QueuePairAttributes attributes(QueuePairState target) throws RdmaException {
        String operation = "initialize queue pair attributes";
        requireDevice(operation);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(QueuePairAttr.SIZE + Layout.SLACK,
                    Long.BYTES);
            MemorySegment mask = arena.allocate(Integer.BYTES, Integer.BYTES);
            Native.putInt(attributes, QueuePairAttr.QP_STATE, target.code());
            call(CmSymbol.INIT_QP_ATTR, operation, "the connection is not in a state for "
                    + target, attributes.address(), mask.address());
            return QueuePairValues.read(attributes, Native.getInt(mask, 0));
        }
    }

    // ---------------------------------------------------------------- groups

    /**
     * Begins to join a multicast group. C: {@code rdma_join_multicast_ex}, or {@code rdma_join_multicast} with a library
     * that lacks it.
     *
     * @throws RdmaException EOPNOTSUPP if the library cannot join only for sending, or the kernel has no groups of this IP
     *         version
     */
    void joinGroup(InetAddress group, boolean isSendOnly) throws RdmaException {
        String operation = "join multicast group";
        requireDevice(operation);
        String advice = "the kernel does not join " + group.getHostAddress()
                + "; on RoCE it joins groups of IPv4, on an interface that has multicast";
        lock.lock();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment place = SocketAddresses.allocate(arena,
                    new InetSocketAddress(group, 0), 0);
            if (isSendOnly || channel.library().find(CmSymbol.JOIN_MULTICAST_EX) != null) {
                call(CmSymbol.JOIN_MULTICAST_EX, operation, advice,
                        how(arena, place, isSendOnly).address(), 0);
            } else {
                call(CmSymbol.JOIN_MULTICAST, operation, advice, place.address(), 0);
            }
            isMember = true;
        } finally {
            lock.unlock();
        }
    }

    private static MemorySegment how(Arena arena, MemorySegment group, boolean isSendOnly) {
        MemorySegment out = arena.allocate(JoinMulticast.SIZE + Layout.SLACK, Long.BYTES);
        Native.putInt(out, JoinMulticast.COMP_MASK, JOIN_ADDRESS | JOIN_FLAGS);
        Native.putInt(out, JoinMulticast.JOIN_FLAGS, isSendOnly ? SEND_ONLY : FULL_MEMBER);
        Native.putLong(out, JoinMulticast.ADDR, group.address());
        return out;
    }

    /**
     * Leaves a multicast group, if the id is a member; destroying the id alone would leak memory. Idempotent. C: {@code
     * rdma_leave_multicast}.
     */
    void leaveGroup(InetAddress group) {
        lock.lock();
        try (Arena arena = Arena.ofConfined()) {
            if (isMember && !isOver) {
                isMember = false;
                channel.library().get(CmSymbol.LEAVE_MULTICAST).call(address, SocketAddresses
                        .allocate(arena, new InetSocketAddress(group, 0), 0).address());
            }
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- calls

    private void call(CmSymbol symbol, String operation, String advice, long... more)
            throws RdmaException {
        long[] arguments = new long[more.length + 1];
        arguments[0] = address;
        System.arraycopy(more, 0, arguments, 1, more.length);
        lock.lock();
        try {
            requireAlive(operation);
            channel.library().require(symbol, operation).call(arguments).check(operation, advice);
        } finally {
            lock.unlock();
        }
    }

    private void requireAlive(String operation) throws RdmaException {
        if (isOver) {
            throw new RdmaException(Errno.EINVAL, operation, "it is closed");
        }
    }

    /** Most functions look into the device of the id without asking whether it has one. */
    private void requireDevice(String operation) throws RdmaException {
        if (deviceName() == null) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "it is closed, or at no device yet; its address has to be resolved first");
        }
    }

    /** Gives it back, as soon as a long call is over. Idempotent. C: {@code rdma_destroy_id}. */
    void destroy() {
        lock.lock();
        try {
            isOver = true;
            channel.forget(this);
            if (!isInLongCall) {
                destroyNow();
            }
        } finally {
            lock.unlock();
        }
    }

    private void destroyNow() {
        if (!isDestroyed) {
            isDestroyed = true;
            channel.library().get(CmSymbol.DESTROY_ID).call(address);
        }
    }
}
