// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;

/** The addresses, the port and the device of an id. */
final class IdAddresses implements DeviceLease.Listener {
    private final PortSpace space;
    private final IdStateMachine states;
    private final IdOptions options;
    private final IdEvents events;
    private final Runnable onDeviceGone;
    private volatile PortTable.@Nullable Held heldPort;
    private volatile @Nullable InetSocketAddress local;
    private volatile @Nullable InetSocketAddress peer;
    private volatile @Nullable DeviceLease lease;
    /** Whether the destination has decided on the device, and the program named none. */
    private volatile boolean hasChoice;
    private volatile @Nullable ProgressDriver driver;
    /** Guarded by this. */
    private boolean isClosed;

    /** @param onDeviceGone called when the device was removed, besides the event; must not block */
    IdAddresses(PortSpace space, IdStateMachine states, IdOptions options, IdEvents events,
            Runnable onDeviceGone) {
        this.space = space;
        this.states = states;
        this.options = options;
        this.events = events;
        this.onDeviceGone = onDeviceGone;
    }

    // ---------------------------------------------------------------- finding them

    /**
     * Binds to a local address; with the wildcard address the id has no device yet.
     *
     * @param destination the one that it is bound for, null if it is not known yet
     */
    void bind(InetSocketAddress named, @Nullable InetSocketAddress destination)
            throws RdmaException {
        InetSocketAddress address = NamedAddress.OF_SYSTEM.source(named);
        DeviceSelection devices = options.devices();
        DeviceLease taken = address.getAddress().isAnyLocalAddress()
                ? null
                : devices.forLocal(address.getAddress(), remembered(devices, destination));
        PortTable.Held held = null;
        boolean isBound = false;
        try {
            held = PortTable.take(space, address, options, taken == null
                    ? devices.portAuthorities()
                    : Set.of(taken.device().portAuthority()));
            hold(held.address(), held, taken);
            hasChoice = destination != null && devices.name() == null;
            isBound = true;
        } finally {
            if (!isBound) {
                giveBack(held, taken);
            }
        }
    }

    /** Finds device and local address for a destination. */
    void resolve(InetSocketAddress named) throws RdmaException {
        InetSocketAddress bound = local;
        InetAddress own = bound == null ? null : bound.getAddress();
        InetSocketAddress destination = NamedAddress.OF_SYSTEM.destination(named, own);
        requireOnePeer(destination.getAddress());
        if (lease == null || own == null) {
            resolveAny(bound, destination);
        } else {
            requireRoute(own, destination.getAddress());
        }
        peer = destination;
    }

    /** {@return the device that a destination was found by, if the best one had not found it} */
    private @Nullable String remembered(DeviceSelection devices,
            @Nullable InetSocketAddress destination) {
        return destination == null || devices.name() != null ? null
                : Fallbacks.OF_PROCESS.towards(space, destination);
    }

    /** {@return the devices that may serve the id} */
    DeviceSelection devices() {
        return options.devices();
    }

    /** {@return whether the id may take another device for its destination, if it is made anew} */
    boolean hasChoice() {
        return hasChoice;
    }

    private void requireOnePeer(InetAddress destination) throws RdmaException {
        if (space == PortSpace.TCP && destination.isMulticastAddress()) {
            throw new RdmaException(Errno.ENETUNREACH, "resolve address",
                    destination.getHostAddress()
                            + " is a multicast group, which an id of port space UDP can join; a"
                            + " connection has one peer");
        }
    }

