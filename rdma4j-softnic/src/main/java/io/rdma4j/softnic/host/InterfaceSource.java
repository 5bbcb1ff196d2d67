// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.host;

import java.io.FileInputStream;
import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/** The network interfaces as the JDK lists them, looked at once a second; on Linux with the states of IPv6 addresses. */
final class InterfaceSource implements HostSource {
    private static final long INTERVAL_NS = 1_000_000_000;
    private static final Path IPV6_ADDRESSES = Path.of("/proc/net/if_inet6");

    private final Semaphore woken = new Semaphore(0);
    private final Path ipv6Addresses;

    InterfaceSource() {
        this(IPV6_ADDRESSES);
    }

    /** @param ipv6Addresses the system's list of IPv6 addresses, which need not exist */
    InterfaceSource(Path ipv6Addresses) {
        this.ipv6Addresses = ipv6Addresses;
    }

    @Override
    public boolean mayHaveChanged() {
        return true;
    }

    @Override
    public Host look() throws IOException {
        Map<String, AddressFlags> flags = flags();
        List<HostInterface> interfaces = new ArrayList<>();
        for (NetworkInterface each : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            interfaces.add(seen(each, flags));
        }
        interfaces.sort(Comparator.comparingInt(HostInterface::index));
        return new Host(interfaces);
    }

    private static HostInterface seen(NetworkInterface each, Map<String, AddressFlags> flags)
            throws SocketException {
        boolean isUp = each.isUp();
        return new HostInterface(each.getName(), each.getIndex(), isUp, isUp, each.isLoopback(),
                each.getMTU(), addresses(each, flags));
    }

    private static List<HostAddress> addresses(NetworkInterface of,
            Map<String, AddressFlags> flags) {
        List<HostAddress> addresses = new ArrayList<>();
        for (InetAddress address : Collections.list(of.getInetAddresses())) {
            AddressFlags known = flags.get(key(address, of.getIndex()));
            addresses.add(new HostAddress(address,
                    known == null ? HostAddress.State.USABLE : known.state()));
        }
        // The JDK puts each address that the system names before those named earlier.
        Collections.reverse(addresses);
        return addresses;
    }

    private static String key(InetAddress address, int index) {
        if (!(address instanceof Inet6Address)) {
            return "";
        }
        StringBuilder key = new StringBuilder();
        for (byte each : address.getAddress()) {
            key.append(String.format("%02x", each));
        }
        return key.append(' ').append(index).toString();
    }

    /** {@return the flags of IPv6 addresses; empty where the system has no such list} */
    private Map<String, AddressFlags> flags() {
        List<String> lines;
        try {
            lines = lines(ipv6Addresses);
        } catch (IOException _) {
            return Map.of();
        }
        Map<String, AddressFlags> flags = new HashMap<>();
        for (String line : lines) {
            // Address, number of the interface, length of the prefix, scope, flags, name: all but the name in hexadecimal.
            String[] fields = line.trim().split("\\s+", -1);
            if (fields.length == 6) {
                flags.put(fields[0] + ' ' + Integer.parseInt(fields[1], 16),
                        new AddressFlags(Integer.parseInt(fields[4], 16)));
            }
        }
        return flags;
    }

    /** {@return the lines of a file} Not by a channel, each thread of which keeps native memory. */
    private static List<String> lines(Path file) throws IOException {
        try (FileInputStream in = new FileInputStream(file.toFile())) {
            return new String(in.readAllBytes(), StandardCharsets.US_ASCII).lines().toList();
        }
    }

    @Override
    public void await(long mostNs) {
        try {
            if (woken.tryAcquire(Math.min(mostNs, INTERVAL_NS), TimeUnit.NANOSECONDS)) {
                woken.drainPermits();
            }
        } catch (InterruptedException _) {
            // No code interrupts this thread on purpose; an early look does no harm.
        }
    }

    @Override
    public void wake() {
        woken.release();
    }

    @Override
    public void close() {
        // Nothing is open.
    }
}
