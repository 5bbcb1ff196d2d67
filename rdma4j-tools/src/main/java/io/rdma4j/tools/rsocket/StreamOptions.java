// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import io.rdma4j.sockets.RdmaSocketChannel;
import io.rdma4j.sockets.RdmaSocketOptions;
import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.tools.options.AddressFormat;
import io.rdma4j.tools.options.Numbers;
import io.rdma4j.tools.options.Patience;
import io.rdma4j.tools.options.WholeNumber;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The options of {@code rstream} and {@code riostream}, and the connections that they ask for. */
final class StreamOptions {
    private static final int LARGEST = 1 << 23;
    private static final int USUAL_BUFFER = 1 << 20;
    private static final int MOST_INLINE = 1024;
    /** Sizes of the tests without {@code -S}, and those that {@code -S all} adds from the one before to the next. */
    private static final List<Integer> SIZES = List.of(1 << 6, 1 << 12, 1 << 16, 1 << 20);
    private static final int LARGEST_OF_ALL = 1 << 22;

    @Option(names = "-s", paramLabel = "ADDR",
            description = "Connect to this server; without it, be the server.")
    private @Nullable String server;

    @Option(names = "-b", paramLabel = "ADDR", description = "Local address (default: all).")
    private @Nullable String local;

    @Mixin
    private AddressFormat format = new AddressFormat();

    @Option(names = "-B", paramLabel = "SIZE", converter = WholeNumber.class,
            defaultValue = "0",
            description = "Size of the buffers (default: 1 MiB).")
    private long bufferSize;

    @Option(names = "-i", paramLabel = "SIZE", converter = WholeNumber.class, defaultValue = "64",
            description = "Bytes sent inline in latency tests (default: ${DEFAULT-VALUE}).")
    private long inlineSize;

    @Option(names = "-I", paramLabel = "COUNT", converter = WholeNumber.class,
            description = "Iterations (default: 1).")
    private @Nullable Long iterations;

    @Option(names = "-C", paramLabel = "COUNT", converter = WholeNumber.class,
            description = "Transfers of an iteration (default: 1000).")
    private @Nullable Long transfers;