    private static void requireRoute(InetAddress own, InetAddress destination)
            throws RdmaException {
        if (own.getClass() != destination.getClass()) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, "resolve address",
                    own.getHostAddress() + " and " + destination.getHostAddress()
                            + " are not of the same IP version");
        }
        RouteProbe.check(own, destination);
    }

    private void resolveAny(@Nullable InetSocketAddress bound, InetSocketAddress destination)
            throws RdmaException {
        DeviceSelection devices = options.devices();
        DeviceSelection.Route route = devices.towards(destination.getAddress(),
                remembered(devices, destination));
        boolean isResolved = false;
        PortTable.Held taken = null;
        try {
            InetSocketAddress source = new InetSocketAddress(route.source(),
                    bound == null ? 0 : bound.getPort());
            PortTable.Held held = heldPort;
            if (held == null) {
                taken = PortTable.take(space, source, options,
                        Set.of(route.lease().device().portAuthority()));
                source = taken.address();
            } else {
                held.reservation(route.lease().device().portAuthority());
            }
            hold(source, taken, route.lease());
            hasChoice = devices.name() == null;
            isResolved = true;
        } finally {
            if (!isResolved) {
                giveBack(taken, route.lease());
            }
        }
    }

    /**
     * Takes another port in place of one that nobody has asked for.
     *
     * @return false if the port was asked for, or is that of a listener
     * @throws IllegalStateException if the id was closed meanwhile
     */
    boolean changePort() throws RdmaException {
        PortTable.Held present = heldPort;
        InetSocketAddress from = local;
        DeviceLease via = lease;
        if (present == null || from == null || via == null || !present.isAny()) {
            return false;
        }
        PortTable.Held next = PortTable.take(space,
                new InetSocketAddress(present.address().getAddress(), 0), options,
                Set.of(via.device().portAuthority()));
        boolean isHeld = false;
        try {
            hold(new InetSocketAddress(from.getAddress(), next.address().getPort()), next, null);
            isHeld = true;
        } finally {
            PortTable.release(isHeld ? present : next);
        }
        return true;
    }

    private static void giveBack(PortTable.@Nullable Held port, @Nullable DeviceLease device) {
        if (port != null) {
            PortTable.release(port);
        }
        if (device != null) {
            device.release();
        }
    }

    /**
     * Checks that packets can leave towards the resolved address.
     *
     * @throws RdmaException ENETUNREACH if they cannot
     */
    void checkRoute() throws RdmaException {
        device().context().checkRoute(local("resolve route").getAddress(),
                peer("resolve route").getAddress());
    }

    /** The id is for a request: it uses the listener's port without reserving it. */
    void adopt(InetSocketAddress to, InetSocketAddress from, DeviceLease via) {
        peer = from;
        hold(to, null, via.share());
    }

    /**
     * Keeps what a step has taken.
     *
     * @throws IllegalStateException if the id was closed meanwhile; then the caller has to give it back
     */
    private void hold(InetSocketAddress address, PortTable.@Nullable Held port,
            @Nullable DeviceLease taken) {
        ProgressDriver offered = taken == null ? null : taken.context().progressDriver();
        synchronized (this) {
            if (isClosed) {
                throw IdStateMachine.closed();
            }
            local = address;
            if (port != null) {
                heldPort = port;
            }
            if (taken != null && offered != null) {
                events.addDriver(offered);
                driver = offered;
                lease = taken;
            }
        }
        if (taken != null) {
            taken.listener(this);
        }
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

    /**
     * {@return another share of the device, null for the wildcard address} For a thread of the application: it may wait for
     * another one that opens or closes the device.
     *
     * @throws IllegalStateException if the id was closed meanwhile
     */
    @Nullable
    DeviceLease shareDevice() {
        DeviceLease device = lease;
        if (device == null) {
            return null;
        }
        DeviceLease shared = device.shareUnlessReleased();
        if (shared == null) {
            throw IdStateMachine.closed();
        }
        return shared;
    }

    DeviceLease device() {
        states.requireOpen();
        DeviceLease device = lease;
        if (device == null) {
            throw new IllegalStateException(
                    "the id has no device yet: bind it to one address or resolve one first");
        }
        return device;
    }

    /** {@return the port of the device that has the local address, 0 before there is a device} */
    int devicePort() {
        DeviceLease present = lease;
        return present == null
                ? 0
                : present.context().portNumber(local("port number").getAddress());
    }

    /**
     * {@return the reservation of the local port for a device; null for an id that has the port of its listener}
     *
     * @throws RdmaException EADDRINUSE if another process has the port
     */
    @Nullable
    PortReservation reservation(DeviceLease of) throws RdmaException {
        PortTable.Held held = heldPort;
        return held == null ? null : held.reservation(of.device().portAuthority());
    }

    @Override
    public void onAddressChanged(InetAddress address) {
        InetSocketAddress own = local;
        if (own != null && AddressScope.isSame(own.getAddress(), address)) {
            events.publish(CmEventType.ADDR_CHANGE, EventDetails.NONE);
        }
    }

    @Override
    public void onDeviceGone() {
        if (states.take(IdStep.REMOVE)) {
            try {
                onDeviceGone.run();
            } finally {
                // A device that has failed may fail once more.
                events.publish(CmEventType.DEVICE_REMOVAL, EventDetails.NONE);
            }
        }
    }

    /** Options of the port have changed. */
    void onOptionsChanged() {
        PortTable.Held held = heldPort;
        if (held != null) {
            PortTable.change(held, options);
        }
    }

    /** Undoes {@link #bind}. */
    void unbind() {
        release(false);
        local = null;
        lease = null;
        hasChoice = false;
    }

    /** The id is closed: gives port and device back, and takes no others. Idempotent. */
    void close() {
        release(true);
    }

    /** No monitor is held while port and device are given back: that may take long. */
    private void release(boolean isLast) {
        PortTable.Held port;
        DeviceLease device;
        ProgressDriver offered;
        synchronized (this) {
            isClosed |= isLast;
            port = heldPort;
            heldPort = null;
            device = lease;
            offered = driver;
            driver = null;
        }
        giveBack(port, device);
        if (offered != null) {
            events.removeDriver(offered);
        }
    }
}
