// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.MulticastMembership;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.tools.options.Hosts;
import io.rdma4j.tools.options.Refusal;
import io.rdma4j.tools.options.WholeNumber;
import io.rdma4j.verbs.SystemErrors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * Joins a multicast group and sends to it or receives from it.
 *
 * <p>C: {@code mckey} of librdmacm.
 */
@Command(name = "mckey",
        description = "Multicast by the connection manager, with a C or Java mckey.")
public final class Mckey implements Callable<Integer> {
    private static final Duration RESOLVE = Duration.ofSeconds(2);
    /** Switches that listen to IGMP and MLD need some time to learn of the members, as in the C program. */
    private static final Duration SETTLE = Duration.ofSeconds(3);

    @Mixin
    private WorkloadOptions workload = new WorkloadOptions();

    @Option(names = "-m", paramLabel = "ADDR", description = "The IP multicast address to join.")
    private @Nullable String group;

    @Option(names = "-M", paramLabel = "GID", hidden = true)
    private @Nullable String unmapped;

    @Option(names = "-s", description = "Send to the group (default: receive).")
    private boolean isSender;

    @Option(names = "-b", paramLabel = "ADDR",
            description = "Local address (default: where multicast goes).")
    private @Nullable String local;

    @Option(names = "-p", paramLabel = "SPACE", converter = WholeNumber.class,
            description = "Port space as a number: 0x111 for udp (default).")
    private @Nullable Long spaceNumber;

    @Option(names = "-o", description = "Join to send only.")
    private boolean isSendOnly;

    @Option(names = "-l", description = "Keep what is sent from receivers on this device.")
    private boolean blocksMulticastLoopback;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        Refusal.when(spec, unmapped != null, "-M is not possible: with RoCE a group is an IP"
                + " multicast address; -m takes it");
        if (group == null) {
            throw new ParameterException(spec.commandLine(),
                    "-m, the multicast address, is needed");
        }
        DatagramSpace.check(spec, spaceNumber);
        Workload wanted = workload.workload(spec);
        String name = group;
        return ExitStatus.of(spec, () -> new Run(wanted).run(name));
    }

    /** One run with its queue pairs. */
    private final class Run {
        private final Workload wanted;
        private final Connections connections;

        Run(Workload wanted) {
            this.wanted = wanted;
            connections = new Connections(wanted, workload.patience(), this::onEvent);
        }

        void run(String name) throws IOException {
            print("mckey: starting " + (isSender ? "client" : "server"));
            InetAddress joined = Hosts.resolve(name);
            if (!joined.isMulticastAddress()) {
                throw new Failure(Failure.INVALID,
                        joined.getHostAddress() + " is no multicast address");
            }
            InetSocketAddress from = local == null
                    ? null
                    : new InetSocketAddress(Hosts.resolve(local), 0);
            try (connections) {
                connections.addAll(PortSpace.UDP);
                print("mckey: joining");
                for (Connection connection : connections.all()) {
                    connection.id().resolveAddress(from, new InetSocketAddress(joined, 0), RESOLVE);
                }
                connections.awaitConnected();
                exchange();
                for (Connection connection : connections.all()) {
                    connection.id().leaveMulticast(joined);
                }
            }
        }

        private void exchange() throws IOException {
            if (wanted.messages() == 0) {
                connections.linger(SETTLE);
                return;
            }
            if (isSender) {
                connections.linger(SETTLE);
                print("initiating data transfers");
                connections.postSends();
                connections.awaitSends();
            } else {
                print("receiving data transfers");
                connections.awaitReceives();
            }
            print("data transfers complete");
        }

        private void onEvent(CmEvent event) throws IOException {
            switch (event.type()) {
                case ADDR_RESOLVED -> join(Connections.connectionOf(event), event);
                case MULTICAST_JOIN -> {
                    Connection connection = Connections.connectionOf(event);
                    DatagramParameters service = Objects.requireNonNull(event.datagram());
                    print("mckey: joined dgid: " + service.path().destination().addressText()
                            + " mlid 0x" + Integer.toHexString(service.path().destinationLid())
                            + " sl " + service.path().serviceLevel());
                    connection.sendTo(service);
                    connection.onConnected();
                }
                case ADDR_CHANGE -> print("mckey: event: " + event.type().text() + ", status: "
                        + event.status() + (event.status() < 0
                                ? ": " + SystemErrors.words(-event.status())
                                : ""));
                default -> {
                    // Nothing to do for the others.
                }
            }
        }

        private void join(Connection connection, CmEvent event) throws IOException {
            connection.prepare(blocksMulticastLoopback);
            if (!isSender) {
                connection.postReceives();
            }
            event.id().joinMulticast(event.id().peerAddress().getAddress(),
                    isSendOnly
                            ? MulticastMembership.SEND_ONLY_FULL_MEMBER
                            : MulticastMembership.FULL_MEMBER,
                    connection);
        }

        private void print(String line) {
            spec.commandLine().getOut().println(line);
            spec.commandLine().getOut().flush();
        }
    }
}
