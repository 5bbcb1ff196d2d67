// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.InfinibandBringUp;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.ListeningDevices;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.UnaryOperator;

/**
 * The part of {@link CmContext} that an open native device implements here: connections, listeners, datagram services.
 * Thread safe; handlers are called by the thread of the {@link CmChannel}, one call at a time.
 *
 * <p>The kernel chooses the device by the local address. If several devices have it, such as software devices of both
 * kinds on one interface, the kernel takes the first, and the others refuse with EADDRNOTAVAIL.
 */
public final class NativeConnections implements AutoCloseable {
    /** Of the messages REQ, REP and REJ, less the header in front. IBTA 12.6, A11. */
    private static final PrivateDataLimits OF_INFINIBAND = new PrivateDataLimits(56, 196, 148);
    /** Linux's siw keeps the length, with four bytes more, in one byte. */
    private static final PrivateDataLimits OF_IWARP = new PrivateDataLimits(251, 251, 251);

    private final CmChannel channel;
    private final CmContext via;
    private final UnaryOperator<CmListener.Handler> following;
    private final boolean isIwarp;
    private final Set<Open> open = ConcurrentHashMap.newKeySet();
    private final List<CmContext.Watcher> watchers = new CopyOnWriteArrayList<>();
    private volatile boolean isClosed;

    /** Something that ends with the device. */
    interface Open {
        /** Ends it. Idempotent. */
        void close();
    }

    /** An open device that has them. */
    public interface Owner {
        /** {@return its connections, null if the system has no connection manager for programs} */
        @Nullable
        NativeConnections connections();
    }

    /**
     * @param channel of all devices
     * @param via the open device, as handlers see it, with its addresses, ports and limits
     * @param following wraps a handler of requests of this device, so that the device sees the events too
     */
    public NativeConnections(CmChannel channel, CmContext via,
            UnaryOperator<CmListener.Handler> following) {
        this.channel = channel;
        this.via = via;
        this.following = following;
        isIwarp = via.device().transport() == TransportType.IWARP;
    }

    CmChannel channel() {
        return channel;
    }

    CmContext via() {
        return via;
    }

    boolean isIwarp() {
        return isIwarp;
    }

    /** {@return whether the port of a local address has an InfiniBand link, with LIDs and partitions} */
    boolean isInfiniband(InetAddress local) throws RdmaException {
        return !isIwarp
                && via.queryPort(via.portNumber(local)).linkLayer() == LinkLayer.INFINIBAND;
    }

    /**
     * {@return the device that received a request, null if the id does not listen on it or it is closed}
     *
     * @param devices the devices that are listened on, null for only this one
     */
    @Nullable
    NativeConnections ofDevice(@Nullable String name, @Nullable ListeningDevices devices) {
        NativeConnections found = null;
        if (name != null && devices != null) {
            found = devices.named(name) instanceof Owner owner ? owner.connections() : null;
        } else if (via.device().name().equals(name)) {
            found = this;
        }
        return found == null || found.isClosed ? null : found;
    }

