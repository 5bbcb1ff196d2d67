// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.event.ProgressDriver;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDevice;
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

/**
 * The devices an id listens on: one, or for a wildcard address all that can be opened, those that come later included
 * (ADR 49).
 */
final class DeviceListeners {
    private static final System.Logger LOG = System.getLogger(DeviceListeners.class.getName());

    private final IdAddresses addresses;
    private final IdEvents events;
    private final IdOptions options;
    private final Starter starter;
    private final DeviceFollower follower = new DeviceFollower(this::follow);
    /** Changes under the lock of this; a device is opened and closed without it. */
    private final List<ServedDevice> served = new CopyOnWriteArrayList<>();
    /** One thread at a time looks for devices to listen on. */
    private final Object looking = new Object();
    /** Guarded by {@link #looking}. */
    private final UnservedDevices unserved = new UnservedDevices();
    /** What is offered at the wildcard address, null before. Guarded by {@link #looking}. */
    private @Nullable ListenRequest everywhere;
    /** Guarded by this. */
    private boolean isListening;
    /** Guarded by this. */
    private boolean isClosed;

    DeviceListeners(IdAddresses addresses, IdEvents events, IdOptions options, Starter starter) {
        this.addresses = addresses;
        this.events = events;
        this.options = options;
        this.starter = starter;
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
    void start(ListenRequest spec) throws RdmaException {
        DeviceLease single = addresses.shareDevice();
        begin(single);
        if (single == null) {
            startEverywhere(spec);
        } else {
            RdmaException obstacle = obstacle(admit(single), spec);
            if (obstacle != null) {
                throw obstacle;
            }
        }
        LOG.log(System.Logger.Level.DEBUG, () -> "listening on " + spec + " of " + served.size()
                + (served.size() == 1 ? " device" : " devices"));
    }

    private void begin(@Nullable DeviceLease single) {
        synchronized (this) {
            isListening = !isClosed;
            if (isListening) {
                return;
            }
        }
        if (single != null) {
            single.release();
        }
        throw IdStateMachine.closed();
    }

    /** {@return a device that the id listens on from now on, without a listener yet} */
    private ServedDevice admit(DeviceLease lease) {
        ServedDevice admitted = new ServedDevice(lease, this::onDeviceGone);
        ProgressDriver driver = lease.context().progressDriver();
        boolean isAdmitted;
        synchronized (this) {
            isAdmitted = isListening;
            if (isAdmitted) {
                served.add(admitted);
                events.addDriver(driver);
            }
        }
        if (!isAdmitted) {
            lease.release();
            throw IdStateMachine.closed();
        }
        lease.listener(admitted);
        return admitted;
    }

    /** Listens on one device. {@return null, or why this device cannot offer the service, although others may} */
    private @Nullable RdmaException obstacle(ServedDevice on, ListenRequest spec) {
        try {
            starter.check(on.lease());
            keep(on, starter.listen(on.lease(), withReservation(spec, on.lease())));
            return null;
        } catch (RdmaException e) {
            return e;
        }
    }

    private void keep(ServedDevice on, CmListener begun) {
        synchronized (this) {
            if (isListening && served.contains(on)) {
                on.listener(begun);
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

    // ---------------------------------------------------------------- the wildcard address

    private void startEverywhere(ListenRequest spec) throws RdmaException {
        // First, so that no change is missed.
        follower.start();
        synchronized (looking) {
            everywhere = null;
            List<RdmaException> failures = new ArrayList<>();
            List<CmDevice> present = present(failures);
            for (CmDevice each : present) {
                RdmaException failure = serve(each, spec);
                if (failure != null) {
                    failures.add(failure);
                }
            }
            if (served.stream().allMatch(each -> each.listener() == null)) {
                requireThatSomeMayCome(failures, !present.isEmpty() && served.isEmpty()
                        ? DeviceSelection.noneOpens("listen", failures)
                        : failures.getLast());
            }
            everywhere = spec;
            requireListening();
            if (unserved.mayPass()) {
                follower.tryLater();
            }
        }
    }

    /** Without a device nothing else would notice that the id was closed meanwhile, before there was something to stop. */
    private synchronized void requireListening() {
        if (!isListening) {
            throw IdStateMachine.closed();
        }
    }

    /** {@return the devices there are} If there are none, the reason is added. */
    private List<CmDevice> present(List<RdmaException> failures) {
        try {
            return options.devices().all("listen");
        } catch (RdmaException none) {
            failures.add(none);
            return List.of();
        }
    }

    /**
     * @param failures why no device is listened on, at least one
     * @param reason thrown if none may come
     */
    private void requireThatSomeMayCome(List<RdmaException> failures, RdmaException reason)
            throws RdmaException {
        boolean mayPass = failures.stream()
                .allMatch(each -> each.errno() == Errno.EADDRNOTAVAIL
                        || each.errno() == Errno.ENODEV);
        boolean isTried = failures.stream()
                .anyMatch(each -> each.errno() == Errno.EADDRNOTAVAIL);
        if (!follower.isNotified() || !mayPass || !(isTried || options.devices().mayCome())) {
            throw reason;
        }
        LOG.log(System.Logger.Level.WARNING, "nothing can be listened on yet: {0}",
                reason.detail());
    }

    /**
     * Listens on a device, unless the id does already. {@return null, or why it cannot}
     *
     * @throws IllegalStateException if the id was closed meanwhile
     */
    private @Nullable RdmaException serve(CmDevice device, ListenRequest spec) {
        ServedDevice on = present(device.name());
        if (on == null) {
            if (everywhere != null && isCovered(device.portAuthority())) {
                // Opened when a request comes by it.
                return null;
            }
            try {
                on = admit(SharedDevice.lease(device, null));
            } catch (RdmaException e) {
                unserved.add(device.name(), e);
                return e;
            }
        }
        if (on.listener() != null || isCovered(device.portAuthority())) {
            return null;
        }
        RdmaException obstacle = obstacle(on, spec);
        if (obstacle != null) {
            unserved.add(device.name(), obstacle);
            return obstacle;
        }
        unserved.remove(device.name());
        if (everywhere != null) {
            LOG.log(System.Logger.Level.INFO, "{0} is listened on now", device.name());
        }
        return null;
    }

    /** {@return the device of a name that the id listens on; null if there is none, or it is gone} */
    private @Nullable ServedDevice present(String name) {
        for (ServedDevice each : served) {
            if (each.name().equals(name) && !each.lease().isGone()) {
                return each;
            }
        }
        return null;
    }

    /** {@return whether a listener of another device serves those of an authority as well} */
    private boolean isCovered(PortAuthority authority) {
        return served.stream().anyMatch(each -> each.isListenerOf(authority));
    }

    /** Must not block: the device is being removed. */
    private void onDeviceGone() {
        if (follower.isNotified()) {
            follower.onChange();
        } else if (served.stream().noneMatch(ServedDevice::mayBringRequests)) {
            // Nobody would report one that comes: the application would wait for ever.
            addresses.onDeviceGone();
        }
    }

    /**
     * Devices may have come or gone, or another process may have given something back. In a thread of its own. {@return whether
     * a device is not listened on that may be later without a change of the devices}
     */
    private boolean follow() {
        synchronized (looking) {
            ListenRequest spec = everywhere;
            if (spec == null) {
                return false;
            }
            dropGone();
            Set<String> names = new HashSet<>();
            for (CmDevice each : present(new ArrayList<>())) {
                names.add(each.name());
                try {
                    serve(each, spec);
                } catch (IllegalStateException closed) {
                    return false;
                }
            }
            unserved.retain(names);
            return unserved.mayPass();
        }
    }

    private void dropGone() {
        for (ServedDevice each : served) {
            if (!each.mayBringRequests() && isTaken(each)) {
                LOG.log(System.Logger.Level.INFO, "{0} is gone, and is not listened on any more",
                        each.name());
                giveBack(each);
            }
        }
    }

    private synchronized boolean isTaken(ServedDevice dropped) {
        return served.remove(dropped);
    }

    private void giveBack(ServedDevice dropped) {
        CmListener listener = dropped.listener();
        if (listener != null) {
            listener.close();
        }
        ProgressDriver driver = dropped.lease().context().progressDriver();
        dropped.lease().release();
        events.removeDriver(driver);
    }

    /**
     * {@return the device of a name, opened if it has come up since listening began; null if the id does not listen on
     * it}
     */
    private @Nullable CmContext named(String name) {
        ServedDevice present = present(name);
        if (present != null) {
            return present.lease().context();
        }
        try {
            DeviceLease opened = options.devices().leaseOf(name, "listen");
            return opened == null ? null : admit(opened).lease().context();
        } catch (RdmaException e) {
            LOG.log(System.Logger.Level.WARNING,
                    "requests by {0} are rejected, as it cannot be opened: {1}", name,
                    e.getMessage());
            return null;
        } catch (IllegalStateException closed) {
            return null;
        }
    }

    // ---------------------------------------------------------------- what the id asks

    /**
     * {@return the lease of the device that a request came by, null if the id does not listen there any more} For the thread
     * that drives the device.
     */
    @Nullable
    DeviceLease leaseOf(CmContext via) {
        for (ServedDevice each : served) {
            if (each.lease().context().equals(via)) {
                return each.lease();
            }
        }
        return null;
    }

    /**
     * {@return where it can be reached, at the port of the bound address, each address once}
     *
     * @param isFamilyOnly whether the wildcard address stands for its own IP version alone
     */
    List<InetSocketAddress> addresses(InetSocketAddress bound, boolean isFamilyOnly) {
        InetAddress wanted = bound.getAddress();
        List<InetSocketAddress> reached = new ArrayList<>();
        for (ServedDevice each : served) {
            for (InetAddress address : each.lease().context().addresses()) {
                boolean isOfFamily = !isFamilyOnly || address.getClass() == wanted.getClass();
                if (isOfFamily
                        && (wanted.isAnyLocalAddress() || AddressScope.isSame(wanted, address))
                        && reached.stream().noneMatch(
                                other -> AddressScope.isSame(other.getAddress(), address))) {
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
        follower.stop();
        List<ServedDevice> stopped;
        synchronized (this) {
            isListening = false;
            stopped = List.copyOf(served);
        }
        // First all, so that no request comes by one while another is given back.
        for (ServedDevice each : stopped) {
            CmListener listener = each.listener();
            if (listener != null) {
                listener.close();
            }
        }
        for (ServedDevice each : stopped) {
            if (isTaken(each)) {
                giveBack(each);
            }
        }
    }
}
