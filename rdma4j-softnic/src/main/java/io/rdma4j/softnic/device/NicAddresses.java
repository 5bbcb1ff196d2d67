// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.verbs.Transport;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/**
 * The addresses of an open device: its GID table, whose entries never change their index, and the sockets of the addresses.
 * Thread safe.
 */
public final class NicAddresses {
    private static final System.Logger LOG = System.getLogger(NicAddresses.class.getName());
    private static final int LAST_LOOPBACK = 254;
    private static final InetAddress FIRST_LOOPBACK = InetAddress.ofLiteral("127.0.0.1");

    private final DeviceInterface deviceInterface;
    private final Transport transport;
    private final EngineDriver driver;
    private final List<Gid> gids = new CopyOnWriteArrayList<>();
    /** Addresses that another process held when this device was opened. */
    private final List<InetAddress> wanting = new ArrayList<>();
    private final UnservedAddresses unserved;
    /** The addresses of a loopback interface when it was last looked at. */
    private List<InetAddress> seen = List.of();
    /** Those of loopback that it should have and could not get; each later look tries again. */
    private final Set<InetAddress> missing = new HashSet<>();
    /** It was opened for one address of loopback, and not for all since. */
    private volatile boolean isOfOneAddress;
    private boolean isOver;

    NicAddresses(DeviceInterface deviceInterface, Transport transport, EngineDriver driver) {
        this.deviceInterface = deviceInterface;
        this.transport = transport;
        this.driver = driver;
        unserved = new UnservedAddresses(deviceInterface.device());
    }

    /** {@return the GID table; an empty entry is {@link Gid#ZERO}} */
    public List<Gid> gids() {
        return gids;
    }

    /** {@return the addresses in the table, link-local ones with their interface} */
    public List<InetAddress> all() {
        List<InetAddress> addresses = new ArrayList<>();
        for (Gid gid : gids) {
            if (!gid.isZero()) {
                addresses.add(addressOf(gid));
            }
        }
        return addresses;
    }

    /** {@return the address that a GID stands for, a link-local one with the interface of the device} */
    InetAddress addressOf(Gid gid) {
        return AddressScope.on(gid.address(), deviceInterface.networkInterface());
    }

    // ---------------------------------------------------------------- opening

    /** Opens the addresses of the device; after a failure none stays open. */
    synchronized void open(@Nullable InetAddress address) throws RdmaException {
        try {
            if (deviceInterface.isLoopback()) {
                openLoopback(address);
            } else {
                openAll(address);
                if (wanting.isEmpty()) {
                    requireHeld(address);
                }
            }
        } catch (RdmaException | RuntimeException | Error e) {
            // As the engine's owner, whose next round frees the memory.
            driver.run(nowNs -> transport.close());
            throw e;
        }
    }

    /** Does without what is refused, as long as there is something left; each later look tries again. */
    private void openAll(@Nullable InetAddress asked) throws RdmaException {
        PortView view = deviceInterface.view();
        Map<InetAddress, RdmaException> refused = new LinkedHashMap<>();
        for (InetAddress address : view.addresses()) {
            if (gids.isEmpty() && !address.isLinkLocalAddress()) {
                gids.add(Gid.ZERO);
            }
            try {
                gids.add(transport.hold(address));
            } catch (RdmaException e) {
                if (e.errno() == Errno.EADDRINUSE) {
                    gids.add(Gid.of(address));
                    wanting.add(address);
                } else if (e.errno() != Errno.EADDRNOTAVAIL) {
                    refused.put(address, e);
                }
                // Else it has gone, or become unusable, since the view: that is noticed as any change.
            }
        }
        requireNotRefused(asked, refused);
        requireAny(view);
        refused.forEach(unserved::add);
        unserved.update(view);
    }

    /** @throws RdmaException why the address that was asked for is refused, or the first one if all are */
    private void requireNotRefused(@Nullable InetAddress asked,
            Map<InetAddress, RdmaException> refused) throws RdmaException {
        boolean isAnyHeld = gids.stream().anyMatch(gid -> !gid.isZero());
        for (Map.Entry<InetAddress, RdmaException> each : refused.entrySet()) {
            if (!isAnyHeld || (asked != null && AddressScope.isSame(asked, each.getKey()))) {
                throw each.getValue();
            }
        }
    }

