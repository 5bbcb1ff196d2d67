// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.SocketSettings;
import io.rdma4j.sockets.protocol.StreamSettings;
import io.rdma4j.sockets.rules.Rule;
import jdk.net.ExtendedSocketOptions;

import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.Channel;
import java.nio.channels.ClosedChannelException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The options of a channel and their values. Thread safe. */
final class ChannelOptions {
    private static final int MOST_LINGER = 65535;
    private static final int MOST_INLINE = 1024;
    /** A larger buffer is no faster. */
    private static final int MOST_DOUBLED = 1 << 20;
    /** As of Linux. */
    private static final int MOST_IDLE_SECONDS = 32767;
    private static final int MOST_TYPE_OF_SERVICE = 255;

    /** What a channel of a connection has, in the JDK's and in this module's words. */
    static final Set<SocketOption<?>> OF_STREAMS = Set.of(StandardSocketOptions.SO_SNDBUF,
            StandardSocketOptions.SO_RCVBUF, StandardSocketOptions.SO_KEEPALIVE,
            StandardSocketOptions.SO_REUSEADDR, StandardSocketOptions.SO_LINGER,
            StandardSocketOptions.TCP_NODELAY, StandardSocketOptions.IP_TOS,
            ExtendedSocketOptions.TCP_KEEPIDLE,
            RdmaSocketOptions.RDMA_SQSIZE, RdmaSocketOptions.RDMA_RQSIZE,
            RdmaSocketOptions.RDMA_INLINE, RdmaSocketOptions.RDMA_IOMAPSIZE,
            RdmaSocketOptions.RDMA_DEVICE);
    /** What a listening channel has. */
    static final Set<SocketOption<?>> OF_LISTENERS = Set.of(StandardSocketOptions.SO_RCVBUF,
            StandardSocketOptions.SO_REUSEADDR, RdmaSocketOptions.RDMA_SQSIZE,
            RdmaSocketOptions.RDMA_RQSIZE, RdmaSocketOptions.RDMA_INLINE,
            RdmaSocketOptions.RDMA_IOMAPSIZE, RdmaSocketOptions.RDMA_DEVICE);
    /** What a channel of datagrams has. It may broadcast, but has no address for that. */
    static final Set<SocketOption<?>> OF_DATAGRAMS = Set.of(StandardSocketOptions.SO_SNDBUF,
            StandardSocketOptions.SO_RCVBUF, StandardSocketOptions.SO_REUSEADDR,
            StandardSocketOptions.SO_BROADCAST, StandardSocketOptions.IP_TOS,
            RdmaSocketOptions.RDMA_SQSIZE, RdmaSocketOptions.RDMA_RQSIZE,
            RdmaSocketOptions.RDMA_DEVICE);

    private record Range(int least, int most) {}

    private static final Range DEPTHS = new Range(StreamSettings.LEAST_DEPTH,
            StreamSettings.MOST_DEPTH);
    private static final Range SIZES = new Range(0, Integer.MAX_VALUE);
    private static final Map<SocketOption<?>, Range> RANGES = Map.of(
            StandardSocketOptions.SO_SNDBUF, SIZES, StandardSocketOptions.SO_RCVBUF, SIZES,
            StandardSocketOptions.IP_TOS, new Range(0, MOST_TYPE_OF_SERVICE),
            ExtendedSocketOptions.TCP_KEEPIDLE, new Range(1, MOST_IDLE_SECONDS),
            RdmaSocketOptions.RDMA_SQSIZE, DEPTHS, RdmaSocketOptions.RDMA_RQSIZE, DEPTHS,
            RdmaSocketOptions.RDMA_INLINE, new Range(0, MOST_INLINE),
            RdmaSocketOptions.RDMA_IOMAPSIZE, new Range(0, StreamSettings.MOST_MAPPINGS));
    /** Of those whose value is not 0 or false then. */
    private static final Map<SocketOption<?>, Object> INITIAL = Map.of(
            StandardSocketOptions.SO_SNDBUF, SocketSettings.DEFAULT.sendBytes(),
            StandardSocketOptions.SO_RCVBUF, SocketSettings.DEFAULT.receiveBytes(),
            StandardSocketOptions.SO_LINGER, -1,
            ExtendedSocketOptions.TCP_KEEPIDLE, SocketSettings.DEFAULT.keepaliveSeconds(),
            RdmaSocketOptions.RDMA_SQSIZE, SocketSettings.DEFAULT.sends(),
            RdmaSocketOptions.RDMA_RQSIZE, SocketSettings.DEFAULT.credits(),
            RdmaSocketOptions.RDMA_INLINE, SocketSettings.DEFAULT.inlineBytes(),
            RdmaSocketOptions.RDMA_DEVICE, "");

    private final Set<SocketOption<?>> supported;
    private final Map<SocketOption<?>, Object> values = new HashMap<>();
    private boolean hasSizesOfTcp;
    private boolean avoidsPortsOfTcp;
    private String rule = "";

    ChannelOptions(Set<SocketOption<?>> supported) {
        this.supported = supported;
    }

    Set<SocketOption<?>> supported() {
        return supported;
    }

    private void requireSupported(SocketOption<?> name) {
        Objects.requireNonNull(name);
        if (!supported.contains(name)) {
            throw new UnsupportedOperationException("'" + name + "' not supported");
        }
    }

    /**
     * Sets the value of an option.
     *
     * @param of whose option it is
     */
    synchronized <T> void change(SocketOption<T> name, T value, Channel of)
            throws ClosedChannelException {
        requireFitting(name, value);
        requireOpen(of);
        requireInRange(name, value);
        set(name, value);
    }

