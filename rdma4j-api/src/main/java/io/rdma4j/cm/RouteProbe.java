// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.spi.AddressScope;
import io.rdma4j.spi.SocketErrors;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.DatagramSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/** Asks the system's routing for ways to a destination. A datagram socket that is connected sends nothing. */
final class RouteProbe {
    /** Any port serves; this is the one of the discard service. */
    private static final int ANY_PORT = 9;
    private static final String OPERATION = "resolve address";

    private RouteProbe() {}

    /**
     * {@return the local address that packets to a destination leave from}
     *
     * @throws RdmaException ENETUNREACH if there is no route, or the destination is all hosts of a subnet
     */
    static InetAddress source(InetAddress destination) throws RdmaException {
        try (DatagramSocket probe = new DatagramSocket()) {
            connect(probe, destination);
            return probe.getLocalAddress();
        } catch (IOException | RuntimeException e) {
            throw refusal(null, destination, isBroadcast(destination), e);
        }
    }

    /**
     * Checks that packets can leave from a local address for a destination. A local address that was lost is not told here.
     *
     * @throws RdmaException ENETUNREACH if there is no route, or the destination is all hosts of a subnet
     */
    static void check(InetAddress source, InetAddress destination) throws RdmaException {
        DatagramSocket bound;
        try {
            bound = new DatagramSocket(new InetSocketAddress(source, 0));
        } catch (SocketException lost) {
            return;
        }
        try (bound) {
            connect(bound, onLinkOf(source, destination));
        } catch (IOException | RuntimeException e) {
            throw refusal(source, destination, isBroadcast(destination), e);
        }
    }

    /** {@return a destination of a link that names none, on the link of the local address} The system takes none without. */
    private static InetAddress onLinkOf(InetAddress source, InetAddress destination)
            throws IOException {
        if (!AddressScope.isOfLink(destination) || AddressScope.of(destination) != 0) {
            return destination;
        }
        NetworkInterface owner = NetworkInterface.getByInetAddress(source);
        return owner == null ? destination
                : Inet6Address.getByAddress(null, destination.getAddress(), owner.getIndex());
    }

    /** The system refuses broadcasts of a socket that has not asked for them, and Java asks for them. */
    private static void connect(DatagramSocket probe, InetAddress destination)
            throws IOException {
        probe.setBroadcast(false);
        probe.connect(new InetSocketAddress(destination, ANY_PORT));
    }

    /** {@return what is told of a destination that the system has refused} Asks nobody. */
    static RdmaException refusal(@Nullable InetAddress source, InetAddress destination,
            boolean isBroadcast, Exception cause) {
        String to = destination.getHostAddress();
        if (isBroadcast) {
            return new RdmaException(Errno.ENETUNREACH, OPERATION,
                    to + " is a broadcast address; a peer has one of its own", cause);
        }
        String way = to + (source == null ? "" : " from " + source.getHostAddress());
        int number = SocketErrors.numberOf(cause);
        if (number == 0) {
            // In another language, or of the JDK itself: mostly it is that.
            return new RdmaException(Errno.ENETUNREACH, OPERATION,
                    "there is no route to " + way + ": " + cause.getMessage(), cause);
        }
        return isAboutRoutes(Errno.ofNumber(number))
                ? new RdmaException(Errno.ENETUNREACH, OPERATION, "there is no route to " + way,
                        cause)
                : RdmaException.ofSystem(number, OPERATION,
                        "the system does not say which route leads to " + way + ": "
                                + cause.getMessage(),
                        cause);
    }

    /**
     * {@return whether an error of connect(2) can mean that there is no route} Routes can be prohibited (EACCES) and black holes
     * (EINVAL), and of IPv6 there may be no address to send from (EADDRNOTAVAIL).
     */
    private static boolean isAboutRoutes(Errno errno) {
        return switch (errno) {
            case ENETUNREACH, EHOSTUNREACH, EHOSTDOWN, ENETDOWN, EACCES, EINVAL, EADDRNOTAVAIL ->
                true;
            default -> false;
        };
    }

    /** {@return whether the system takes a destination that it has refused, if broadcasts are allowed} */
    private static boolean isBroadcast(InetAddress destination) {
        try (DatagramSocket probe = new DatagramSocket()) {
            probe.setBroadcast(true);
            probe.connect(new InetSocketAddress(destination, ANY_PORT));
            return true;
        } catch (IOException | RuntimeException refusedAsWell) {
            return false;
        }
    }

    /** {@return whether a destination is in the subnet of a local address, of which no router is needed} */
    static boolean isInSubnet(InetAddress local, InetAddress destination) {
        try {
            NetworkInterface owner = NetworkInterface.getByInetAddress(local);
            return owner != null && owner.getInterfaceAddresses().stream()
                    .anyMatch(each -> each.getAddress().equals(local)
                            && covers(local, each.getNetworkPrefixLength(), destination));
        } catch (SocketException unknown) {
            return false;
        }
    }

    /** {@return whether a destination is in the subnet of a local address, on the same link} */
    static boolean covers(InetAddress local, int prefixLength, InetAddress destination) {
        byte[] own = local.getAddress();
        byte[] other = destination.getAddress();
        if (own.length != other.length || !AddressScope.isCompatible(AddressScope.of(local),
                AddressScope.of(destination))) {
            return false;
        }
        int bits = prefixLength;
        for (int i = 0; i < own.length && bits > 0; i++, bits -= Byte.SIZE) {
            int mask = bits >= Byte.SIZE ? 0xff : 0xff00 >>> bits;
            if (((own[i] ^ other[i]) & mask) != 0) {
                return false;
            }
        }
        return true;
    }
}
