// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.CmDevice;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.verbs.AbsentDevice;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Selects the devices that may serve an id: those that the program names, or all, the best first. The result does not
 * depend on which devices are open.
 *
 * @param name of a device, or what the names of several begin with before {@code _}; null for any
 * @param excluded the transport whose devices it does without, null for none
 */
record DeviceSelection(@Nullable String name, @Nullable TransportType excluded) {
    /** All devices. */
    static final DeviceSelection ALL = new DeviceSelection(null, null);

    private static final System.Logger LOG = System.getLogger(DeviceSelection.class.getName());

    /** Which devices, and why they were not used: each is told once. */
    private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

    /** The property that names the device of all ids that name none. */
    static final String PROPERTY = "rdma4j.device";

    /**
     * {@return the devices of an id}
     *
     * @param name the device that the id names, or null
     * @param excluded the transport that it excludes, or null
     */
    static DeviceSelection of(@Nullable String name, @Nullable TransportType excluded) {
        return new DeviceSelection(name == null ? System.getProperty(PROPERTY) : name, excluded);
    }

    /** A share of the device towards a destination, and the local address packets leave from. */
    record Route(DeviceLease lease, InetAddress source) {}

    /** What is to be had of a device. */
    private interface Attempt<T> {
        T with(CmDevice device) throws RdmaException;
    }

    /**
     * {@return the devices, at least one, the best first}
     *
     * @throws RdmaException ENODEV if there are none, or none of the name, EOPNOTSUPP if ids can use none of them
     */
    List<CmDevice> all(String operation) throws RdmaException {
        List<CmDevice> all = managed(present(operation));
        if (all.isEmpty()) {
            throw new RdmaException(Errno.ENODEV, operation,
                    "no RDMA device has a connection manager");
        }
        List<CmDevice> named = named(all);
        if (named.isEmpty()) {
            throw new RdmaException(Errno.ENODEV, operation, missing()
                    + absent().findFirst().map(each -> ": " + each.reason()).orElse("")
                    + "; there are " + text(all));
        }
        List<String> obstacles = new ArrayList<>();
        List<CmDevice> usable = usable(named, obstacles);
        if (usable.isEmpty()) {
            throw RdmaException.unsupported(operation,
                    "ids can use no RDMA device: " + String.join("; ", obstacles));
        }
        return usable;
    }

    private String missing() {
        String but = excluded == null ? ""
                : " but those of " + excluded + ", which the id excludes";
        return name == null
                ? "there are no devices" + but
                : "there is no device '" + name + "'" + but
                        + ", which the id or the property " + PROPERTY + " asks for";
    }

    private static List<RdmaDevice> present(String operation) throws RdmaException {
        List<RdmaDevice> present = RdmaDevices.list();
        if (!present.isEmpty()) {
            return present;
        }
        try {
            return List.of(RdmaDevices.first());
        } catch (RdmaException e) {
            throw new RdmaException(e.errno(), operation, e.detail(), e);
        }
    }

    /** {@return the devices that ids can use} What keeps them from others is added to the obstacles. */
    private static List<CmDevice> usable(List<CmDevice> devices, List<String> obstacles) {
        List<CmDevice> usable = new ArrayList<>();
        for (CmDevice device : devices) {
            String obstacle = device.obstacle();
            if (obstacle == null) {
                usable.add(device);
            } else {
                LOG.log(System.Logger.Level.DEBUG, "ids do without {0}: {1}", device.name(),
                        obstacle);
                obstacles.add(device.name() + ": " + obstacle);
            }
        }
        return usable;
    }

    private static List<CmDevice> managed(List<RdmaDevice> devices) {
        return devices.stream().filter(CmDevice.class::isInstance).map(CmDevice.class::cast)
                .toList();
    }

    /** {@return the device of the name; if there is none, those whose names begin with it} */
    private List<CmDevice> named(List<CmDevice> present) {
        List<CmDevice> all = excluded == null
                ? present
                : present.stream().filter(each -> each.transport() != excluded).toList();
        if (name == null) {
            return all;
        }
        List<CmDevice> exact = all.stream().filter(each -> each.name().equals(name)).toList();
        return exact.isEmpty()
                ? all.stream().filter(each -> each.name().startsWith(name + '_')).toList()
                : exact;
    }

