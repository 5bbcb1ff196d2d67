// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.EthernetAddress;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** MAC addresses of the local link, as far as this machine knows them. */
final class Neighbours {
    private static final Path ARP_TABLE = Path.of("/proc/net/arp");
    private static final long IPV4_GROUP = 0x0100_5e00_0000L;
    private static final long IPV6_GROUP = 0x3333_0000_0000L;

    private Neighbours() {}

    /** @throws RdmaException EHOSTUNREACH if it is not known */
    static EthernetAddress find(NetworkInterface networkInterface, Gid destination)
            throws RdmaException {
        if (destination.isMulticast()) {
            // RFC 1112 §6.4 and RFC 2464 §7.
            long mac = destination.isIpv4()
                    ? IPV4_GROUP | (destination.low() & 0x7f_ffff)
                    : IPV6_GROUP | (destination.low() & 0xffff_ffffL);
            return new EthernetAddress(mac, EthernetAddress.NO_VLAN);
        }
        if (isOwn(networkInterface, destination)) {
            return new EthernetAddress(mac(networkInterface), EthernetAddress.NO_VLAN);
        }
        if (destination.isLinkLocal() && (destination.low() >>> 24 & 0xffff) == 0xfffe) {
            // EUI-64 of the MAC address. RFC 4291, appendix A.
            long high = destination.low() >>> 40 ^ 0x02_0000;
            return new EthernetAddress(high << 24 | (destination.low() & 0xff_ffff),
                    EthernetAddress.NO_VLAN);
        }
        return new EthernetAddress(fromTable(networkInterface, destination),
                EthernetAddress.NO_VLAN);
    }

    private static boolean isOwn(NetworkInterface networkInterface, Gid destination) {
        return destination.address().isLoopbackAddress()
                || networkInterface.inetAddresses().map(Gid::of).anyMatch(destination::equals);
    }

    private static long mac(NetworkInterface networkInterface) {
        byte[] bytes;
        try {
            bytes = networkInterface.getHardwareAddress();
        } catch (SocketException gone) {
            bytes = null;
        }
        long mac = 0;
        for (int i = 0; bytes != null && i < bytes.length; i++) {
            mac = mac << 8 | (bytes[i] & 0xff);
        }
        return mac;
    }

    private static long fromTable(NetworkInterface networkInterface, Gid destination)
            throws RdmaException {
        String address = destination.address().getHostAddress();
        List<String> lines;
        try {
            lines = Files.readAllLines(ARP_TABLE);
        } catch (IOException e) {
            lines = List.of();
        }
        for (String line : lines) {
            String[] fields = line.trim().split("\\s+", -1);
            if (fields.length >= 6 && fields[0].equals(address)
                    && fields[5].equals(networkInterface.getName())
                    && !fields[3].equals("00:00:00:00:00:00")) {
                return Long.parseLong(fields[3].replace(":", "").toLowerCase(Locale.ROOT), 16);
            }
        }
        throw new RdmaException(Errno.EHOSTUNREACH, "resolve Ethernet address", "the system knows"
                + " no neighbour " + address + " on " + networkInterface.getName()
                + "; exchange a packet with it first");
    }
}
