// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.spi.SocketErrors;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/** Why an address cannot be had, in the same words on every network. */
public final class AddressRefusal {
    private AddressRefusal() {}

    /** {@return EADDRNOTAVAIL: it is no address of this machine} */
    public static RdmaException notOurs(InetAddress address, @Nullable Throwable cause) {
        return new RdmaException(Errno.EADDRNOTAVAIL, "open device",
                address.getHostAddress() + " is not an address of this machine", cause);
    }

    /** {@return whether the JDK binds no IPv4 socket to it: it takes 127.x.y.255 for a broadcast address, as Linux does not} */
    public static boolean isRefusedByJdk(InetAddress address, IOException cause) {
        return cause instanceof BindException && address.isLoopbackAddress()
                && address instanceof Inet4Address && (address.getAddress()[3] & 0xff) == 0xff;
    }

    /** {@return EADDRNOTAVAIL, for {@link #isRefusedByJdk}} */
    public static RdmaException refusedByJdk(String operation, InetAddress address,
            IOException cause) {
        return new RdmaException(Errno.EADDRNOTAVAIL, operation,
                "Java binds no socket to " + address.getHostAddress()
                        + "; take a loopback address that does not end in 255",
                cause);
    }

    /** {@return why the JDK could not bind to an address} */
    static RdmaException ofBinding(InetAddress address, IOException cause) {
        if (isRefusedByJdk(address, cause)) {
            return refusedByJdk("open device", address, cause);
        }
        return switch (Errno.ofNumber(SocketErrors.numberOf(cause))) {
            case EADDRNOTAVAIL -> notOurs(address, cause);
            case EADDRINUSE -> taken(address, cause);
            case UNKNOWN -> cause instanceof BindException
                    ? ofUnknownWords(address, cause)
                    : of(address, cause);
            default -> of(address, cause);
        };
    }

    /** The words of the system are those of another language. */
    private static RdmaException ofUnknownWords(InetAddress address, IOException cause) {
        return isOurs(address) ? taken(address, cause) : notOurs(address, cause);
    }

    /** {@return whether an address is one of this machine, or the wildcard} */
    public static boolean isOurs(InetAddress address) {
        try {
            // All of 127.0.0.0/8 is local, though the interface has only one address of it.
            return address.isAnyLocalAddress()
                    || (address.isLoopbackAddress() && address instanceof Inet4Address)
                    || NetworkInterface.getByInetAddress(address) != null;
        } catch (SocketException unknown) {
            return false;
        }
    }

    /** {@return EADDRINUSE: another process has the address, which {@link PortHolder} names} */
    public static RdmaException taken(InetAddress address, @Nullable Throwable cause) {
        return new RdmaException(Errno.EADDRINUSE, "open device",
                text(address) + " is taken", cause);
    }

    /** {@return for a reason that the JDK tells} */
    private static RdmaException of(InetAddress address, IOException cause) {
        return RdmaException.ofSystem(SocketErrors.numberOf(cause), "open device",
                text(address) + ": " + cause.getMessage(), cause);
    }

    /** {@return the port of an address for texts} */
    public static String text(InetAddress address) {
        return "UDP port " + Path.UDP_PORT + " of " + address.getHostAddress();
    }

    /**
     * {@return EADDRNOTAVAIL: nothing that is sent to a group of IPv6 arrives by the loopback interface, though Linux lets programs
     * join} Linux has no route for it there, and with one it drops it.
     */
    public static RdmaException notDelivered(Gid group, NetworkInterface networkInterface) {
        return notJoined(group.address(), networkInterface, "this system delivers no IPv6 multicast"
                + " by its loopback interface; use a group of IPv4, or an address of another"
                + " interface", null);
    }

    /** {@return EADDRNOTAVAIL: the interface cannot join a multicast group} */
    public static RdmaException notJoined(InetAddress group, NetworkInterface networkInterface,
            @Nullable String reason, @Nullable Throwable cause) {
        return new RdmaException(Errno.EADDRNOTAVAIL, "join multicast group",
                networkInterface.getName() + " cannot join " + group.getHostAddress() + ": "
                        + reason,
                cause);
    }
}
