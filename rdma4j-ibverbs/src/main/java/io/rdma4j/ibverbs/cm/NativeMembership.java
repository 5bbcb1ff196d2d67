package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.ibverbs.abi.ErrorNumbers;
import io.rdma4j.spi.CmMembership;
import io.rdma4j.spi.JoinRequest;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A multicast group that the kernel joins for the interface of the device: what a switch, and the interface itself, have to
 * be told by IGMP, attaching a queue pair does not tell them. It has an id of its own, which nothing else is done with.
 */
final class NativeMembership
        implements
            CmMembership,
            NativeId.Hearer,
            NativeConnections.Open {
    private static final String JOIN = "join multicast group";

    private final NativeConnections device;
    private final NativeId id;
    private final JoinRequest request;
    /** Empty once it has heard. */
    private final AtomicReference<@Nullable Handler> handler;

    private NativeMembership(NativeConnections device, NativeId id, JoinRequest request,
            Handler handler) {
        this.device = device;
        this.id = id;
        this.request = request;
        this.handler = new AtomicReference<>(handler);
    }

    /** Begins to join. */
    static NativeMembership join(NativeConnections device, JoinRequest request, Handler handler)
            throws RdmaException {
        NativeId id = KernelPorts.take(device.channel(), PortSpace.UDP, null,
                new InetSocketAddress(request.local(), 0)).one();
        NativeMembership membership = new NativeMembership(device, id, request, handler);
        try {
            device.requireHere(id, JOIN);
            id.hearer(membership);
            device.keep(membership);
            id.joinGroup(request.group(), request.isSendOnly());
            return membership;
        } catch (RdmaException e) {
            membership.close();
            throw e;
        }
    }

    @Override
    public void onEvent(IdEvent event, @Nullable NativeId none) {
        if (device.hearOfDevice(id, event)) {
            return;
        }
        switch (event.type()) {
            case MULTICAST_JOIN -> joined(event.service().path());
            case MULTICAST_ERROR -> notJoined(event.status());
            case ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST,
                    CONNECT_RESPONSE, CONNECT_ERROR, UNREACHABLE, REJECTED, ESTABLISHED,
                    DISCONNECTED, DEVICE_REMOVAL, ADDR_CHANGE, TIMEWAIT_EXIT -> {
                // Not of a group.
            }
        }
    }

    /** The kernel names the Q_Key of port space UDP; on RoCE it is the members' own matter. */
    private void joined(AddressHandleAttributes path) {
        Handler present = handler.getAndSet(null);
        if (present != null) {
            present.onJoined(path.withTrafficClass(request.trafficClass()), null);
        }
    }

    private void notJoined(int status) {
        Handler present = handler.getAndSet(null);
        if (present != null) {
            present.onNotJoined(ErrorNumbers.failure(JOIN, Math.abs(status),
                    "the kernel could not join " + request.group().getHostAddress() + " for "
                            + device.via().device().name()));
        }
    }

    @Override
    public void close() {
        handler.set(null);
        id.leaveGroup(request.group());
        id.destroy();
        device.forget(this);
    }
}
