// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.tools.endpoint.Establishment;
import io.rdma4j.tools.options.AddressFormat;
import io.rdma4j.tools.options.WholeNumber;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.util.concurrent.Callable;

/**
 * Connects, lets the server send messages and the client answer them, and disconnects.
 *
 * <p>C: {@code ucmatose} of librdmacm, which calls itself cmatose.
 */
@Command(name = "ucmatose",
        description = "Connections by the connection manager, with a C or Java ucmatose.")
public final class Ucmatose implements Callable<Integer> {
    private static final int RETRIES = 5;
    private static final int LONGEST_TIMEOUT = 31;

    @Mixin
    private AddressOptions peer = new AddressOptions();

    @Mixin
    private WorkloadOptions workload = new WorkloadOptions();

    @Option(names = "-P", paramLabel = "SPACE", defaultValue = "tcp",
            description = "Port space: tcp or ib (default: ${DEFAULT-VALUE}).")
    private String spaceName = "tcp";

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            description = "Port, as a number or a service's name (default: ${DEFAULT-VALUE}).")
    private String port = "7471";

    @Option(names = "-m", description = "Move all ids to another event channel before the end.")
    private boolean isMigrating;

    @Option(names = "-a", paramLabel = "EXPONENT", converter = WholeNumber.class,
            description = "Acknowledgement time-out: 4.096 us times 2 to the power of this.")
    private @Nullable Long ackTimeoutExponent;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        peer.check(spec);
        Workload wanted = workload.workload(spec);
        PortSpace space = space();
        if (ackTimeoutExponent != null) {
            WholeNumber.requireRange(spec, "-a", ackTimeoutExponent, 0, LONGEST_TIMEOUT);
        }
        return ExitStatus.of(spec, () -> Establishment.of(reached -> {
            new Run(space, wanted).run(reached);
            return this;
        }));
    }

    private PortSpace space() {
        if (AddressFormat.starts(spaceName, "ib")) {
            return PortSpace.IB;
        }
        if (AddressFormat.starts(spaceName, "tcp")) {
            return PortSpace.TCP;
        }
        throw new ParameterException(spec.commandLine(),
                "-P must be tcp or ib, not '" + spaceName + "'");
    }

    /** One run with its connections. */
    private final class Run implements Rendezvous.Service {
        private final Rendezvous rendezvous;
        private final Connections connections;

        Run(PortSpace space, Workload wanted) {
            rendezvous = new Rendezvous("cmatose", spec.commandLine().getOut(), peer, space, wanted,
                    workload.patience(), this);
            connections = rendezvous.connections();
        }

        void run(Runnable reached) throws IOException {
            rendezvous.run(port, reached);
        }

        @Override
        public void playServer() throws IOException {
            rendezvous.initiate(Rendezvous.Sends.COMPLETED);
            migrate();
            rendezvous.print("cmatose: disconnecting");
            for (Connection connection : connections.all()) {
                if (connection.isConnected()) {
                    connection.id().disconnect();
                }
            }
            connections.awaitEnded();
            rendezvous.print("disconnected");
        }

        @Override
        public void playClient() throws IOException {
            rendezvous.reply(Rendezvous.Sends.UNOBSERVED);
            migrate();
            connections.awaitEnded();
        }

        private void migrate() throws IOException {
            if (isMigrating) {
                rendezvous.print("migrating to new event channel");
                connections.migrate();
            }
        }

        @Override
        public void connect(Connection connection) throws IOException {
            prepare(connection);
            connection.id()
                    .connect(new ConnectionParameters().responderResources(1).initiatorDepth(1)
                            .retryCount(RETRIES).rnrRetryCount(0).flowControl(false));
        }

        @Override
        public void accept(Connection connection) throws IOException {
            prepare(connection);
            connection.id().accept();
        }

        @Override
        public void onEstablished(Connection connection, CmEvent event) {
            connection.onConnected();
        }

        private void prepare(Connection connection) throws IOException {
            connection.prepare(false);
            if (ackTimeoutExponent != null) {
                connection.id().ackTimeoutExponent(ackTimeoutExponent.intValue());
            }
            connection.postReceives();
        }
    }
}
