// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.tools.options.AddressFormat;
import io.rdma4j.tools.options.Refusal;
import io.rdma4j.tools.options.WholeNumber;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * Looks up a datagram service, sends it datagrams and receives as many answers.
 *
 * <p>C: {@code udaddy} of librdmacm. The port is always 7174.
 */
@Command(name = "udaddy",
        description = "Datagrams by the connection manager, with a C or Java udaddy.")
public final class Udaddy implements Callable<Integer> {
    private static final String PORT = "7174";

    @Mixin
    private AddressOptions peer = new AddressOptions();

    @Mixin
    private WorkloadOptions workload = new WorkloadOptions();

    @Option(names = "-P", paramLabel = "SPACE", defaultValue = "udp",
            description = "Port space: udp (default: ${DEFAULT-VALUE}).")
    private String spaceName = "udp";

    @Option(names = "-p", paramLabel = "SPACE", converter = WholeNumber.class,
            description = "Port space as a number: 0x111 for udp (default).")
    private @Nullable Long spaceNumber;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        peer.check(spec);
        Workload wanted = workload.workload(spec);
        Refusal.when(spec, AddressFormat.starts(spaceName, "ipoib"),
                "-P ipoib is not possible: that port space needs an InfiniBand link");
        Refusal.when(spec, !AddressFormat.starts(spaceName, "udp"),
                "-P must be udp, not '" + spaceName + "'");
        DatagramSpace.check(spec, spaceNumber);
        return ExitStatus.of(spec, () -> new Run(wanted).run());
    }

    /** One run with its queue pairs. */
    private final class Run implements Rendezvous.Service {
        private final Rendezvous rendezvous;

        Run(Workload wanted) {
            rendezvous = new Rendezvous("udaddy", spec.commandLine().getOut(), peer, PortSpace.UDP,
                    wanted, workload.patience(), this);
        }

        void run() throws IOException {
            rendezvous.run(PORT, () -> {});
        }

        @Override
        public void playServer() throws IOException {
            rendezvous.reply(Rendezvous.Sends.COMPLETED);
        }

        @Override
        public void playClient() throws IOException {
            rendezvous.initiate(Rendezvous.Sends.UNOBSERVED);
        }

        @Override
        public void connect(Connection connection) throws IOException {
            prepare(connection);
            connection.id().connect(new ConnectionParameters());
        }

        @Override
        public void accept(Connection connection) throws IOException {
            prepare(connection);
            connection.id().accept(new ConnectionParameters());
            connection.onConnected();
        }

        @Override
        public void onEstablished(Connection connection, CmEvent event) throws IOException {
            DatagramParameters service = Objects.requireNonNull(event.datagram());
            connection.sendTo(service);
            connection.onConnected();
        }

        private void prepare(Connection connection) throws IOException {
            connection.prepare(false);
            connection.postReceives();
        }
    }
}
