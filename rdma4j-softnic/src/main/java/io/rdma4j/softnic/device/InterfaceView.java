package io.rdma4j.softnic.device;

import org.jspecify.annotations.Nullable;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

/**
 * The present state of a network interface. If the system cannot be asked, the last known state: a process without free file
 * descriptors cannot ask, and must not lose its devices for that. Thread safe.
 */
final class InterfaceView implements Supplier<PortView> {
    /** Finds an interface. */
    @FunctionalInterface
    interface Lookup {
        /**
         * {@return the interface with a name, null if there is none}
         *
         * @throws SocketException if the system cannot be asked
         */
        @Nullable
        NetworkInterface find(String name) throws SocketException;
    }

    private final String name;
    private final Lookup lookup;
    private volatile PortView last;

    /** @param listed the interface as it was found, which keeps the addresses that it had then */
    InterfaceView(NetworkInterface listed) {
        this(listed, NetworkInterface::getByName);
    }

    InterfaceView(NetworkInterface listed, Lookup lookup) {
        name = listed.getName();
        this.lookup = lookup;
        last = new PortView(true, true, addresses(listed));
    }

    @Override
    public PortView get() {
        PortView now;
        try {
            NetworkInterface found = lookup.find(name);
            now = found == null
                    ? new PortView(false, false, List.of())
                    : new PortView(true, found.isUp(), addresses(found));
        } catch (SocketException unknown) {
            return last;
        }
        last = now;
        return now;
    }

    /** {@return the addresses in the order of the GID table: the link's, IPv4, other IPv6} */
    static List<InetAddress> addresses(NetworkInterface found) {
        List<InetAddress> addresses = new ArrayList<>(
                Collections.list(found.getInetAddresses()));
        addresses.sort(Comparator.comparingInt(InterfaceView::rank));
        return addresses;
    }

    private static int rank(InetAddress address) {
        if (!(address instanceof Inet6Address)) {
            return 1;
        }
        return address.isLinkLocalAddress() || address.isLoopbackAddress() ? 0 : 2;
    }
}
