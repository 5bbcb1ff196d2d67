package io.rdma4j.cm;

import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDevice;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * An id's share of an open device. All ids of the process share one context a device, opened for the
 * first and closed after the last.
 */
final class DeviceLease {
    private static final List<Shared> OPEN = new ArrayList<>();

    private final Shared shared;
    private volatile @Nullable Holder holder;
    private boolean released;

    private DeviceLease(Shared shared) {
        this.shared = shared;
        shared.leases.add(this);
    }

    /** Hears what becomes of the device. Must not block. */
    interface Holder {
        /** As {@link CmContext.Watcher#onAddressChanged}. */
        void onAddressChanged(InetAddress address);

        /** As {@link CmContext.Watcher#onDeviceGone}. */
        void onDeviceGone();
    }

    private static final class Shared implements CmContext.Watcher {
        final CmDevice device;
        final CmContext context;
        @Nullable
        ProtectionDomain defaultDomain;
        final Set<DeviceLease> leases = ConcurrentHashMap.newKeySet();
        volatile boolean isGone;

        Shared(CmDevice device, CmContext context) {
            this.device = device;
            this.context = context;
        }

        @Override
        public void onAddressChanged(InetAddress address) {
            tell(holder -> holder.onAddressChanged(address));
        }

        @Override
        public void onDeviceGone() {
            isGone = true;
            tell(Holder::onDeviceGone);
        }

        private void tell(Consumer<Holder> news) {
            for (DeviceLease lease : leases) {
                Holder hears = lease.holder;
                if (hears != null) {
                    news.accept(hears);
                }
            }
        }
    }

    /**
     * {@return a share of the device that hosts a local address, with the address held}
     *
     * @throws RdmaException ENODEV if there is no device, EADDRNOTAVAIL if none hosts it, EADDRINUSE if
     *         another process holds it
     */
    static DeviceLease forLocal(InetAddress local) throws RdmaException {
        CmDevice device = hosting(local);
        if (device != null) {
            return open(device, local);
        }
        throw new RdmaException(Errno.EADDRNOTAVAIL, "bind address", local.getHostAddress()
                + " is the address of no RDMA device; there are " + known("bind address"));
    }

    /** {@return the names of the devices there are} */
    private static String known(String operation) throws RdmaException {
        return RdmaDevices.requireAny(operation).stream().map(RdmaDevice::name)
                .collect(Collectors.joining(", "));
    }

    /**
     * {@return shares of all devices that can be opened}
     *
     * @throws RdmaException ENODEV if there are none, naming why
     */
    static List<DeviceLease> forAll(String operation) throws RdmaException {
        List<DeviceLease> leases = new ArrayList<>();
        List<RdmaException> failures = new ArrayList<>();
        for (RdmaDevice device : RdmaDevices.requireAny(operation)) {
            if (device instanceof CmDevice candidate) {
                try {
                    leases.add(open(candidate, null));
                } catch (RdmaException e) {
                    failures.add(e);
                }
            }
        }
        if (!leases.isEmpty()) {
            return leases;
        }
        RdmaException none = new RdmaException(Errno.ENODEV, operation,
                "no RDMA device can be opened"
                        + (failures.isEmpty() ? "" : ": " + failures.getFirst().detail()));
        failures.forEach(none::addSuppressed);
        throw none;
    }

    /** A share of the device towards a destination, and the local address packets leave from. */
    record Towards(DeviceLease lease, InetAddress source) {}

    /**
     * {@return the device and local address that lead to a destination}
     *
     * @throws RdmaException ENODEV if the route leaves by an interface without RDMA device,
     *         ENETUNREACH if there is no route
     */
    static Towards towards(InetSocketAddress destination) throws RdmaException {
        InetAddress address = destination.getAddress();
        CmDevice host = hosting(address);
        if (host != null) {
            return viaHost(host, address);
        }
        InetAddress source = routeSource(destination);
        CmDevice device = hosting(source);
        if (device != null) {
            return new Towards(open(device, source), source);
        }
        throw new RdmaException(Errno.ENODEV, "resolve address", "packets to "
                + address.getHostAddress() + " leave from " + source.getHostAddress()
                + ", which is the address of no RDMA device; there are "
                + known("resolve address"));
    }

