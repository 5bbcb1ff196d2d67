package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.NetworkInterface;

/** Why an address cannot be had, in the same words on every network. */
public final class AddressRefusal {
    private AddressRefusal() {}

    /** {@return EADDRNOTAVAIL: it is no address of this machine} */
    public static RdmaException notOurs(InetAddress address, @Nullable Throwable cause) {
        return new RdmaException(Errno.EADDRNOTAVAIL, "open device",
                address.getHostAddress() + " is not an address of this machine", cause);
    }

    /**
     * {@return whether the JDK could not bind to an address because it is not an address of this machine} Only the message
     * of the exception says so.
     */
    public static boolean isNotOurs(IOException bindFailed) {
        String message = bindFailed.getMessage();
        return message != null && message.contains("assign");
    }

    /** {@return EADDRINUSE: another process has the address, which {@link PortHolder} names} */
    public static RdmaException taken(InetAddress address, @Nullable Throwable cause) {
        return new RdmaException(Errno.EADDRINUSE, "open device",
                "UDP port " + Path.UDP_PORT + " of " + address.getHostAddress() + " is taken",
                cause);
    }

    /** {@return EIO: for a reason of the system's} */
    public static RdmaException of(InetAddress address, @Nullable String reason,
            @Nullable Throwable cause) {
        return new RdmaException(Errno.EIO, "open device",
                "UDP port " + Path.UDP_PORT + " of " + address.getHostAddress() + ": " + reason,
                cause);
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
