// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import io.rdma4j.sockets.RdmaServerSocketChannel;
import io.rdma4j.sockets.RdmaSocketChannel;
import io.rdma4j.sockets.RdmaSocketOptions;
import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.tools.options.Hosts;
import io.rdma4j.tools.options.Numbers;
import io.rdma4j.tools.options.Patience;
import jdk.net.ExtendedSocketOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;

/** Copies a file to another machine; talks to the program of that name in rdma-core. */
@Command(name = "rcopy", description = "Copies a file over RDMA to a C or Java rcopy; without"
        + " arguments, receives files.")
public final class Rcopy implements Callable<Integer> {
    /** The most that a socket takes, as of Linux. */
    private static final long LONGEST_IDLE_S = 32_767;

    @Parameters(index = "0", arity = "0..1", paramLabel = "FILE",
            description = "The file to copy.")
    private @Nullable Path source;

    @Parameters(index = "1", arity = "0..1", paramLabel = "SERVER[:FILE]",
            description = "The machine of the server, and the name of the copy there (default: as"
                    + " the file).")
    private @Nullable String destination;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7427",
            converter = Numbers.Port.class, description = "Port (default: ${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "-d", paramLabel = "DEV",
            description = "Use this device (default: that of the route).")
    private String device = "";

    @Option(names = "-b", paramLabel = "ADDR",
            description = "Local address of a server (default: all).")
    private @Nullable String local;

    @Option(names = "--once", description = "A server that ends after one client.")
    private boolean isOnce;

    @Mixin
    private Patience patience = new Patience();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        patience.check(spec);
        Path file = source;
        if (file == null) {
            serve();
            return 0;
        }
        if (destination == null) {
            throw new ParameterException(spec.commandLine(),
                    "SERVER is needed: the machine where the copy goes");
        }
        send(file, Objects.requireNonNull(destination));
        return 0;
    }

    private void serve() throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        InetSocketAddress address = local == null
                ? new InetSocketAddress(port)
                : new InetSocketAddress(Hosts.resolve(local), port);
        try (RdmaServerSocketChannel listener = RdmaSockets.openServerSocketChannel()
                .setOption(RdmaSocketOptions.RDMA_DEVICE, device)
                .bind(address, 1)) {
            do {
                out.print("waiting for connection...");
                out.flush();
                serve(Objects.requireNonNull(listener.accept()), out);
                out.flush();
            } while (!isOnce);
        }
    }

    /** One client of many: its failure is not that of the others. */
    private void serve(RdmaSocketChannel accepted, PrintWriter out) {
        try (RdmaSocketChannel client = accepted) {
            watch(client);
            out.println("client: " + ((InetSocketAddress) Objects
                    .requireNonNull(client.getRemoteAddress())).getAddress().getHostAddress());
            new CopyServer(client, out).serve();
        } catch (IOException e) {
            out.println("..." + e.getMessage());
        }
    }

    private void send(Path file, String to) throws IOException {
        int colon = to.startsWith("[") ? to.indexOf(':', to.indexOf(']')) : to.indexOf(':');
        String host = colon < 0 ? to : to.substring(0, colon);
        String name = colon < 0 ? file.toString() : to.substring(colon + 1);
        try (RdmaSocketChannel channel = RdmaSockets.openSocketChannel()) {
            channel.setOption(RdmaSocketOptions.RDMA_DEVICE, device);
            watch(channel);
            channel.connect(new InetSocketAddress(Hosts.resolve(host), port));
            new CopyClient(channel, spec.commandLine().getOut()).send(file, name);
        }
    }

    /**
     * Has a silent peer asked whether it lives. Its device answers, so a peer may wait for its disk; one that was killed could not say so, and does not
     * answer.
     */
    private void watch(RdmaSocketChannel channel) throws IOException {
        int seconds = (int) Math.min(patience.duration().toSeconds(), LONGEST_IDLE_S);
        channel.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, seconds)
                .setOption(StandardSocketOptions.SO_KEEPALIVE, true);
    }
}
