// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.softnic.host.Host;
import io.rdma4j.softnic.host.HostAddress;
import io.rdma4j.softnic.host.HostInterface;
import io.rdma4j.softnic.host.HostWatch;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
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
    /** Asks for the interfaces of this machine. */
    @FunctionalInterface
    interface Lookup {
        /** @throws IOException if the system cannot be asked */
        Host now() throws IOException;
    }

    private final String name;
    private final int index;
    private final Lookup lookup;
    private volatile PortView last;

    /** @param listed the interface as it was found, which keeps the addresses that it had then */
    InterfaceView(NetworkInterface listed) {
        this(listed, HostWatch.OF_PROCESS::now);
    }

    InterfaceView(NetworkInterface listed, Lookup lookup) {
        name = listed.getName();
        index = listed.getIndex();
        this.lookup = lookup;
        last = new PortView(true, true, addresses(listed));
    }

    @Override
    public PortView get() {
        Host host;
        try {
            host = lookup.now();
        } catch (IOException unknown) {
            return last;
        }
        // One of another number is another interface, made after this one was deleted.
        PortView now = host.named(name).filter(found -> found.index() == index)
                .map(InterfaceView::view).orElse(new PortView(false, false, List.of()));
        last = now;
        return now;
    }

    /** {@return what a device sees of an interface} */
    static PortView view(HostInterface found) {
        List<InetAddress> usable = new ArrayList<>();
        List<HostAddress> unusable = new ArrayList<>();
        for (HostAddress each : found.addresses()) {
            if (each.isUsable()) {
                usable.add(each.address());
            } else {
                unusable.add(each);
            }
        }
        usable.sort(Comparator.comparingInt(InterfaceView::rank));
        return new PortView(true, found.carriesPackets(), usable, unusable);
    }

    /** {@return the addresses in the order of the GID table: the link's, IPv4, other IPv6, each as they came} */
    static List<InetAddress> addresses(NetworkInterface found) {
        List<InetAddress> addresses = new ArrayList<>(
                Collections.list(found.getInetAddresses()));
        // The JDK puts each address that the system names before those named earlier.
        Collections.reverse(addresses);
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
