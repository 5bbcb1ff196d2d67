// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketOptions;
import java.net.StandardSocketOptions;
import java.util.Map;
import java.util.Set;

/** The options of a socket, under the numbers that {@link java.net.SocketImpl} gives them. Thread safe. */
final class EndpointOptions {
    private static final Map<Integer, SocketOption<?>> NAMES = Map.of(SocketOptions.TCP_NODELAY,
            StandardSocketOptions.TCP_NODELAY, SocketOptions.SO_SNDBUF,
            StandardSocketOptions.SO_SNDBUF, SocketOptions.SO_RCVBUF,
            StandardSocketOptions.SO_RCVBUF, SocketOptions.SO_KEEPALIVE,
            StandardSocketOptions.SO_KEEPALIVE, SocketOptions.SO_REUSEADDR,
            StandardSocketOptions.SO_REUSEADDR, SocketOptions.IP_TOS,
            StandardSocketOptions.IP_TOS, SocketOptions.SO_LINGER,
            StandardSocketOptions.SO_LINGER);

    private final ChannelOptions options;
    private volatile int timeoutMs;
    private volatile boolean isUrgentInline;
    private volatile InetAddress localAddress = InetAddress.ofLiteral("0.0.0.0");

    EndpointOptions(Set<SocketOption<?>> supported) {
        options = new ChannelOptions(supported);
    }

    ChannelOptions named() {
        return options;
    }

    /** Where it is bound. */
    void bound(InetAddress address) {
        localAddress = address;
    }

    /** {@return how long a read or an accept may take} */
    TimeLimit limit() {
        return TimeLimit.ofSocket(timeoutMs);
    }

    void set(int number, Object value) throws SocketException {
        switch (number) {
            case SocketOptions.SO_TIMEOUT -> timeoutMs = (Integer) value;
            case SocketOptions.SO_OOBINLINE -> isUrgentInline = (Boolean) value;
            // False means that it does not linger.
            case SocketOptions.SO_LINGER -> set(StandardSocketOptions.SO_LINGER,
                    value instanceof Integer seconds ? seconds : -1);
            default -> set(name(number), value);
        }
    }

    private void set(SocketOption<?> name, Object value) {
        options.setChecked(name, value);
    }

    Object get(int number) throws SocketException {
        return switch (number) {
            case SocketOptions.SO_TIMEOUT -> timeoutMs;
            case SocketOptions.SO_OOBINLINE -> isUrgentInline;
            case SocketOptions.SO_BINDADDR -> localAddress;
            default -> options.get(name(number));
        };
    }

    /** {@return the value of a socket that was given these} */
    Object get(int number, Socket of) throws SocketException {
        return switch (number) {
            case SocketOptions.SO_TIMEOUT -> timeoutMs;
            case SocketOptions.SO_OOBINLINE -> isUrgentInline;
            case SocketOptions.SO_BINDADDR -> of.getLocalAddress();
            default -> {
                SocketOption<?> name = name(number);
                yield SocketExceptions.translatedAll(() -> of.getOption(name));
            }
        };
    }

    /** {@return the value of a server socket that was given these} */
    Object get(int number, ServerSocket of) throws SocketException {
        if (number == SocketOptions.SO_TIMEOUT) {
            return timeoutMs;
        }
        SocketOption<?> name = name(number);
        return SocketExceptions.translatedAll(() -> of.getOption(name));
    }

    private static SocketOption<?> name(int number) throws SocketException {
        SocketOption<?> name = NAMES.get(number);
        if (name == null) {
            throw new SocketException("there is no socket option " + number);
        }
        return name;
    }

    // ---------------------------------------------------------------- for other sockets

    /** Sets for a socket what was set here, as far as it has such options. */
    void giveTo(Socket to) throws IOException {
        to.setSoTimeout(timeoutMs);
        if (isUrgentInline) {
            to.setOOBInline(true);
        }
        options.giveTo(to.supportedOptions(), to::setOption);
    }

    /** Sets for a server socket what was set here, as far as it has such options. */
    void giveTo(ServerSocket to) throws IOException {
        to.setSoTimeout(timeoutMs);
        options.giveTo(to.supportedOptions(), to::setOption);
    }

    /** Sets an option of a socket. */
    static void give(int number, Object value, Socket to) throws SocketException {
        switch (number) {
            case SocketOptions.SO_TIMEOUT -> to.setSoTimeout((Integer) value);
            case SocketOptions.SO_OOBINLINE -> to.setOOBInline((Boolean) value);
            default -> give(number, value, to::setOption);
        }
    }

    /** Sets an option of a server socket. */
    static void give(int number, Object value, ServerSocket to) throws SocketException {
        if (number == SocketOptions.SO_TIMEOUT) {
            to.setSoTimeout((Integer) value);
        } else {
            give(number, value, to::setOption);
        }
    }

    private static void give(int number, Object value, ChannelOptions.Setter to)
            throws SocketException {
        SocketOption<?> name = name(number);
        Object given = number == SocketOptions.SO_LINGER && !(value instanceof Integer)
                ? -1
                : value;
        boolean _ = SocketExceptions.translatedAll(() -> {
            ChannelOptions.give(to, name, given);
            return true;
        });
    }
}
