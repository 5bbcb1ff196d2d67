// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.tools.endpoint.Establishment;
import io.rdma4j.tools.options.Patience;
import io.rdma4j.tools.options.Refusal;
import io.rdma4j.tools.options.WarmUpOption;
import io.rdma4j.tools.options.WholeNumber;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.time.Duration;
import java.util.Comparator;
import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * Measures the time of each step of the connection manager.
 *
 * <p>C: {@code cmtime} of librdmacm as rdma-core 44 has it: the server has the well-known port and serves until
 * it is stopped. Of what later versions added, {@code -S} and {@code -B} are here; they also meet over a
 * controller ({@code -C}), which is refused.
 */
@Command(name = "cmtime",
        description = "Time of each step of the connection manager, with a C or Java cmtime.")
public final class Cmtime implements Callable<Integer> {
    private static final int MOST_CONNECTIONS = 100_000;
    private static final int LONGEST_TIMEOUT_MS = 1_000_000_000;
    private static final int MOST_RETRIES = 7;

    @Option(names = "-s", paramLabel = "ADDR",
            description = "Connect to this server (default: be the server).")
    private @Nullable String server;

    @Option(names = "-b", paramLabel = "ADDR", description = "Local address (default: all).")
    private @Nullable String local;

    @Option(names = "-c", paramLabel = "COUNT", defaultValue = "100",
            converter = WholeNumber.class,
            description = "Connections of the client (default: ${DEFAULT-VALUE}).")
    private long connections;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            description = "Port, as a number or a service's name (default: ${DEFAULT-VALUE}).")
    private String port = "7471";

    @Option(names = "-r", paramLabel = "COUNT", defaultValue = "2", converter = WholeNumber.class,
            description = "Retries of resolving and of packets (default: ${DEFAULT-VALUE}).")
    private long retries;

    @Option(names = "-t", paramLabel = "MS", defaultValue = "2000", converter = WholeNumber.class,
            description = "Time-out of resolving (default: ${DEFAULT-VALUE}).")
    private long timeoutMs;

    @Option(names = "-S", description = "Take the time of plain TCP sockets instead, to compare"
            + " with; the server ends after its connections (-c).")
    private boolean isOfSockets;

    @Option(names = "-B", paramLabel = "IF",
            description = "Local address, by its network interface.")
    private @Nullable String localInterface;

    @Mixin
    private WarmUpOption warmUp = new WarmUpOption();

    @Mixin
    private Patience patience = new Patience();

    @Option(names = {"-C", "-P"}, paramLabel = "X", hidden = true)
    private @Nullable String controller;

    @Option(names = "-L", hidden = true)
    private boolean isListening;

    @Option(names = {"-q", "-m", "-n"}, paramLabel = "X", hidden = true)
    private @Nullable String simulation;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        Refusal.when(spec, controller != null || isListening, "-C, -L and -P are not possible: this"
                + " cmtime knows no controller; start one without -s, the other with -s");
        Refusal.when(spec, simulation != null,
                "-q, -m and -n are not possible: connections here have real queue pairs");
        Refusal.when(spec, local != null && localInterface != null,
                "-b and -B are two ways to say the same; choose one");
        int count = WholeNumber.checked(spec, "-c", connections, 1, MOST_CONNECTIONS);
        int tries = WholeNumber.checked(spec, "-r", retries, 0, MOST_RETRIES);
        WholeNumber.checked(spec, "-t", timeoutMs, 0, LONGEST_TIMEOUT_MS);
        patience.check(spec);
        PrintWriter out = spec.commandLine().getOut();
        if (isOfSockets) {
            CmtimeSockets sockets = new CmtimeSockets(out, count, patience.duration());
            if (server == null) {
                sockets.serve(toBind(port));
            } else {
                sockets.connect(toConnect());
            }
        } else if (server == null) {
            new CmtimeServer(out, spec.commandLine().getErr()).serve(toBind(port));
        } else {
            AddressInfo info = toConnect();
            return Establishment.of(reached -> connect(new CmtimeClient(out, count, tries,
                    Duration.ofMillis(timeoutMs), patience.duration()), info, reached));
        }
        return 0;
    }

    private int connect(CmtimeClient client, AddressInfo info, Runnable reached)
            throws IOException {
        if (warmUp.isWanted()) {
            client.warmUp(info, reached);
        }
        client.run(info, reached);
        return 0;
    }

    private static AddressInfo.Hints hints() {
        return new AddressInfo.Hints().portSpace(PortSpace.TCP);
    }

    private InetSocketAddress toBind(String service) throws IOException {
        String own = localInterface == null ? local : addressOf(localInterface);
        return Objects.requireNonNull(AddressInfo
                .resolve(own, service, hints().set(AddressInfo.Flag.PASSIVE)).getFirst().source());
    }

    private AddressInfo toConnect() throws IOException {
        AddressInfo.Hints hints = hints();
        if (local != null || localInterface != null) {
            hints.source(toBind("0"));
        }
        return AddressInfo.resolve(server, port, hints).getFirst();
    }

    private static String addressOf(String name) throws IOException {
        NetworkInterface found = NetworkInterface.getByName(name);
        if (found == null) {
            throw new IOException("there is no network interface '" + name + "'");
        }
        Comparator<InetAddress> ipv4First = Comparator
                .comparing(address -> !(address instanceof Inet4Address));
        return found.inetAddresses().min(ipv4First).map(InetAddress::getHostAddress).orElseThrow(
                () -> new IOException("the network interface " + name + " has no address"));
    }
}
