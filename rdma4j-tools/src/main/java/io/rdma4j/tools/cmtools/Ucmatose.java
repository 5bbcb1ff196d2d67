package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.PortSpace;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * Connects, lets the server send messages and the client answer them, and disconnects.
 *
 * <p>C: {@code ucmatose} of librdmacm, which calls itself cmatose.
 */
@Command(name = "ucmatose",
        description = "Connections by the connection manager, with a C or Java ucmatose.")
public final class Ucmatose implements Callable<Integer> {
    private static final Duration RESOLVE = Duration.ofSeconds(2);
    private static final int BACKLOG = 1024;
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
            WholeNumber.checked(spec, "-a", acknowledgeTimeout, 0, LONGEST_TIMEOUT);
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
    private final class Run {
        private final PortSpace space;
        private final Load wanted;
        private final Gathering gathering;

        Run(PortSpace space, Load wanted) {
            this.space = space;
            this.wanted = wanted;
            gathering = new Gathering(wanted, load.patience(), this::onEvent);
        }

        void run() throws IOException {
            try (gathering) {
                if (peer.isServer()) {
                    serve();
                } else {
                    connect();
                }
            }
        }

        private void serve() throws IOException {
            InetSocketAddress local = peer.toBind(space, port);
            CmId listener = gathering.listener(space);
            listener.bindAddress(local);
            listener.listen(BACKLOG);
            print("cmatose: starting server");
            gathering.awaitConnected();
            if (wanted.messages() > 0) {
                print("initiating data transfers");
                gathering.postSends();
                print("completing sends");
                gathering.awaitSends();
                print("receiving data transfers");
                gathering.awaitReceives();
                print("data transfers complete");
            }
            migrate();
            print("cmatose: disconnecting");
            for (Node node : gathering.nodes()) {
                if (node.isConnected()) {
                    node.id().disconnect();
                }
            }
            gathering.awaitEnded();
            print("disconnected");
        }

        private void connect() throws IOException {
            print("cmatose: starting client");
            AddressInfo info = peer.toConnect(space, port);
            gathering.addAll(space);
            print("cmatose: connecting");
            for (Node node : gathering.nodes()) {
                node.id().resolveAddress(info.source(),
                        Objects.requireNonNull(info.destination()), RESOLVE);
            }
            gathering.awaitConnected();
            if (wanted.messages() > 0) {
                print("receiving data transfers");
                gathering.awaitReceives();
                print("sending replies");
                gathering.postSends();
                print("data transfers complete");
            }
            migrate();
            gathering.awaitEnded();
        }

        private void migrate() throws IOException {
            if (isMigrating) {
                print("migrating to new event channel");
                gathering.migrate();
            }
        }

        private void onEvent(CmEvent event) throws IOException {
            CmId id = event.id();
            switch (event.type()) {
                case ADDR_RESOLVED -> {
                    Integer tos = peer.typeOfService();
                    if (tos != null) {
                        id.typeOfService(tos);
                    }
                    id.resolveRoute(RESOLVE);
                }
                case ROUTE_RESOLVED -> {
                    prepare(Gathering.nodeOf(event));
                    id.connect(new ConnectionParameters().responderResources(1).initiatorDepth(1)
                            .retryCount(RETRIES).rnrRetryCount(0).flowControl(false));
                }
                case CONNECT_REQUEST -> {
                    Node node = gathering.take(id);
                    if (node == null) {
                        print("cmatose: failing connection request");
                        return;
                    }
                    prepare(node);
                    id.accept();
                }
                case ESTABLISHED -> Gathering.nodeOf(event).onConnected();
                default -> {
                    // Nothing to do for the others.
                }
            }
        }

        private void prepare(Node node) throws IOException {
            node.prepare(false);
            if (acknowledgeTimeout != null) {
                node.id().acknowledgeTimeout(acknowledgeTimeout.intValue());
            }
            node.postReceives();
        }

        private void print(String line) {
            spec.commandLine().getOut().println(line);
            spec.commandLine().getOut().flush();
        }
    }
}