    /**
     * Checks that an id is at this device.
     *
     * @throws RdmaException EADDRNOTAVAIL if it is at another one
     */
    void requireHere(NativeId id, String operation) throws RdmaException {
        String name = id.deviceName();
        if (name != null && !name.equals(via.device().name())) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, operation,
                    "the kernel has given the address to " + name + ", not to "
                            + via.device().name() + "; use that device, or another address");
        }
    }

    // ---------------------------------------------------------------- what the transport decides

    /** {@return how much private data connections carry} */
    public PrivateDataLimits privateDataLimits() {
        return isIwarp ? OF_IWARP : OF_INFINIBAND;
    }

    /**
     * Checks that packets can leave for a destination.
     *
     * @throws RdmaException ENETUNREACH if the device has lost the local address, or its port is down
     */
    public void checkRoute(InetAddress local, InetAddress destination) throws RdmaException {
        int port = via.portNumber(local);
        if (via.queryPort(port).state() != PortState.ACTIVE) {
            throw new RdmaException(Errno.ENETUNREACH, "resolve route",
                    "port " + port + " of " + via.device().name() + " is down");
        }
        if (!via.addresses().contains(local)) {
            throw new RdmaException(Errno.ENETUNREACH, "resolve route", local.getHostAddress()
                    + " is no address of " + via.device().name() + " any more");
        }
    }

    /** {@return how a new queue pair is made ready to receive, before it is connected} */
    public QueuePairBringUp bringUp(InetAddress local) {
        return isIwarp ? IwarpUnconnected.BRING_UP
                : InfinibandBringUp.unconnected(via.portNumber(local));
    }

    // ---------------------------------------------------------------- connecting

    /**
     * Listens for connection requests. C: {@code rdma_listen}.
     *
     * @throws RdmaException EADDRINUSE if another program listens there, EADDRNOTAVAIL if the address is not this
     *         device's, EOPNOTSUPP for connections that the kernel reserves for itself
     */
    public CmListener listen(ListenRequest request, CmListener.Handler handler)
            throws RdmaException {
        requireConnected("listen", request.space(), request.type());
        return NativeListener.start(this, request,
                (device, id, event) -> NativeConnection.requested(device, id, event,
                        device.following.apply(handler)),
                handler);
    }

    /**
     * Requests a connection from a listener; the handler gets the outcome. C: {@code rdma_resolve_addr}, {@code
     * rdma_resolve_route}, {@code rdma_connect}.
     *
     * @throws RdmaException EADDRINUSE if another program has the local port, EADDRNOTAVAIL if the address is not this
     *         device's, ENETUNREACH if the system has no route, EOPNOTSUPP for connections that the kernel reserves for
     *         itself
     */
    public CmConnection connect(ConnectRequest request, CmConnection.Handler handler)
            throws RdmaException {
        requireConnected("connect", request.space(), request.type());
        return NativeConnection.ask(this, request, handler);
    }

    private void requireConnected(String operation, PortSpace space, QueuePairType type)
            throws RdmaException {
        requireOpen(operation);
        boolean isThere = switch (type) {
            case RC -> space == PortSpace.TCP || (space == PortSpace.IB && !isIwarp);
            case UC -> space == PortSpace.IB && !isIwarp;
            case UD, RAW_PACKET, XRC_SEND, XRC_RECEIVE, DRIVER -> false;
        };
        if (!isThere) {
            throw RdmaException.unsupported(operation, via.device().name() + " connects "
                    + (isIwarp ? "RC in port space TCP"
                            : "RC in the port spaces TCP and IB, and UC in IB")
                    + ", not " + type + " in " + space);
        }
    }

    void requireOpen(String operation) throws RdmaException {
        if (isClosed) {
            throw new RdmaClosedException(operation, "the device is closed");
        }
    }

    /** {@return its datagram services, null on iWARP} */
    public @Nullable CmDatagrams datagramServices() {
        return isIwarp ? null : new NativeDatagrams(this);
    }

    /**
     * {@return an id at an address of this device}
     *
     * @throws RdmaException EADDRNOTAVAIL if the kernel gives it to another device
     */
    NativeId bound(ConnectRequest request) throws RdmaException {
        NativeId id = ids(request.space(), request.type(), request.port(), request.source())
                .one();
        try {
            requireHere(id, "bind address");
            if (request.options().typeOfService() != 0) {
                id.typeOfService(request.options().typeOfService());
            }
            Integer timeout = request.options().ackTimeoutExponent();
            if (timeout != null) {
                id.ackTimeoutExponent(timeout);
            }
            return id;
        } catch (RdmaException e) {
            id.destroy();
            throw e;
        }
    }

    /** {@return ids with an address, for queue pairs of a type} */
    BoundIds ids(PortSpace space, QueuePairType type, @Nullable PortReservation reservation,
            InetSocketAddress address) throws RdmaException {
        return type == QueuePairType.UC
                ? BoundIds.of(KernelPorts.takeUnreliable(channel, space, reservation, address))
                : KernelPorts.take(channel, space, reservation, address);
    }

    /** {@return the address that a listener is bound to} */
    static InetSocketAddress place(ListenRequest request, InetAddress wildcard) {
        InetAddress only = request.address();
        return new InetSocketAddress(only == null ? wildcard : only, request.port());
    }

    // ---------------------------------------------------------------- groups

    /** {@return the LID of a group that an id has joined by a port, for attaching queue pairs; 0 if it has none} */
    public int groupLid(Gid group, int port) {
        for (Open each : open) {
            if (each instanceof NativeMembership membership) {
                int lid = membership.lid(group, port);
                if (lid != 0) {
                    return lid;
                }
            }
        }
        return 0;
    }

    // ---------------------------------------------------------------- what happens to the device

    /** Notifies a watcher of the device's events, as far as its ids get them, until it is closed. */
    public void watch(CmContext.Watcher watcher) {
        watchers.add(watcher);
    }

    /** {@return whether an event was about the device; its watchers were then notified} */
    boolean hearOfDevice(NativeId id, IdEvent event) {
        if (event.type() == EventType.DEVICE_REMOVAL) {
            watchers.forEach(CmContext.Watcher::onDeviceGone);
            return true;
        }
        if (event.type() != EventType.ADDR_CHANGE) {
            return false;
        }
        try {
            InetAddress changed = id.local("hear of address").getAddress();
            watchers.forEach(each -> each.onAddressChanged(changed));
        } catch (RdmaException closed) {
            // The id was closed, so the address is not needed any more.
        }
        return true;
    }

    // ---------------------------------------------------------------- the end

    /** Keeps something until it is closed, or closes it with the device. */
    void keep(Open one) {
        open.add(one);
        if (isClosed) {
            one.close();
        }
    }

    void forget(Open one) {
        open.remove(one);
    }

    /** Closes all its remaining objects; a handler's present call may still run, but no new one starts. Idempotent. */
    @Override
    public void close() {
        isClosed = true;
        watchers.clear();
        List.copyOf(open).forEach(Open::close);
    }
}
