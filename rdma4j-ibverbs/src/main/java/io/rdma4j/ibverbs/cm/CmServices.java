// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.DeviceWatchers;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.LinkLayer;
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
import java.util.function.UnaryOperator;

/**
 * What the ids, listeners and groups of one device need of it: the channel of the kernel's connection manager, the ids of an
 * address, and a list of what ends with the device. It knows none of them.
 */
public final class CmServices {
    /** Of the messages REQ, REP and REJ, less the header in front. IBTA 12.6, A11. */
    private static final PrivateDataLimits OF_INFINIBAND = new PrivateDataLimits(56, 196, 148);
    /** Linux's siw keeps the length, with four bytes more, in one byte. */
    private static final PrivateDataLimits OF_IWARP = new PrivateDataLimits(251, 251, 251);

    private final CmChannel channel;
    private final CmContext via;
    private final boolean isIwarp;
    private final Set<Open> open = ConcurrentHashMap.newKeySet();
    private final DeviceWatchers watchers = new DeviceWatchers();
    private final UnaryOperator<CmListener.Handler> following;
    private volatile boolean isClosed;

    /** Something that ends with the device. */
    interface Open {
        /** Ends it. Idempotent. */
        void close();
    }

    /** An open device that has them. */
    public interface Owner {
        /** {@return those of its connections, null if the system has no connection manager for programs} */
        @Nullable
        CmServices cmServices();
    }

    /**
     * @param channel of all devices
     * @param via the open device, as handlers see it, with its addresses, ports and limits
     * @param following wraps a handler of requests of this device, so that the device sees the events too
     */
    CmServices(CmChannel channel, CmContext via,
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
    CmServices ofDevice(@Nullable String name, ListenRequest.@Nullable Devices devices) {
        CmServices found = null;
        if (name != null && devices != null) {
            found = devices.named(name) instanceof Owner owner ? owner.cmServices() : null;
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

    /** {@return a handler of requests, wrapped so that the device sees the events too} */
    CmListener.Handler following(CmListener.Handler handler) {
        return following.apply(handler);
    }

    /** {@return how much private data connections carry} */
    PrivateDataLimits privateDataLimits() {
        return isIwarp ? OF_IWARP : OF_INFINIBAND;
    }

    void requireOpen(String operation) throws RdmaException {
        if (isClosed) {
            throw new RdmaClosedException(operation, "the device is closed");
        }
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

    // ---------------------------------------------------------------- what happens to the device

    /** Notifies a watcher of the device's events, until the device is closed. */
    void watch(CmContext.Watcher watcher) {
        watchers.add(watcher);
    }

    /** {@return whether an event was about the device; its watchers were then notified} */
    boolean takeDeviceEvent(NativeId id, IdEvent event) {
        if (event.type() == EventType.DEVICE_REMOVAL) {
            watchers.onDeviceGone();
            return true;
        }
        if (event.type() != EventType.ADDR_CHANGE) {
            return false;
        }
        try {
            InetAddress changed = id.local("change address").getAddress();
            watchers.onAddressChanged(changed);
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

    /** {@return what ends with the device} */
    Set<Open> open() {
        return open;
    }

    /** Closes what is left; what comes later is closed at once. Idempotent. */
    void close() {
        isClosed = true;
        watchers.clear();
        List.copyOf(open).forEach(Open::close);
    }
}