    @Option(names = "-S", paramLabel = "SIZE",
            description = "Bytes of a transfer, or all for more sizes (default: 1000).")
    private @Nullable String size;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            converter = Numbers.Port.class,
            description = "Port (default: ${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "-k", paramLabel = "SECONDS", converter = WholeNumber.class,
            defaultValue = "0",
            description = "Ask a peer that has been silent for so long whether it lives"
                    + " (default: 0, do not).")
    private long keepalive;

    @Option(names = "-T", paramLabel = "MODE",
            description = "b: calls that block; n: calls that do not (the default); a: these,"
                    + " and a selector that waits; v: verify data; s: TCP instead of RDMA; f: the"
                    + " same, and a thread for each connection of the server, where C forks; r:"
                    + " nothing. Whole words are taken, too.")
    private List<String> modes = new ArrayList<>();

    @Option(names = "-d", paramLabel = "DEV",
            description = "Use this device (default: that of the route).")
    private String device = "";

    @Mixin
    private Patience patience = new Patience();

    private PrintWriter out = new PrintWriter(Writer.nullWriter());
    private boolean isBlocking;
    private boolean isPolling;
    private boolean isForking;
    private boolean isVerifying;
    private boolean isTcp;

    /** Called by the command line. */
    StreamOptions() {}

    /** Refuses values that make no sense. */
    void check(CommandSpec spec, boolean hasTcp) {
        for (String mode : modes) {
            takeMode(spec, mode);
        }
        if (isTcp && !hasTcp) {
            throw new ParameterException(spec.commandLine(),
                    "-T " + (isForking ? "f" : "s") + " is not possible here");
        }
        patience.check(spec);
        WholeNumber.requireRange(spec, "-B", bufferSize, 0, Integer.MAX_VALUE);
        WholeNumber.requireRange(spec, "-i", inlineSize, 0, MOST_INLINE);
        format.check(spec);
        WholeNumber.requireRange(spec, "-k", keepalive, 0, Short.MAX_VALUE);
        out = spec.commandLine().getOut();
    }

    boolean isClient() {
        return server != null;
    }

    Duration patience() {
        return patience.duration();
    }

    boolean isBlocking() {
        return isBlocking && !isPolling;
    }

    /** {@return whether a selector waits for the channel} */
    boolean isPolling() {
        return isPolling;
    }

    /** {@return whether a server has a thread for each connection} */
    boolean isForking() {
        return isForking && !isClient();
    }

    boolean isVerifying() {
        return isVerifying;
    }

    /** {@return the tests of each connection} */
    List<List<StreamRun>> series(CommandSpec spec) {
        boolean isCustom = iterations != null || transfers != null
                || (size != null && !isAll());
        return isCustom
                ? List.of(List.of(custom(spec)))
                : List.of(sizes().stream().map(StreamRun::latency).toList(),
                        sizes().stream().map(StreamRun::bandwidth).toList());
    }

    private void takeMode(CommandSpec spec, String mode) {
        String first = mode.isEmpty() ? "" : mode.substring(0, 1).toLowerCase(Locale.ROOT);
        switch (first) {
            case "b" -> isBlocking = true;
            case "n" -> isBlocking = false;
            case "v" -> isVerifying = true;
            case "s" -> isTcp = true;
            case "a" -> isPolling = true;
            case "f" -> {
                isForking = true;
                isTcp = true;
            }
            case "r" -> {
                // Addresses are resolved by the connection manager anyway.
            }
            default -> throw new ParameterException(spec.commandLine(),
                    "-T must be one of a, b, f, n, r, s and v, not '" + mode + "'");
        }
    }

    private boolean isAll() {
        return size != null && size.toLowerCase(Locale.ROOT).startsWith("all");
    }

    private StreamRun custom(CommandSpec spec) {
        long bytes = size == null || isAll() ? 1000 : new WholeNumber().convert(size);
        return new StreamRun("custom",
                WholeNumber.checked(spec, "-S", bytes, 1, LARGEST),
                WholeNumber.checked(spec, "-C", transfers == null ? 1000 : transfers, 0,
                        Integer.MAX_VALUE),
                WholeNumber.checked(spec, "-I", iterations == null ? 1 : iterations, 0,
                        Integer.MAX_VALUE));
    }

    private List<Integer> sizes() {
        if (!isAll()) {
            return SIZES;
        }
        List<Integer> all = new ArrayList<>(List.of(SIZES.getFirst()));
        for (int each = 2 * SIZES.getFirst(); each <= LARGEST_OF_ALL; each *= 2) {
            all.add(each);
            all.add(each + each / 2);
        }
        return all;
    }

    // ---------------------------------------------------------------- connections

    /** How to get a connection. */
    interface Way extends AutoCloseable {
        /** {@return the next connection}  */
        SocketChannel connect(boolean isForLatency) throws IOException;

        @Override
        void close() throws IOException;
    }

    /** {@return the way, which begins to listen for a server} */
    Way way() throws IOException {
        return server == null ? listen() : new Client(format.resolve(server).getHostAddress());
    }

    private @Nullable InetSocketAddress localAddress(int atPort) throws IOException {
        return local == null ? null : new InetSocketAddress(format.resolve(local), atPort);
    }

    private Way listen() throws IOException {
        ServerSocketChannel listener = isTcp
                ? ServerSocketChannel.open()
                : RdmaSockets.openServerSocketChannel()
                        .setOption(RdmaSocketOptions.RDMA_DEVICE, device)
                        .setOption(RdmaSocketOptions.RDMA_IOMAPSIZE, 1);
        try {
            listener.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            listener.setOption(StandardSocketOptions.SO_RCVBUF, buffers());
            InetSocketAddress address = localAddress(port);
            listener.bind(address == null ? new InetSocketAddress(port) : address, 1);
        } catch (IOException | RuntimeException e) {
            listener.close();
            throw e;
        }
        return new Way() {
            @Override
            public SocketChannel connect(boolean isForLatency) throws IOException {
                SocketChannel accepted = isPolling ? poll(listener) : listener.accept();
                setOptions(accepted, isForLatency);
                return accepted;
            }

            @Override
            public void close() throws IOException {
                listener.close();
            }
        };
    }

    private static SocketChannel poll(ServerSocketChannel listener) throws IOException {
        listener.configureBlocking(false);
        try (StreamPoll poll = new StreamPoll(listener)) {
            SocketChannel accepted = listener.accept();
            while (accepted == null) {
                poll.await(SelectionKey.OP_ACCEPT);
                accepted = listener.accept();
            }
            return accepted;
        }
    }

    /** Connects anew for each series of tests. */
    private final class Client implements Way {
        private final InetSocketAddress to;

        Client(String host) {
            to = new InetSocketAddress(host, port);
        }

        @Override
        public SocketChannel connect(boolean isForLatency) throws IOException {
            SocketChannel channel = isTcp ? SocketChannel.open() : RdmaSockets.openSocketChannel();
            try {
                setOptions(channel, isForLatency);
                InetSocketAddress from = localAddress(0);
                if (from != null) {
                    channel.bind(from);
                }
                channel.connect(to);
                return channel;
            } catch (IOException | RuntimeException e) {
                channel.close();
                throw e;
            }
        }

        @Override
        public void close() {
            // There is nothing but the connections.
        }
    }

    private int buffers() {
        return bufferSize == 0 ? USUAL_BUFFER : (int) bufferSize;
    }

    private void setOptions(SocketChannel channel, boolean isForLatency) throws IOException {
        channel.setOption(StandardSocketOptions.SO_SNDBUF, buffers());
        channel.setOption(StandardSocketOptions.SO_RCVBUF, buffers());
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.setOption(StandardSocketOptions.SO_KEEPALIVE, keepalive > 0);
        if (keepalive > 0) {
            channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, (int) keepalive);
            out.printf("Keepalive: ON%n  time: %d%n",
                    channel.getOption(ExtendedSocketOptions.TCP_KEEPIDLE));
        }
        if (channel instanceof RdmaSocketChannel rdma) {
            rdma.setOption(RdmaSocketOptions.RDMA_INLINE, isForLatency ? (int) inlineSize : 0);
            rdma.setOption(RdmaSocketOptions.RDMA_DEVICE, device);
            rdma.setOption(RdmaSocketOptions.RDMA_IOMAPSIZE, 1);
        }
    }
}
