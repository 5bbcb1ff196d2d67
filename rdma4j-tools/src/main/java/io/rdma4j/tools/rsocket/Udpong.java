// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import io.rdma4j.sockets.RdmaSocketOptions;
import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.tools.options.Hosts;
import io.rdma4j.tools.options.Numbers;
import io.rdma4j.tools.options.Patience;
import io.rdma4j.tools.options.WholeNumber;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

/**
 * Latency and bandwidth of datagrams; talks to the program of that name in rdma-core, where that one's library can send them.
 *
 * <p>A client logs in, and begins each test with a datagram that the server sends back. In a test of latency the server sends back each
 * datagram; what is lost is sent again. In one of bandwidth it counts them, and says at the end how many came.
 */
@Command(name = "udpong",
        description = "Latency and bandwidth of datagrams over RDMA, with a Java or"
                + " C udpong.")
public final class Udpong implements Callable<Integer> {
    private static final int USUAL_BUFFER = 1 << 19;
    private static final List<Integer> SIZES = List.of(64, 128, 192, 256, 384, 512, 768, 1024,
            1536);

    @Option(names = "-s", paramLabel = "ADDR",
            description = "Send to this server; without it, be the server.")
    private @Nullable String server;

    @Option(names = "-b", paramLabel = "ADDR", description = "Local address (default: all).")
    private @Nullable String local;

    @Option(names = "-B", paramLabel = "SIZE", converter = WholeNumber.class, defaultValue = "0",
            description = "Size of the buffers (default: 512 KiB).")
    private long bufferSize;

    @Option(names = "-C", paramLabel = "COUNT", converter = WholeNumber.class,
            description = "Datagrams of the one test (default: 1000).")
    private @Nullable Long count;

    @Option(names = "-S", paramLabel = "SIZE", converter = WholeNumber.class,
            description = "Bytes of a datagram of the one test (default: 1000).")
    private @Nullable Long size;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7174",
            converter = Numbers.Port.class, description = "Port (default: ${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "-T", paramLabel = "MODE",
            description = "b: calls that block; n: calls that do not (the default); a: these, and"
                    + " a selector that waits; e: the server sends each datagram back; s: UDP"
                    + " instead of RDMA. Whole words are taken, too.")
    private List<String> modes = new ArrayList<>();

    @Option(names = "-d", paramLabel = "DEV",
            description = "Use this device (default: that of the route).")
    private String device = "";

    @Option(names = "--once", description = "As a server, end when nothing has come for as long as"
            + " --patience says, after something came.")
    private boolean isOnce;

    @Mixin
    private Patience patience = new Patience();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private PongMode mode = PongMode.SPINNING;
    private boolean hasEcho;
    private boolean isUdp;

    @Override
    public Integer call() throws IOException {
        patience.check(spec);
        WholeNumber.requireRange(spec, "-B", bufferSize, 0, Integer.MAX_VALUE);
        modes.forEach(this::takeMode);
        List<PongRun> runs = runs();
        try (DatagramChannel channel = open()) {
            if (server == null) {
                channel.bind(new InetSocketAddress(
                        local == null ? null : Hosts.resolve(local), port));
                new PongServer(channel, mode, isOnce ? patience.duration() : null,
                        spec.commandLine().getOut()).run();
            } else {
                if (local != null) {
                    channel.bind(new InetSocketAddress(Hosts.resolve(local), 0));
                }
                channel.connect(new InetSocketAddress(Hosts.resolve(server), port));
                new PongClient(channel, mode, patience.duration(), spec.commandLine().getOut())
                        .run(runs);
            }
        }
        return 0;
    }

    private void takeMode(String text) {
        String first = text.isEmpty() ? "" : text.substring(0, 1).toLowerCase(Locale.ROOT);
        switch (first) {
            case "b" -> mode = PongMode.BLOCKING;
            case "n" -> mode = PongMode.SPINNING;
            case "a" -> mode = PongMode.SELECTING;
            case "e" -> hasEcho = true;
            case "s" -> isUdp = true;
            default -> throw new ParameterException(spec.commandLine(),
                    "-T must be one of a, b, e, n and s, not '" + text + "'");
        }
    }

    private List<PongRun> runs() {
        if (count != null || size != null) {
            return List.of(new PongRun("custom",
                    WholeNumber.checked(spec, "-S", size == null ? 1000 : size,
                            PongMessage.CONTROL_BYTES, PongMessage.MOST_BYTES),
                    WholeNumber.checked(spec, "-C", count == null ? 1000 : count, 0,
                            Integer.MAX_VALUE / 2),
                    hasEcho));
        }
        List<PongRun> all = new ArrayList<>(SIZES.stream().map(PongRun::latency).toList());
        all.addAll(SIZES.stream().map(PongRun::bandwidth).toList());
        return all;
    }

    private DatagramChannel open() throws IOException {
        DatagramChannel channel = isUdp
                ? DatagramChannel.open()
                : RdmaSockets.openDatagramChannel().setOption(RdmaSocketOptions.RDMA_DEVICE,
                        device);
        int bytes = bufferSize == 0 ? USUAL_BUFFER : (int) bufferSize;
        return channel.setOption(StandardSocketOptions.SO_SNDBUF, bytes)
                .setOption(StandardSocketOptions.SO_RCVBUF, bytes);
    }
}