    /** Sets the value of an option, if it is one. */
    synchronized void setChecked(SocketOption<?> name, Object value) {
        requireFitting(name, value);
        requireInRange(name, value);
        set(name, value);
    }

    /** {@return the value that was set, or the default} */
    synchronized <T> T value(SocketOption<T> name, Channel of) throws ClosedChannelException {
        T value = get(name);
        requireOpen(of);
        return value;
    }

    private static void requireOpen(Channel channel) throws ClosedChannelException {
        if (!channel.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** Checks that there is such an option, and that it has such values. */
    private void requireFitting(SocketOption<?> name, Object value) {
        requireSupported(name);
        if (!name.type().isInstance(value)) {
            throw new IllegalArgumentException("Invalid value '" + value + "'");
        }
    }

    /** Checks that it may have this value. */
    private static void requireInRange(SocketOption<?> name, Object wanted) {
        if (!(wanted instanceof Integer number)) {
            return;
        }
        Range range = RANGES.get(name);
        if (range != null && (number < range.least() || number > range.most())) {
            throw new IllegalArgumentException("Invalid value '" + number + "' of " + name);
        }
    }

    private void set(SocketOption<?> name, Object value) {
        values.put(name, name.equals(StandardSocketOptions.SO_LINGER)
                ? Math.clamp((int) value, -1, MOST_LINGER)
                : value);
    }

    /** {@return the value that was set, or the default} */
    synchronized <T> T get(SocketOption<T> name) {
        requireSupported(name);
        return name.type().cast(values.getOrDefault(name, initial(name)));
    }

    private static Object initial(SocketOption<?> name) {
        Object initial = INITIAL.get(name);
        if (initial != null) {
            return initial;
        }
        return name.type() == Boolean.class ? false : 0;
    }

    private <T> T of(SocketOption<T> name) {
        return supported.contains(name) ? get(name) : name.type().cast(initial(name));
    }

    /** A rule has decided for RDMA, which those who watch see. */
    synchronized void decidedBy(Rule decided) {
        rule = decided.toString();
    }

    /**
     * A rule has decided for RDMA, of a program that expects TCP. Buffers get twice the size that is set, up to 1 MiB, because it was chosen for TCP: a buffer is used in halves.
     * What {@link #get} returns is what was set.
     */
    synchronized void insteadOfTcp(Rule decided) {
        decidedBy(decided);
        hasSizesOfTcp = true;
    }

    /** What is bound or connected does without iWARP, whose ports are those of TCP: the same program may be there over TCP. */
    synchronized void avoidPortsOfTcp() {
        avoidsPortsOfTcp = true;
    }

    private int bytesOf(SocketOption<Integer> size) {
        int wanted = of(size);
        boolean isDoubled = hasSizesOfTcp && values.containsKey(size) && wanted < MOST_DOUBLED;
        return bytes(isDoubled ? Math.min(2 * wanted, MOST_DOUBLED) : wanted);
    }

    /** {@return what a connection gets} Sizes are hints, which are brought into the possible range. */
    synchronized SocketSettings settings() {
        String device = get(RdmaSocketOptions.RDMA_DEVICE);
        return new SocketSettings(bytesOf(StandardSocketOptions.SO_SNDBUF),
                bytesOf(StandardSocketOptions.SO_RCVBUF),
                mayGrow(StandardSocketOptions.SO_SNDBUF), mayGrow(StandardSocketOptions.SO_RCVBUF),
                of(RdmaSocketOptions.RDMA_SQSIZE),
                of(RdmaSocketOptions.RDMA_RQSIZE), of(RdmaSocketOptions.RDMA_INLINE),
                of(RdmaSocketOptions.RDMA_IOMAPSIZE),
                of(StandardSocketOptions.SO_KEEPALIVE),
                of(ExtendedSocketOptions.TCP_KEEPIDLE), of(StandardSocketOptions.SO_REUSEADDR),
                of(StandardSocketOptions.IP_TOS), device.isEmpty() ? null : device,
                avoidsPortsOfTcp, rule);
    }

    /** {@return whether a buffer may become larger} Not one whose size was set, as with TCP. */
    private boolean mayGrow(SocketOption<Integer> size) {
        return !values.containsKey(size) && SocketSettings.DEFAULT.growsSend();
    }

    private static int bytes(int wanted) {
        return Math.clamp(wanted, StreamSettings.LEAST_BYTES, StreamSettings.MOST_BYTES) & ~1;
    }

    /** Sets an option of something else. */
    interface Setter {
        <T> void set(SocketOption<T> name, T value) throws IOException;
    }

    /** Sets for something else what was set here, as far as it has such options. */
    void giveTo(Set<SocketOption<?>> known, Setter to) throws IOException {
        for (Map.Entry<SocketOption<?>, Object> each : copy().entrySet()) {
            if (known.contains(each.getKey())) {
                give(to, each.getKey(), each.getValue());
            }
        }
    }

    static <T> void give(Setter to, SocketOption<T> name, Object value)
            throws IOException {
        to.set(name, name.type().cast(value));
    }

    /** Takes over what another channel was given. */
    synchronized void inherit(ChannelOptions from) {
        from.copy().forEach((name, value) -> {
            if (supported.contains(name)) {
                set(name, value);
            }
        });
    }

    private synchronized Map<SocketOption<?>, Object> copy() {
        return Map.copyOf(values);
    }
}
