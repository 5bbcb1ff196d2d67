// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.InetAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.SocketOptions;
import java.net.StandardSocketOptions;
import java.util.Map;
import java.util.Set;

/**
 * The options of a socket, by name and under the numbers that {@link java.net.SocketImpl} gives them; from when another one is made for it,
 * of that one as well. Thread safe.
 */
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
    private volatile @Nullable DecidedSocket decided;
    /** Whether that one does not get the limit of a read or an accept. */
    private volatile boolean keepsLimit;

    /** @param kept those that can be kept while there is no other socket */
    EndpointOptions(Set<SocketOption<?>> kept) {
        options = new ChannelOptions(kept);
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

    // ---------------------------------------------------------------- by number

    void set(int number, Object value) throws SocketException {
        keep(number, value);
        DecidedSocket to = decided;
        if (to == null) {
            return;
        }
        switch (number) {
            case SocketOptions.SO_TIMEOUT -> giveLimit(to, (Integer) value);
            case SocketOptions.SO_OOBINLINE -> to.urgentInline((Boolean) value);
            default -> give(name(number), valueOf(number, value), to);
        }
    }

    private void keep(int number, Object value) throws SocketException {
        switch (number) {
            case SocketOptions.SO_TIMEOUT -> timeoutMs = (Integer) value;
            case SocketOptions.SO_OOBINLINE -> isUrgentInline = (Boolean) value;
            default -> options.setChecked(name(number), valueOf(number, value));
        }
    }

    /** False means that a socket does not linger. */
    private static Object valueOf(int number, Object value) {
        return number == SocketOptions.SO_LINGER && !(value instanceof Integer) ? -1 : value;
    }

    private void giveLimit(DecidedSocket to, int milliseconds) throws SocketException {
        if (!keepsLimit) {
            to.limit(milliseconds);
        }
    }

    private static void give(SocketOption<?> name, Object value, DecidedSocket to)
            throws SocketException {
        boolean _ = SocketExceptions.translatedAll(() -> {
            ChannelOptions.give(to::set, name, value);
            return true;
        });
    }

    Object get(int number) throws SocketException {
        DecidedSocket from = decided;
        return switch (number) {
            case SocketOptions.SO_TIMEOUT -> timeoutMs;
            case SocketOptions.SO_OOBINLINE -> isUrgentInline;
            case SocketOptions.SO_BINDADDR -> from == null ? localAddress : from.localAddress();
            default -> {
                SocketOption<?> name = name(number);
                yield from == null
                        ? options.get(name)
                        : SocketExceptions.translatedAll(() -> from.get(name));
            }
        };
    }

    private static SocketOption<?> name(int number) throws SocketException {
        SocketOption<?> name = NAMES.get(number);
        if (name == null) {
            throw new SocketException("there is no socket option " + number);
        }
        return name;
    }

    // ---------------------------------------------------------------- by name

    <T> void set(SocketOption<T> name, T value) throws IOException {
        DecidedSocket to = decided;
        boolean isKept = options.supported().contains(name);
        if (to == null || isKept) {
            options.setChecked(name, value);
        }
        // One that only holds a port need not have it.
        if (to != null && (!isKept || to.isInUse() || to.supported().contains(name))) {
            to.set(name, value);
        }
    }

    <T> T get(SocketOption<T> name) throws IOException {
        DecidedSocket from = decided;
        return from == null ? options.get(name) : from.get(name);
    }

    /** {@return those of the other socket; before, what can be kept for it} */
    Set<SocketOption<?>> supported() {
        DecidedSocket from = decided;
        return from == null ? options.supported() : from.supported();
    }

    // ---------------------------------------------------------------- for the other socket

    /** From now on they are those of another socket. What was set is not given to it. */
    void decide(DecidedSocket other) {
        decided = other;
    }

    /** The other socket has no limit, and does not get one: who accepts looks after it. */
    void keepLimit(DecidedSocket other) throws SocketException {
        keepsLimit = true;
        other.limit(0);
    }

    /** Sets for a socket what was set here, as far as it has such options. */
    void giveTo(DecidedSocket to) throws IOException {
        to.limit(timeoutMs);
        if (isUrgentInline) {
            to.urgentInline(true);
        }
        options.giveTo(to.supported(), to::set);
    }

    /** Sets the limit of a read, which an accepted connection does not have from its listener. */
    void giveLimitTo(DecidedSocket to) throws SocketException {
        to.limit(timeoutMs);
    }
}