    /**
     * {@return the device that hosts an address, null if none does} To list all interfaces takes as long as half a
     * connection, so those that are open are asked first.
     */
    private static @Nullable CmDevice hosting(InetAddress address) {
        List<CmDevice> candidates = new ArrayList<>();
        synchronized (OPEN) {
            OPEN.stream().filter(each -> !each.isGone).forEach(each -> candidates.add(each.device));
        }
        for (CmDevice candidate : candidates) {
            if (candidate.hosts(address)) {
                return candidate;
            }
        }
        for (RdmaDevice device : RdmaDevices.list()) {
            if (device instanceof CmDevice candidate && candidate.hosts(address)) {
                return candidate;
            }
        }
        return null;
    }

    /** The destination is this machine: loopback leaves from an address of our own. */
    private static Towards viaHost(CmDevice device, InetAddress destination) throws RdmaException {
        if (!destination.isLoopbackAddress()) {
            return new Towards(open(device, destination), destination);
        }
        DeviceLease lease = open(device, null);
        for (InetAddress held : lease.context().addresses()) {
            if (held.getClass() == destination.getClass()) {
                return new Towards(lease, held);
            }
        }
        // Opened for an address of the other IP version.
        try {
            lease.context().claim(destination);
            return new Towards(lease, destination);
        } catch (RdmaException e) {
            lease.release();
            throw new RdmaException(e.errno(), "resolve address", device.name()
                    + " needs an address of the kind of " + destination.getHostAddress()
                    + " and cannot have that one: " + e.detail(), e);
        }
    }

    /** Asks the system's routing table; a datagram socket sends nothing when it is connected. */
    private static InetAddress routeSource(InetSocketAddress destination) throws RdmaException {
        try (DatagramSocket probe = new DatagramSocket()) {
            probe.connect(new InetSocketAddress(destination.getAddress(), 4791));
            return probe.getLocalAddress();
        } catch (IOException | RuntimeException e) {
            throw new RdmaException(Errno.ENETUNREACH, "resolve address",
                    "there is no route to " + destination.getAddress().getHostAddress(), e);
        }
    }

    private static DeviceLease open(CmDevice device, @Nullable InetAddress address)
            throws RdmaException {
        synchronized (OPEN) {
            Shared shared = null;
            for (Shared each : OPEN) {
                if (each.device.name().equals(device.name()) && !each.isGone) {
                    shared = each;
                }
            }
            if (shared == null) {
                shared = new Shared(device, device.open(address));
                OPEN.add(shared);
                shared.context.watch(shared);
            } else if (address != null) {
                shared.context.claim(address);
            }
            return new DeviceLease(shared);
        }
    }

    CmContext context() {
        return shared.context;
    }

    /** Tells a holder from now on what becomes of the device. */
    DeviceLease heldBy(Holder newHolder) {
        holder = newHolder;
        return this;
    }

    /**
     * {@return another share of the same device} Called by the thread that drives the device, so it takes
     * no lock: whoever holds it may be waiting for that thread.
     */
    DeviceLease share() {
        return new DeviceLease(shared);
    }

    /** {@return the protection domain that ids of this device share when given none} */
    ProtectionDomain defaultDomain() throws RdmaException {
        synchronized (OPEN) {
            ProtectionDomain domain = shared.defaultDomain;
            if (domain == null) {
                domain = shared.context.allocateProtectionDomain();
                shared.defaultDomain = domain;
            }
            return domain;
        }
    }

    /** Gives the share back; the last closes the device, unless the application still uses it. */
    void release() {
        synchronized (OPEN) {
            if (released) {
                return;
            }
            released = true;
            shared.leases.remove(this);
            OPEN.removeIf(DeviceLease::closeIfIdle);
        }
    }

    private static void closeIdle() {
        synchronized (OPEN) {
            OPEN.removeIf(DeviceLease::closeIfIdle);
        }
    }

    /** Objects of the context may outlive the ids of an application: it stays open as long as they do. */
    private static boolean closeIfIdle(Shared shared) {
        if (!shared.leases.isEmpty()) {
            return false;
        }
        try {
            if (shared.defaultDomain != null) {
                shared.defaultDomain.close();
                shared.defaultDomain = null;
            }
            shared.context.close();
            return true;
        } catch (RdmaException busy) {
            shared.context.whenReleased(DeviceLease::closeIdle);
            return false;
        }
    }
}
