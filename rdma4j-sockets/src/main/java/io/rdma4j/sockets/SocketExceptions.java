// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;

/** What channels throw, in the words of sockets. */
final class SocketExceptions {
    private SocketExceptions() {}

    /** Does something with a channel. */
    interface Call<T> {
        T call() throws IOException;
    }

    /** {@return the result} Exceptions of channels that are not those of I/O become {@link SocketException}s. */
    static <T> T translated(Call<T> call) throws IOException {
        try {
            return call.call();
        } catch (RuntimeException e) {
            throw of(e);
        }
    }

    /** {@return the result} Each exception becomes a {@link SocketException}. */
    static <T> T translatedAll(Call<T> call) throws SocketException {
        try {
            return call.call();
        } catch (SocketException e) {
            throw e;
        } catch (ClosedChannelException e) {
            throw by(e, new SocketException("Socket is closed"));
        } catch (IOException e) {
            throw by(e, new SocketException(e.getMessage()));
        }
    }

    /**
     * {@return what to throw for an exception of a socket that another one is made of} By an interruption of a virtual thread it has closed itself; the outer one does
     * that as well, if it is told so.
     */
    static IOException ofInner(IOException e, boolean isClosed) {
        Thread thread = Thread.currentThread();
        return e instanceof SocketException && isClosed && thread.isVirtual()
                && thread.isInterrupted()
                        ? by(e, new InterruptedIOException(e.getMessage()))
                        : e;
    }

    /** @throws RuntimeException the same, if sockets throw it as well */
    private static SocketException of(RuntimeException e) {
        String text = switch (e) {
            case NotYetConnectedException _ -> "Socket is not connected";
            case NotYetBoundException _ -> "Socket is not bound yet";
            case AlreadyBoundException _ -> "Already bound";
            case AlreadyConnectedException _ -> "Already connected";
            case ConnectionPendingException _ -> "Connection pending";
            case UnresolvedAddressException _ -> "Unresolved address";
            case UnsupportedAddressTypeException _ -> "Unsupported address type";
            default -> throw e;
        };
        return by(e, new SocketException(text));
    }

    private static <E extends IOException> E by(Exception cause, E thrown) {
        thrown.initCause(cause);
        return thrown;
    }
}