    private void requireAny(PortView view) throws RdmaException {
        if (gids.stream().allMatch(Gid::isZero)) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, "open device",
                    deviceInterface.device() + " has no address that can be used"
                            + view.unusable().stream()
                                    .map(each -> "; " + each.address().getHostAddress() + " "
                                            + each.state().text())
                                    .collect(Collectors.joining()));
        }
    }

    /**
     * Claims all addresses, before the device is used and not only described.
     *
     * @param asked the address that the application needs, null if it names only the device
     * @throws RdmaException EADDRINUSE while another process has one of them
     */
    public synchronized void hold(@Nullable InetAddress asked) throws RdmaException {
        if (asked != null && wanting.remove(asked)) {
            // Claimed first, so that an error is about the address that was asked for.
            wanting.addFirst(asked);
        }
        while (!wanting.isEmpty()) {
            requireOpen();
            InetAddress next = wanting.getFirst();
            try {
                transport.hold(next);
            } catch (RdmaException e) {
                throw e.errno() == Errno.EADDRINUSE ? inUse(asked, next, e) : e;
            }
            wanting.removeFirst();
            driver.lookAgain();
        }
    }

    /** {@return the error for the requested address or device, because another process has an address} */
    private RdmaException inUse(@Nullable InetAddress asked, InetAddress taken,
            RdmaException cause) {
        String port = cause.detail() + " by " + transport.holder(taken);
        String wanted = deviceInterface.isLoopback() || taken.equals(asked) ? ""
                : (asked == null ? deviceInterface.device() : asked.getHostAddress())
                        + " cannot be used: ";
        return new RdmaException(Errno.EADDRINUSE, cause.operation(), wanted + port
                + "; end that one, or use another "
                + (deviceInterface.isLoopback() ? "address" : "device"), cause);
    }

    private void requireHeld(@Nullable InetAddress address) throws RdmaException {
        if (address != null && !isOpen(address)) {
            throw notOurs(address);
        }
    }

    private RdmaException notOurs(InetAddress address) {
        return new RdmaException(Errno.EADDRNOTAVAIL, "open device",
                address.getHostAddress() + " is no address of " + deviceInterface.device());
    }

    /** {@return whether an address has an open port} Asks as the engine's owner, which also closes ports. */
    private boolean isOpen(InetAddress address) {
        Gid gid = Gid.of(address);
        boolean[] isOpen = {false};
        driver.run(nowNs -> isOpen[0] = transport.holds(gid));
        return isOpen[0];
    }

    /**
     * Loopback has one IPv6 address and many IPv4 addresses. Where processes share addresses, all use the first of each;
     * elsewhere the first process gets the IPv6 address, and each process has an IPv4 address of its own.
     */
    private void openLoopback(@Nullable InetAddress wanted) throws RdmaException {
        gids.add(Gid.ZERO);
        PortView view = deviceInterface.view();
        seen = view.addresses();
        if (wanted != null) {
            isOfOneAddress = true;
            claim(wanted);
        }
        if (!(wanted instanceof Inet4Address)) {
            if (seen.stream().anyMatch(DeviceInterface::isLoopbackIpv4)) {
                openFreeLoopback();
            }
        }
        if (wanted == null) {
            for (InetAddress address : seen) {
                if (address instanceof Inet6Address) {
                    openUnlessTaken(address);
                }
            }
        }
        requireAny(view);
    }

    /**
     * The device is opened once more, for all its addresses. If it was opened for one of loopback only, it takes those that it would
     * have taken otherwise, as far as it can get them; later looks try again.
     */
    void claimUsual() {
        if (isOfOneAddress) {
            takeUsual();
        }
    }

    private synchronized void takeUsual() {
        if (isOver || !isOfOneAddress) {
            return;
        }
        for (InetAddress address : seen) {
            boolean isUsual = address instanceof Inet6Address
                    || (FIRST_LOOPBACK.equals(address) && transport.sharesAddresses());
            if (isUsual && !gids.contains(Gid.of(address))) {
                takeMissing(address);
            }
        }
        isOfOneAddress = false;
    }

    private void openFreeLoopback() throws RdmaException {
        RdmaException first = null;
        for (int n = 1; n <= LAST_LOOPBACK; n++) {
            try {
                take(InetAddress.ofLiteral("127.0.0." + n));
                if (first != null) {
                    // Where no process shares its address, each has one of its own, which peers must know all the same.
                    System.Logger.Level level = transport.sharesAddresses()
                            ? System.Logger.Level.WARNING
                            : System.Logger.Level.INFO;
                    LOG.log(level, "{0} is at 127.0.0.{1}: {2} by {3}", deviceInterface.device(), n,
                            first.detail(), holderOfFirstLoopback());
                }
                return;
            } catch (RdmaException e) {
                if (e.errno() == Errno.EADDRNOTAVAIL && first != null) {
                    throw new RdmaException(Errno.EADDRINUSE, "open device",
                            "127.0.0.1 is taken by "
                                    + holderOfFirstLoopback() + ", and this system has no 127.0.0."
                                    + n
                                    + " yet; add it, as macOS does by: sudo ifconfig lo0 alias 127.0.0."
                                    + n,
                            first);
                }
                if (e.errno() != Errno.EADDRINUSE) {
                    throw e;
                }
                if (first != null && transport.isTakenEverywhere()) {
                    break;
                }
                first = first == null ? e : first;
            }
        }
        throw new RdmaException(Errno.EADDRINUSE, "open device", "all of 127.0.0.1 to 127.0.0."
                + LAST_LOOPBACK + " are taken, the first by " + holderOfFirstLoopback()
                + "; end some of those that hold it",
                first);
    }

    private String holderOfFirstLoopback() {
        return transport.holder(InetAddress.ofLiteral("127.0.0.1"));
    }

    /**
     * Opens an address, or does without it if it is taken: a caller that needs it gets the reason when it claims it; for
     * others another one suffices. Later looks try again.
     */
    private void openUnlessTaken(InetAddress address) throws RdmaException {
        try {
            take(address);
            missing.remove(address);
            unserved.remove(address);
        } catch (RdmaException e) {
            if (e.errno() != Errno.EADDRINUSE && e.errno() != Errno.EADDRNOTAVAIL
                    && e.errno() != Errno.EAFNOSUPPORT) {
                throw e;
            }
            if (e.errno() == Errno.EADDRINUSE) {
                missing.add(address);
            }
            if (e.errno() == Errno.EADDRINUSE && transport.sharesAddresses()) {
                // Processes share it: who has it is another program, and who listens everywhere is not reached there.
                unserved.add(address, e);
            } else {
                LOG.log(System.Logger.Level.DEBUG, "{0} is without {1}: {2}",
                        deviceInterface.device(), address.getHostAddress(), e.getMessage());
            }
        }
    }

    /**
     * Claims an address unless the device has it already.
     *
     * @throws RdmaException EADDRINUSE naming the process that has it, EADDRNOTAVAIL if it is not an address of the device
     */
    public synchronized void claim(InetAddress address) throws RdmaException {
        if (isOpen(address)) {
            return;
        }
        hold(address);
        if (isOpen(address)) {
            return;
        }
        if (!deviceInterface.hostsNow(address)) {
            throw notOurs(address);
        }
        try {
            take(address);
            unserved.remove(address);
        } catch (RdmaException e) {
            throw e.errno() == Errno.EADDRINUSE ? inUse(address, address, e) : e;
        }
    }

    private void take(InetAddress address) throws RdmaException {
        requireOpen();
        Gid held = transport.hold(address);
        enter(held, address);
        driver.lookAgain();
    }

    private void enter(Gid held, InetAddress address) {
        int place = place(address);
        if (place < gids.size()) {
            gids.set(place, held);
        } else {
            gids.add(held);
        }
    }

    // ---------------------------------------------------------------- following the interface

    /**
     * How the table changed.
     *
     * @param isAny whether anything changed
     * @param lost the removed addresses
     */
    record Change(boolean isAny, List<InetAddress> lost) {}

    /** Updates the table to the addresses of the interface. */
    synchronized Change follow(PortView now) {
        List<InetAddress> lost = new ArrayList<>();
        for (int i = 0; i < gids.size(); i++) {
            Gid gid = gids.get(i);
            if (!gid.isZero() && !isOf(now, gid)) {
                gids.set(i, Gid.ZERO);
                wanting.removeIf(address -> Gid.of(address).equals(gid));
                driver.run(nowNs -> transport.release(gid));
                lost.add(addressOf(gid));
            }
        }
        boolean hasGained = deviceInterface.isLoopback() ? gainOnLoopback(now.addresses())
                : gain(now);
        return new Change(hasGained || !lost.isEmpty(), lost);
    }

    /** {@return whether the interface has an address of the table} */
    private boolean isOf(PortView now, Gid gid) {
        return now.addresses().stream()
                .anyMatch(deviceInterface.isLoopback()
                        && DeviceInterface.isLoopbackIpv4(gid.address())
                                ? DeviceInterface::isLoopbackIpv4
                                : each -> Gid.of(each).equals(gid));
    }

    private boolean gain(PortView now) {
        boolean hasGained = false;
        for (InetAddress address : now.addresses()) {
            hasGained |= !gids.contains(Gid.of(address)) && add(address);
        }
        unserved.update(now);
        return hasGained;
    }

    /** Of loopback each process has its own addresses: it takes further ones when the interface gets them. */
    private boolean gainOnLoopback(List<InetAddress> now) {
        List<InetAddress> before = seen;
        seen = now;
        boolean hasGained = false;
        missing.retainAll(now);
        for (InetAddress address : now) {
            if (!before.contains(address) || missing.contains(address)) {
                hasGained |= takeMissing(address);
            }
        }
        return hasGained;
    }

    private boolean takeMissing(InetAddress address) {
        List<Gid> before = List.copyOf(gids);
        boolean hasIpv4 = all().stream().anyMatch(DeviceInterface::isLoopbackIpv4);
        try {
            if (gids.contains(Gid.of(address))) {
                missing.remove(address);
            } else if (address instanceof Inet6Address
                    || (hasIpv4 && FIRST_LOOPBACK.equals(address)
                            && transport.sharesAddresses())) {
                openUnlessTaken(address);
            } else if (!hasIpv4 && DeviceInterface.isLoopbackIpv4(address)) {
                openFreeLoopback();
                missing.remove(address);
            }
        } catch (RdmaException e) {
            missing.add(address);
            noteUnserved(address, e);
        }
        return !gids.equals(before);
    }

    /** The device is closed: from now on no address is taken. A look at the interface that has begun is waited for. */
    synchronized void end() {
        isOver = true;
    }

    private void requireOpen() throws RdmaException {
        if (isOver) {
            throw new RdmaException(Errno.ENODEV, "open device",
                    deviceInterface.device() + " is closed");
        }
    }

    /** Of a device that is closed it is no news. */
    private void noteUnserved(InetAddress address, RdmaException why) {
        if (!isOver) {
            unserved.add(address, why);
        }
    }

    /** Releases all addresses, because the interface was removed. */
    synchronized void closeAll() {
        wanting.clear();
        missing.clear();
        driver.run(nowNs -> transport.releaseAll());
        gids.replaceAll(gid -> Gid.ZERO);
    }

    private boolean add(InetAddress address) {
        try {
            requireOpen();
            enter(transport.hold(address), address);
        } catch (RdmaException notYet) {
            // The next look tries again.
            noteUnserved(address, notYet);
            return false;
        }
        driver.lookAgain();
        unserved.remove(address);
        return true;
    }

    /** {@return the index for a new address: the first entry is reserved for a link-local one, on loopback for its IPv6 one} */
    private int place(InetAddress address) {
        boolean isFirst = address instanceof Inet6Address
                && (address.isLinkLocalAddress() || address.isLoopbackAddress());
        if (isFirst && gids.getFirst().isZero()) {
            return 0;
        }
        for (int i = 1; i < gids.size(); i++) {
            if (gids.get(i).isZero()) {
                return i;
            }
        }
        return gids.size();
    }
}
