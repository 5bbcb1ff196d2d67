package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.PortSpace;
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
    private PeerOptions peer = new PeerOptions();

    @Mixin
    private LoadOptions load = new LoadOptions();

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
    private @Nullable Long acknowledgeTimeout;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        peer.check(spec);
        Load wanted = load.load(spec);
        PortSpace space = space();
        if (acknowledgeTimeout != null) {
            WholeNumber.requireRange(spec, "-a", acknowledgeTimeout, 0, LONGEST_TIMEOUT);
        }
        return Verdict.of(spec, () -> new Run(space, wanted).run());
    }

    private PortSpace space() {
        if (PeerOptions.starts(spaceName, "ib")) {
            return PortSpace.IB;
        }
        if (PeerOptions.starts(spaceName, "tcp")) {
            return PortSpace.TCP;
        }
        throw new ParameterException(spec.commandLine(),
                "-P must be tcp or ib, not '" + spaceName + "'");
    }

    /** One run with its connections. */
    private final class Run implements Meeting.Service {
        private final Meeting meeting;
        private final Gathering gathering;

        Run(PortSpace space, Load wanted) {
            meeting = new Meeting("cmatose", spec.commandLine().getOut(), peer, space, wanted,
                    load.patience(), this);
            gathering = meeting.gathering();
        }

        void run() throws IOException {
            meeting.run(port);
        }

        @Override
        public void playServer() throws IOException {
            meeting.initiate(Meeting.Sends.COMPLETED);
            migrate();
            meeting.print("cmatose: disconnecting");
            for (Node node : gathering.nodes()) {
                if (node.isConnected()) {
                    node.id().disconnect();
                }
            }
            gathering.awaitEnded();
            meeting.print("disconnected");
        }

        @Override
        public void playClient() throws IOException {
            meeting.reply(Meeting.Sends.UNOBSERVED);
            migrate();
            gathering.awaitEnded();
        }

        private void migrate() throws IOException {
            if (isMigrating) {
                meeting.print("migrating to new event channel");
                gathering.migrate();
            }
        }

        @Override
        public void connect(Node node) throws IOException {
            prepare(node);
            node.id().connect(new ConnectionParameters().responderResources(1).initiatorDepth(1)
                    .retryCount(RETRIES).rnrRetryCount(0).flowControl(false));
        }

        @Override
        public void accept(Node node) throws IOException {
            prepare(node);
            node.id().accept();
        }

        @Override
        public void onEstablished(Node node, CmEvent event) {
            node.onConnected();
        }

        private void prepare(Node node) throws IOException {
            node.prepare(false);
            if (acknowledgeTimeout != null) {
                node.id().acknowledgeTimeout(acknowledgeTimeout.intValue());
            }
            node.postReceives();
        }
    }
}
