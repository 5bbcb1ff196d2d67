package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SystemErrors;
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
                text(address) + " is taken", cause);
    }

    /** {@return for a reason that the JDK tells in the system's words; EIO if they are not known} */
    public static RdmaException of(InetAddress address, IOException cause) {
        String words = String.valueOf(cause.getMessage());
        return new RdmaException(Errno.ofNumber(SystemErrors.numberOf(words)), "open device",
                text(address) + ": " + words, cause);
    }

    /** {@return the port of an address for texts} */
    public static String text(InetAddress address) {
        return "UDP port " + Path.UDP_PORT + " of " + address.getHostAddress();
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
