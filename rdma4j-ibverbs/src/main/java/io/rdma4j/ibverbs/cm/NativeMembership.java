// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.ibverbs.abi.ErrorNumbers;
import io.rdma4j.spi.CmMembership;
import io.rdma4j.spi.JoinRequest;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A multicast group that the kernel joins for the interface of the device: attaching a queue pair alone does not notify the
 * interface, or the switch by IGMP. It has an id of its own, used only for this.
 */
final class NativeMembership
        implements
            CmMembership,
            NativeId.EventHandler,
            CmServices.Open {
    private static final String JOIN = "join multicast group";

    private final CmServices device;
    private final NativeId id;
    private final JoinRequest request;
    private final boolean isInfiniband;
    private volatile @Nullable AddressHandleAttributes found;
    /** Empty after the outcome was reported. */
    private final AtomicReference<@Nullable Handler> handler;

    private NativeMembership(CmServices device, NativeId id, JoinRequest request,
            Handler handler, boolean isInfiniband) {
        this.isInfiniband = isInfiniband;
        this.device = device;
        this.id = id;
        this.request = request;
        this.handler = new AtomicReference<>(handler);
    }

    /**
     * Begins to join.
     *
     * @param isInfiniband whether the link is InfiniBand, whose groups have LIDs and Q_Keys
     */
    static NativeMembership join(CmServices device, JoinRequest request, Handler handler,
            boolean isInfiniband) throws RdmaException {
        NativeId id = KernelPorts.take(device.channel(), PortSpace.UDP, null,
                new InetSocketAddress(request.local(), 0)).one();
        NativeMembership membership = new NativeMembership(device, id, request, handler,
                isInfiniband);
        try {
            device.requireHere(id, JOIN);
            id.eventHandler(membership);
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
        if (device.takeDeviceEvent(id, event)) {
            return;
        }
        switch (event.type()) {
            case MULTICAST_JOIN -> joined(event.service());
            case MULTICAST_ERROR -> notJoined(event.status());
            case OTHER -> event.reportTo(handler.get());
            case ADDR_RESOLVED, ADDR_ERROR, ROUTE_RESOLVED, ROUTE_ERROR, CONNECT_REQUEST,
                    CONNECT_RESPONSE, CONNECT_ERROR, UNREACHABLE, REJECTED, ESTABLISHED,
                    DISCONNECTED, DEVICE_REMOVAL, ADDR_CHANGE, TIMEWAIT_EXIT -> {
                // Not of a group.
            }
        }
    }

    /**
     * On InfiniBand the subnet manager decides on the path and the Q_Key. On RoCE they are the members' own matter, and the
     * kernel names the Q_Key of port space UDP.
     */
    private void joined(DatagramParameters group) {
        Handler present = handler.getAndSet(null);
        if (present == null) {
            return;
        }
        // Set first: the handler attaches a queue pair, which needs the LID.
        found = group.path();
        if (isInfiniband) {
            present.onJoined(group.path(), group.qkey());
        } else {
            present.onJoined(group.path().withTrafficClass(request.trafficClass()), null);
        }
    }

    /** {@return its LID, 0 if it is another group or by another port, or the link has no LIDs} */
    int lid(Gid group, int port) {
        AddressHandleAttributes known = found;
        return isInfiniband && known != null && known.destination().equals(group)
                && known.port() == port ? known.destinationLid() : 0;
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
