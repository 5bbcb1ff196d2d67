package io.rdma4j.cm;

import io.rdma4j.event.ProgressDriver;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/** The devices an id listens on: one, or for a wildcard address all that can be opened. */
final class DeviceListeners implements DeviceLease.Listener {
    private static final System.Logger LOG = System.getLogger(DeviceListeners.class.getName());

    private final IdAddresses addresses;
    private final IdEvents events;
    private final IdOptions options;
    private final List<CmListener> listeners = new CopyOnWriteArrayList<>();
    /** Changes under the lock of this; a device is opened and closed without it. */
    private final List<DeviceLease> leases = new CopyOnWriteArrayList<>();
    private boolean isListening;
    /** Guarded by this. */
    private boolean isClosed;

    DeviceListeners(IdAddresses addresses, IdEvents events, IdOptions options) {
        this.addresses = addresses;
        this.events = events;
        this.options = options;
    }

    /** Listens on one device. */
    interface Starter {
        /** @throws RdmaException EOPNOTSUPP if the device does not support the service */
        void check(DeviceLease device) throws RdmaException;

        CmListener listen(DeviceLease device, ListenRequest spec) throws RdmaException;
    }

    /**
     * Starts to listen; after a failure {@link #stop} reverts what was done.
     *
     * @param spec what is offered, on each device
     * @throws IllegalStateException if the id was closed meanwhile
     */
    void start(ListenRequest spec, Starter starter) throws RdmaException {
        DeviceLease single = addresses.shareDevice();
        begin(single == null ? options.devices().leases("listen") : List.of(single));
        Set<PortAuthority> served = new HashSet<>();
        RdmaException refusal = null;
        for (DeviceLease lease : leases) {
            PortAuthority authority = lease.device().portAuthority();
            if (served.contains(authority)) {
                continue;
            }
            RdmaException obstacle = obstacle(lease, starter, spec);
            if (obstacle != null) {
                if (single != null) {
                    throw obstacle;
                }
                LOG.log(System.Logger.Level.DEBUG, "{0} is not listened on: {1}",
                        lease.device().name(), obstacle.getMessage());
                refusal = obstacle;
            } else if (spec.address() == null && authority.hasOneWildcardListener()) {
                served.add(authority);
            }
        }
        if (listeners.isEmpty() && refusal != null) {
            throw refusal;
        }
        LOG.log(System.Logger.Level.DEBUG, () -> "listening on " + spec + " of "
                + leases.size() + (leases.size() == 1 ? " device" : " devices"));
    }

    private void begin(List<DeviceLease> opened) {
        synchronized (this) {
            isListening = !isClosed;
            if (isListening) {
                opened.forEach(this::add);
                return;
            }
        }
        opened.forEach(DeviceLease::release);
        throw IdStateMachine.closed();
    }

    private void add(DeviceLease lease) {
        leases.add(lease);
        events.addDriver(lease.context().progressDriver());
        lease.tell(this);
    }

    /** Of the wildcard address; an id at one address hears of its own. */
    @Override
    public void onAddressChanged(InetAddress address) {}

    @Override
    public void onDeviceGone() {
        if (leases.stream().noneMatch(DeviceListeners::mayBringRequests)) {
            addresses.onDeviceGone();
        }
    }

    /** A system that listens for all its devices at once does so also for those that come later. */
    private static boolean mayBringRequests(DeviceLease lease) {
        return !lease.isGone() || lease.device().portAuthority().hasOneWildcardListener();
    }

    /**
     * Listens on one device. {@return null, or why this device cannot offer the service although others may: it does not
     * support it, or another process has the port}
     */
    private @Nullable RdmaException obstacle(DeviceLease lease, Starter starter,
            ListenRequest spec) throws RdmaException {
        try {
            starter.check(lease);
            addresses.reservation(lease);
        } catch (RdmaException e) {
            return e;
        }
        try {
            keep(starter.listen(lease, withReservation(spec, lease)));
            return null;
        } catch (RdmaException e) {
            if (e.errno() == Errno.EADDRINUSE || e.errno() == Errno.EOPNOTSUPP) {
                return e;
            }
            throw e;
        }
    }

    private void keep(CmListener begun) {
        synchronized (this) {
            if (isListening) {
                listeners.add(begun);
                return;
            }
        }
        begun.close();
        throw IdStateMachine.closed();
    }

    private ListenRequest withReservation(ListenRequest spec, DeviceLease lease)
            throws RdmaException {
        return new ListenRequest(spec.space(), spec.type(), spec.port(),
                addresses.reservation(lease), spec.address(), spec.family(), spec.backlog(),
                spec.address() == null ? this::named : null);
    }

    /**
     * {@return the device of a name, opened if it has come up since listening began; null if the id does not listen on
     * it}
     */
    private @Nullable CmContext named(String name) {
        for (DeviceLease lease : leases) {
            if (lease.device().name().equals(name) && !lease.isGone()) {
                return lease.context();
            }
        }
        try {
            DeviceLease opened = options.devices().leaseOf(name, "listen");
            return opened == null ? null : admitted(opened);
        } catch (RdmaException e) {
            LOG.log(System.Logger.Level.WARNING,
                    "requests by {0} are rejected, as it cannot be opened: {1}", name,
                    e.getMessage());
            return null;
        }
    }

    private @Nullable CmContext admitted(DeviceLease opened) {
        synchronized (this) {
            if (isListening) {
                add(opened);
                return opened.context();
            }
        }
        opened.release();
        return null;
    }

    /**
     * {@return the lease of the device that a request came by, null if the id does not listen there any more} For the thread
     * that drives the device.
     */
    @Nullable
    DeviceLease leaseOf(CmContext via) {
        for (DeviceLease lease : leases) {
            if (lease.context().equals(via)) {
                return lease;
            }
        }
        return null;
    }

    /**
     * {@return where it can be reached, at the port of the bound address}
     *
     * @param isFamilyOnly whether the wildcard address stands for its own IP version alone
     */
    List<InetSocketAddress> addresses(InetSocketAddress bound, boolean isFamilyOnly) {
        InetAddress wanted = bound.getAddress();
        List<InetSocketAddress> reached = new ArrayList<>();
        for (DeviceLease lease : leases) {
            for (InetAddress address : lease.context().addresses()) {
                boolean isOfFamily = !isFamilyOnly || address.getClass() == wanted.getClass();
                if (isOfFamily
                        && (wanted.isAnyLocalAddress() || AddressScope.isSame(wanted, address))) {
                    reached.add(new InetSocketAddress(address, bound.getPort()));
                }
            }
        }
        return List.copyOf(reached);
    }

    /** The id is closed: stops, and does not start again. Idempotent. */
    void close() {
        synchronized (this) {
            isClosed = true;
        }
        stop();
    }

    /** Stops on all devices and gives them back; the devices are called without a lock held. */
    void stop() {
        List<CmListener> stopped;
        synchronized (this) {
            isListening = false;
            stopped = List.copyOf(listeners);
            listeners.removeAll(stopped);
        }
        stopped.forEach(CmListener::close);
        List<DeviceLease> released;
        synchronized (this) {
            released = List.copyOf(leases);
            leases.removeAll(released);
        }
        for (DeviceLease lease : released) {
            ProgressDriver driver = lease.context().progressDriver();
            lease.release();
            events.removeDriver(driver);
        }
    }
}
