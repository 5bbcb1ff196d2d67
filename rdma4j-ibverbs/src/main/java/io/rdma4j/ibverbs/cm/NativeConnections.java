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
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.function.UnaryOperator;

/**
 * The part of {@link CmContext} that an open native device implements here: connections, listeners, datagram services.
 * Thread safe; handlers are called by the thread of the {@link CmChannel}, one call at a time.
 *
 * <p>The kernel chooses the device by the local address. If several devices have it, such as software devices of both
 * kinds on one interface, the kernel takes the first, and the others refuse with EADDRNOTAVAIL.
 */
public final class NativeConnections implements AutoCloseable {
    private final CmServices services;
    private final CmContext via;
    private final boolean isIwarp;

    /**
     * @param channel of all devices
     * @param via the open device, as handlers see it, with its addresses, ports and limits
     * @param following wraps a handler of requests of this device, so that the device sees the events too
     */
    public NativeConnections(CmChannel channel, CmContext via,
            UnaryOperator<CmListener.Handler> following) {
        services = new CmServices(channel, via, following);
        this.via = via;
        isIwarp = services.isIwarp();
    }

    /** {@return what its ids, listeners and groups need of it} */
    public CmServices services() {
        return services;
    }

    // ---------------------------------------------------------------- what the transport decides

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

    /** {@return how much private data connections carry} */
    public PrivateDataLimits privateDataLimits() {
        return services.privateDataLimits();
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
        return NativeListener.start(services, request,
                (device, id, event) -> NativeConnection.requested(device, id, event,
                        device.following(handler)),
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
        return NativeConnection.ask(services, request, handler);
    }

    private void requireConnected(String operation, PortSpace space, QueuePairType type)
            throws RdmaException {
        services.requireOpen(operation);
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

    /** {@return its datagram services, null on iWARP} */
    public @Nullable CmDatagrams datagramServices() {
        return isIwarp ? null : new NativeDatagrams(services);
    }

    // ---------------------------------------------------------------- groups

    /** {@return the LID of a group that an id has joined by a port, for attaching queue pairs; 0 if it has none} */
    public int groupLid(Gid group, int port) {
        for (CmServices.Open each : services.open()) {
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
        services.watch(watcher);
    }

    // ---------------------------------------------------------------- the end

    /** Closes all its remaining objects; a handler's present call may still run, but no new one starts. Idempotent. */
    @Override
    public void close() {
        services.close();
    }
}