    /** {@return those of them that will be there when the machine lets them} */
    private Stream<AbsentDevice> absent() {
        return RdmaDevices.absent().stream().filter(each -> each.transport() != excluded)
                .filter(each -> name == null || each.name().equals(name)
                        || each.name().startsWith(name + '_'));
    }

    /** @throws RdmaException as {@link #all}, unless there will be such devices when the machine lets them */
    void requireKnown(String operation) throws RdmaException {
        try {
            all(operation);
        } catch (RdmaException none) {
            if (!mayCome()) {
                throw none;
            }
        }
    }

    /** {@return whether the machine has such devices that are missing now} */
    boolean mayCome() {
        return absent().findAny().isPresent();
    }

    /** {@return the authorities that allocate the ports of the devices; empty without devices} */
    Set<PortAuthority> portAuthorities() {
        Set<PortAuthority> authorities = new LinkedHashSet<>();
        usable(named(managed(RdmaDevices.list())), new ArrayList<>())
                .forEach(each -> authorities.add(each.portAuthority()));
        return authorities;
    }

    /**
     * {@return shares of all devices that can be opened}
     *
     * @throws RdmaException ENODEV if there are none, naming why
     */
    List<DeviceLease> leases(String operation) throws RdmaException {
        List<DeviceLease> leases = new ArrayList<>();
        List<RdmaException> failures = new ArrayList<>();
        for (CmDevice candidate : all(operation)) {
            try {
                leases.add(SharedDevice.lease(candidate, null));
            } catch (RdmaException e) {
                logFailure(candidate, e);
                failures.add(e);
            }
        }
        if (leases.isEmpty()) {
            throw noneOpens(operation, failures);
        }
        return leases;
    }

    /** {@return the error for that no device can be opened, with the reasons} */
    static RdmaException noneOpens(String operation, List<RdmaException> failures) {
        RdmaException none = new RdmaException(Errno.ENODEV, operation,
                "no RDMA device can be opened: " + failures.getFirst().detail());
        failures.forEach(none::addSuppressed);
        return none;
    }

    /**
     * {@return a share of the device of a name, null if it is none of these}
     *
     * @throws RdmaException if it cannot be opened
     */
    @Nullable
    DeviceLease leaseOf(String wanted, String operation) throws RdmaException {
        for (CmDevice candidate : all(operation)) {
            if (candidate.name().equals(wanted)) {
                return SharedDevice.lease(candidate, null);
            }
        }
        return null;
    }

    /**
     * {@return the name of the best device that serves a local address and sees a listener at a destination; null if there is
     * none} It may take seconds.
     *
     * @param except the name of a device that is not wanted
     */
    @Nullable
    String seeingListener(PortSpace space, InetAddress local, InetSocketAddress destination,
            String except) {
        try {
            for (CmDevice candidate : all("look for listener")) {
                if (!candidate.name().equals(except) && candidate.hosts(local)
                        && candidate.seesListener(space, local, destination)) {
                    return candidate.name();
                }
            }
        } catch (RdmaException none) {
            LOG.log(System.Logger.Level.DEBUG, "no device looks for a listener: {0}",
                    none.getMessage());
        }
        return null;
    }

    /** {@return the devices in their order, but one first if it is among them} */
    private static List<CmDevice> beginningWith(@Nullable String first, List<CmDevice> devices) {
        if (first == null) {
            return devices;
        }
        List<CmDevice> ordered = new ArrayList<>(devices);
        ordered.sort(Comparator.comparing(each -> !each.name().equals(first)));
        return ordered;
    }

