package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.SocketSettings;
import io.rdma4j.sockets.protocol.StreamSettings;

import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/** The options of a channel and their values. Not thread safe. */
final class ChannelOptions {
    private static final int MOST_LINGER = 65535;
    private static final int MOST_INLINE = 1024;

    /** What a channel of a connection has, in the JDK's and in this module's words. */
    static final Set<SocketOption<?>> OF_STREAMS = Set.of(StandardSocketOptions.SO_SNDBUF,
            StandardSocketOptions.SO_RCVBUF, StandardSocketOptions.SO_KEEPALIVE,
            StandardSocketOptions.SO_REUSEADDR, StandardSocketOptions.SO_LINGER,
            StandardSocketOptions.TCP_NODELAY, StandardSocketOptions.IP_TOS,
            RdmaSocketOptions.RDMA_SQSIZE, RdmaSocketOptions.RDMA_RQSIZE,
            RdmaSocketOptions.RDMA_INLINE, RdmaSocketOptions.RDMA_IOMAPSIZE,
            RdmaSocketOptions.RDMA_DEVICE);
    /** What a listening channel has. */
    static final Set<SocketOption<?>> OF_LISTENERS = Set.of(StandardSocketOptions.SO_RCVBUF,
            StandardSocketOptions.SO_REUSEADDR, RdmaSocketOptions.RDMA_SQSIZE,
            RdmaSocketOptions.RDMA_RQSIZE, RdmaSocketOptions.RDMA_INLINE,
            RdmaSocketOptions.RDMA_IOMAPSIZE, RdmaSocketOptions.RDMA_DEVICE);

    private final Set<SocketOption<?>> supported;
    private final Map<SocketOption<?>, Object> values = new HashMap<>();

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

    /** Checks that there is such an option, and that it has such values. */
    void requireFitting(SocketOption<?> name, Object value) {
        requireSupported(name);
        if (!name.type().isInstance(value)) {
            throw new IllegalArgumentException("Invalid value '" + value + "'");
        }
    }

    /** Checks that it may have this value. */
    void requireInRange(SocketOption<?> name, Object wanted) {
        if (!(wanted instanceof Integer number)) {
            return;
        }
        int value = number;
        boolean isInRange = true;
        if (name == StandardSocketOptions.SO_SNDBUF || name == StandardSocketOptions.SO_RCVBUF) {
            isInRange = value >= 0;
        } else if (name == StandardSocketOptions.IP_TOS) {
            isInRange = value >= 0 && value <= 255;
        } else if (name == RdmaSocketOptions.RDMA_SQSIZE
                || name == RdmaSocketOptions.RDMA_RQSIZE) {
            isInRange = value >= StreamSettings.LEAST_DEPTH && value <= StreamSettings.MOST_DEPTH;
        } else if (name == RdmaSocketOptions.RDMA_IOMAPSIZE) {
            isInRange = value >= 0 && value <= StreamSettings.MOST_MAPPINGS;
        } else if (name == RdmaSocketOptions.RDMA_INLINE) {
            isInRange = value >= 0 && value <= MOST_INLINE;
        }
        if (!isInRange) {
            throw new IllegalArgumentException("Invalid value '" + value + "' of " + name);
        }
    }

    void set(SocketOption<?> name, Object value) {
        values.put(name, name == StandardSocketOptions.SO_LINGER
                ? Math.clamp((int) value, -1, MOST_LINGER)
                : value);
    }

    /** {@return the value that was set, or the default} */
    <T> T get(SocketOption<T> name) {
        requireSupported(name);
        return name.type().cast(values.getOrDefault(name, initial(name)));
    }

    private static Object initial(SocketOption<?> name) {
        SocketSettings initial = SocketSettings.DEFAULT;
        if (name == StandardSocketOptions.SO_SNDBUF) {
            return initial.sendBytes();
        }
        if (name == StandardSocketOptions.SO_RCVBUF) {
            return initial.receiveBytes();
        }
        if (name == StandardSocketOptions.SO_LINGER) {
            return -1;
        }
        if (name == RdmaSocketOptions.RDMA_SQSIZE) {
            return initial.sends();
        }
        if (name == RdmaSocketOptions.RDMA_RQSIZE) {
            return initial.credits();
        }
        if (name == RdmaSocketOptions.RDMA_INLINE) {
            return initial.inlineBytes();
        }
        return name.type() == Boolean.class ? false : name.type() == String.class ? "" : 0;
    }

    private <T> T of(SocketOption<T> name) {
        return supported.contains(name) ? get(name) : name.type().cast(initial(name));
    }

    /** {@return what a connection gets} Sizes are hints, which are brought into the possible range. */
    SocketSettings settings() {
        String device = get(RdmaSocketOptions.RDMA_DEVICE);
        return new SocketSettings(bytes(of(StandardSocketOptions.SO_SNDBUF)),
                bytes(of(StandardSocketOptions.SO_RCVBUF)), of(RdmaSocketOptions.RDMA_SQSIZE),
                of(RdmaSocketOptions.RDMA_RQSIZE), of(RdmaSocketOptions.RDMA_INLINE),
                of(RdmaSocketOptions.RDMA_IOMAPSIZE),
                of(StandardSocketOptions.SO_KEEPALIVE),
                SocketSettings.DEFAULT.keepaliveSeconds(), of(StandardSocketOptions.SO_REUSEADDR),
                of(StandardSocketOptions.IP_TOS), device.isEmpty() ? null : device);
    }

    private static int bytes(int wanted) {
        return Math.clamp(wanted, StreamSettings.LEAST_BYTES, StreamSettings.MOST_BYTES) & ~1;
    }

    /** Takes over what another channel was given. */
    void inherit(ChannelOptions from) {
        from.values.forEach((name, value) -> {
            if (supported.contains(name)) {
                values.put(name, value);
            }
        });
    }
}
