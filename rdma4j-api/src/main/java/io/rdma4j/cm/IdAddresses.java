package io.rdma4j.cm;

import io.rdma4j.spi.WaitingRoom;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** The addresses, the port and the device of an id. */
final class IdAddresses implements DeviceLease.Holder {
    /** The port of the device that ids use; devices have one. */
    static final int PORT = 1;

    private final CmId id;
    private volatile PortTable.@Nullable Held heldPort;
    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress peer;
    private volatile @Nullable DeviceLease lease;
    private volatile @Nullable WaitingRoom room;

    IdAddresses(CmId id) {
        this.id = id;
    }

    // ---------------------------------------------------------------- finding them

    /** Takes a local address, the wildcard address for no device yet. */
    void bind(InetSocketAddress address) throws RdmaException {
        DeviceLease taken = address.getAddress().isAnyLocalAddress()
                ? null
                : DeviceLease.forLocal(address.getAddress());
        boolean isBound = false;
        try {
            PortTable.Held held = PortTable.take(id.portSpace(), address, id.options);
            heldPort = held;
            local = held.address();
            if (taken != null) {
                hold(taken);
            }
            isBound = true;
        } finally {
            if (!isBound) {
                unbind();
                if (taken != null) {
                    taken.release();
                }
            }
        }
    }

    /** Finds device and local address for a destination. */
    void resolve(InetSocketAddress destination) throws RdmaException {
        InetSocketAddress bound = local;
        if (lease == null) {
            resolveAny(bound, destination);
        } else if (bound != null
                && bound.getAddress().getClass() != destination.getAddress().getClass()) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, "resolve address",
                    bound.getAddress().getHostAddress() + " and "
                            + destination.getAddress().getHostAddress()
                            + " are not of the same IP version");
        }
        peer = destination;
    }

    private void resolveAny(@Nullable InetSocketAddress bound, InetSocketAddress destination)
            throws RdmaException {
        DeviceLease.Towards towards = DeviceLease.towards(destination);
        boolean isResolved = false;
        PortTable.Held taken = null;
        InetSocketAddress before = local;
        try {
            InetSocketAddress source = new InetSocketAddress(towards.source(),
                    bound == null ? 0 : bound.getPort());
            if (heldPort == null) {
                taken = PortTable.take(id.portSpace(), source, id.options);
                source = taken.address();
            }
            local = source;
            hold(towards.lease());
            isResolved = true;
        } finally {
            if (!isResolved) {
                local = before;
                towards.lease().release();
                if (taken != null) {
                    PortTable.release(taken);
                }
            } else if (taken != null) {
                heldPort = taken;
            }
        }
    }

    /**
     * Checks that packets can leave towards the resolved address.
     *
     * @throws RdmaException ENETUNREACH if the device has lost the local address or its port is down
     */
    void checkRoute() throws RdmaException {
        if (device().context().queryPort(PORT).state() != PortState.ACTIVE) {
            throw new RdmaException(Errno.ENETUNREACH, "resolve route",
                    "port " + PORT + " of " + device().context().device().name() + " is down");
        }
        gidIndex();
    }

    /** {@return the place of the local address in the device's GID table} */
    int gidIndex() throws RdmaException {
        InetAddress address = local("find GID").getAddress();
        for (GidEntry entry : device().context().queryGidTable()) {
            if (entry.gid().equals(Gid.of(address))) {
                return entry.index();
            }
        }
        throw new RdmaException(Errno.ENETUNREACH, "find GID", address.getHostAddress()
                + " is no address of " + device().context().device().name() + " any more");
    }

    /** The id stands for a request: it has the listener's port without holding it. */
    void adopt(InetSocketAddress to, InetSocketAddress from, DeviceLease via) {
        local = to;
        peer = from;
        hold(via.share());
    }

    private void hold(DeviceLease taken) {
        WaitingRoom offered = taken.context().waitingRoom();
        id.events.addRoom(offered);
        room = offered;
        lease = taken.heldBy(this);
    }

    // ---------------------------------------------------------------- what they are

    @Nullable
    InetSocketAddress local() {
        return local;
    }

    @Nullable
    InetSocketAddress peer() {
        return peer;
    }

    InetSocketAddress local(String operation) {
        return known(local, "local", operation);
    }

    InetSocketAddress peer(String operation) {
        return known(peer, "peer", operation);
    }

    private static InetSocketAddress known(@Nullable InetSocketAddress address, String which,
            String operation) {
        if (address == null) {
            throw new IllegalStateException(
                    operation + ": the id has no " + which + " address yet");
        }
        return address;
    }

    /** {@return the device, or null for a wildcard listener and before there is one} */
    @Nullable
    DeviceLease lease() {
        return lease;
    }

    DeviceLease device() {
        id.progress.requireOpen();
        DeviceLease device = lease;
        if (device == null) {
            throw new IllegalStateException(
                    "the id has no device yet: bind it to one address or resolve one first");
        }
        return device;
    }

    @Override
    public void onAddressChanged(InetAddress address) {
        InetSocketAddress own = local;
        if (own != null && Gid.of(own.getAddress()).equals(Gid.of(address))) {
            id.events.publish(CmEventType.ADDR_CHANGE, EventDetails.NONE);
        }
    }

    @Override
    public void onDeviceGone() {
        if (id.progress.remove()) {
            id.queues.failQuietly();
            id.events.publish(CmEventType.DEVICE_REMOVAL, EventDetails.NONE);
        }
    }

    /** The id thinks otherwise of sharing its port, if it has one. */
    void onOptionsChanged() {
        PortTable.Held held = heldPort;
        if (held != null) {
            PortTable.change(held, id.options);
        }
    }

    /** Undoes {@link #bind}. */
    void unbind() {
        release();
        local = null;
        lease = null;
    }

    /** Gives port and device back. Idempotent. */
    synchronized void release() {
        PortTable.Held held = heldPort;
        if (held != null) {
            heldPort = null;
            PortTable.release(held);
        }
        DeviceLease device = lease;
        if (device != null) {
            device.release();
        }
        WaitingRoom offered = room;
        if (offered != null) {
            room = null;
            id.events.removeRoom(offered);
        }
    }
}