    /**
     * {@return a share of the best device that serves a local address and can be opened, with the address held}
     *
     * @param first the name of the device that comes first for once, null for the usual order
     * @throws RdmaException ENODEV if there is no device, EADDRNOTAVAIL if none hosts the address; as opening the best one
     *         fails, if none can be opened: EADDRINUSE if another process holds the address
     */
    DeviceLease forLocal(InetAddress local, @Nullable String first) throws RdmaException {
        List<CmDevice> candidates = beginningWith(first, all("bind address"));
        DeviceLease lease = ofBestHosting(candidates, local,
                device -> SharedDevice.lease(device, local));
        if (lease == null) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, "bind address", local.getHostAddress()
                    + " is the address of no RDMA device; there are " + text(candidates));
        }
        return lease;
    }

    /**
     * {@return the device and local address that lead to a destination}
     *
     * @param first the name of the device that comes first for once, null for the usual order
     * @throws RdmaException ENODEV if there is no device, or the route leaves by an interface without one,
     *         ENETUNREACH if there is no route
     */
    Route towards(InetAddress destination, @Nullable String first) throws RdmaException {
        List<CmDevice> candidates = beginningWith(first, all("resolve address"));
        Route toHost = ofBestHosting(candidates, destination,
                device -> viaHost(device, destination));
        if (toHost != null) {
            return toHost;
        }
        InetAddress source = RouteProbe.source(destination);
        Route route = from(candidates, source);
        InetAddress named = route == null && name != null
                ? sameSubnet(candidates, destination)
                : null;
        if (named != null) {
            route = from(candidates, named);
        }
        if (route == null) {
            throw new RdmaException(Errno.ENODEV, "resolve address", "packets to "
                    + destination.getHostAddress() + " leave from " + source.getHostAddress()
                    + ", which is "
                    + (name == null ? "the address of no RDMA device" : "no address of " + name)
                    + "; there are " + text(candidates));
        }
        return route;
    }

    private static @Nullable Route from(List<CmDevice> candidates, InetAddress source)
            throws RdmaException {
        return ofBestHosting(candidates, source,
                device -> new Route(SharedDevice.lease(device, source), source));
    }

    /**
     * {@return an address of the named devices whose subnet has a destination, null if there is none} Where two interfaces
     * are in one subnet, the system names the address of the other one. The subnet of a link-local address ends at its link.
     */
    private static @Nullable InetAddress sameSubnet(List<CmDevice> named,
            InetAddress destination) {
        return named.stream().flatMap(device -> device.hostedAddresses().stream())
                .filter(own -> RouteProbe.isInSubnet(own, destination)).findFirst().orElse(null);
    }

    /** The destination is this machine: loopback leaves from an address of our own. */
    private static Route viaHost(CmDevice device, InetAddress destination) throws RdmaException {
        if (!destination.isLoopbackAddress()) {
            return new Route(SharedDevice.lease(device, destination), destination);
        }
        DeviceLease lease = SharedDevice.lease(device, null);
        for (InetAddress held : lease.context().addresses()) {
            if (held.getClass() == destination.getClass()) {
                return new Route(lease, held);
            }
        }
        // Opened for an address of the other IP version.
        try {
            lease.context().claim(destination);
            return new Route(lease, destination);
        } catch (RdmaException e) {
            lease.release();
            throw new RdmaException(e.errno(), "resolve address", device.name()
                    + " needs an address of the kind of " + destination.getHostAddress()
                    + " and cannot have that one: " + e.detail(), e);
        }
    }

    /**
     * {@return what is to be had of the best device that hosts an address and can be opened; null if none hosts it} Where
     * another process holds the address, the next device leads there too, by another transport.
     *
     * @throws RdmaException as the best one fails, if none can be opened
     */
    private static <T> @Nullable T ofBestHosting(List<CmDevice> candidates, InetAddress address,
            Attempt<T> attempt) throws RdmaException {
        RdmaException first = null;
        for (CmDevice candidate : candidates) {
            if (!candidate.hosts(address)) {
                continue;
            }
            try {
                return attempt.with(candidate);
            } catch (RdmaException e) {
                logFailure(candidate, e);
                if (first == null) {
                    first = e;
                } else {
                    first.addSuppressed(e);
                }
            }
        }
        if (first != null) {
            throw first;
        }
        return null;
    }

    /** A program that was told no device goes on with another; its user has to know why, and what to do about it. */
    private static void logFailure(CmDevice device, RdmaException failure) {
        boolean isNews = failure.errno() == Errno.EADDRINUSE
                && WARNED.add(device.name() + failure.detail());
        LOG.log(isNews ? System.Logger.Level.WARNING : System.Logger.Level.DEBUG,
                "{0} is not used: {1}", device.name(), failure.getMessage());
    }

    /** {@return the devices by name, and what each serves} */
    private static String text(List<CmDevice> devices) {
        return devices.stream()
                .map(device -> device.name() + device.hostedAddresses().stream()
                        .map(InetAddress::getHostAddress)
                        .collect(Collectors.joining(", ", " (", ")")))
                .collect(Collectors.joining(", "));
    }
}
