// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.softnic.network.AddressRefusal;
import io.rdma4j.spi.SocketErrors;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** Why a TCP port cannot be had, in the same words on every network of streams. */
public final class StreamRefusal {
    private static final InetAddress ANY = new InetSocketAddress(0).getAddress();

    private StreamRefusal() {}

    /** {@return EADDRINUSE: another program has the address} */
    public static RdmaException inUse(String operation, InetSocketAddress at,
            @Nullable Throwable cause) {
        return new RdmaException(Errno.EADDRINUSE, operation, text(at) + " is in use", cause);
    }

    /**
     * {@return EADDRNOTAVAIL} The system reports the same error for an address of another machine and for an address
     * without a free port; the message says which it is.
     */
    public static RdmaException notAvailable(String operation, InetSocketAddress at,
            @Nullable Throwable cause) {
        InetAddress address = at.getAddress();
        return AddressRefusal.isOurs(address)
                ? noPortLeft(operation, address, cause)
                : AddressRefusal.notOurs(address, cause);
    }

    /** {@return EADDRNOTAVAIL: no address of this machine has a free port} */
    public static RdmaException noPortLeft(String operation, @Nullable Throwable cause) {
        return noPortLeft(operation, ANY, cause);
    }

    private static RdmaException noPortLeft(String operation, InetAddress address,
            @Nullable Throwable cause) {
        return new RdmaException(Errno.EADDRNOTAVAIL, operation, "no TCP port "
                + (address.isAnyLocalAddress() ? "" : "of " + address.getHostAddress() + " ")
                + "is left; connections that have ended keep theirs for a minute", cause);
    }

    /** {@return EMFILE: this process may not open one more socket} */
    public static RdmaException noDescriptor(String operation, @Nullable Throwable cause) {
        return new RdmaException(Errno.EMFILE, operation,
                "this process has as many files and sockets open as it may; ulimit -n says how many",
                cause);
    }

    /** {@return ENFILE: no process can open one more socket} */
    public static RdmaException noDescriptorOfSystem(String operation,
            @Nullable Throwable cause) {
        return new RdmaException(Errno.ENFILE, operation,
                "the system has as many files and sockets open as it can", cause);
    }

    /** {@return why the JDK could not have an address and a port} */
    static RdmaException of(String operation, InetSocketAddress at, IOException cause) {
        if (AddressRefusal.isRefusedByJdk(at.getAddress(), cause)) {
            return AddressRefusal.refusedByJdk(operation, at.getAddress(), cause);
        }
        int number = SocketErrors.numberOf(cause);
        return switch (Errno.ofNumber(number)) {
            case EMFILE -> noDescriptor(operation, cause);
            case ENFILE -> noDescriptorOfSystem(operation, cause);
            case EADDRNOTAVAIL -> notAvailable(operation, at, cause);
            case EADDRINUSE -> inUse(operation, at, cause);
            default -> number == 0 && cause instanceof BindException
                    ? ofUnknownWords(operation, at, cause)
                    : RdmaException.ofSystem(number, operation,
                            text(at) + ": " + cause.getMessage(), cause);
        };
    }

    /** The words of the system are those of another language. */
    private static RdmaException ofUnknownWords(String operation, InetSocketAddress at,
            IOException cause) {
        return at.getPort() != 0 && AddressRefusal.isOurs(at.getAddress())
                ? inUse(operation, at, cause)
                : notAvailable(operation, at, cause);
    }

    /** {@return an address and a port for texts} */
    public static String text(InetSocketAddress at) {
        return "TCP port " + at.getPort() + " of " + at.getAddress().getHostAddress();
    }
}
