package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
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
 * Looks up a datagram service, sends it datagrams and receives as many answers.
 *
 * <p>C: {@code udaddy} of librdmacm. The port is always 7174.
 */
@Command(name = "udaddy",
        description = "Datagrams by the connection manager, with a C or Java udaddy.")
public final class Udaddy implements Callable<Integer> {
    private static final Duration RESOLVE = Duration.ofSeconds(2);
    private static final int BACKLOG = 1024;
    private static final String PORT = "7174";

    @Mixin
    private PeerOptions peer = new PeerOptions();

    @Mixin
    private LoadOptions load = new LoadOptions();

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
        Load wanted = load.load(spec);
        if (PeerOptions.starts(spaceName, "ipoib")) {
            throw new ParameterException(spec.commandLine(),
                    "-P ipoib is not possible: that port space needs an InfiniBand link");
        }
        if (!PeerOptions.starts(spaceName, "udp")) {
            throw new ParameterException(spec.commandLine(),
                    "-P must be udp, not '" + spaceName + "'");
        }
        DatagramSpace.check(spec, spaceNumber);
        return Verdict.of(spec, () -> new Run(wanted).run());
    }

    /** One run with its queue pairs. */
    private final class Run {
        private final Load wanted;
        private final Gathering gathering;

        Run(Load wanted) {
            this.wanted = wanted;
            gathering = new Gathering(wanted, load.patience(), this::onEvent);
        }

        void run() throws IOException {
            try (gathering) {
                if (peer.isServer()) {
                    serve();
                } else {
                    look();
                }
            }
        }

        private void serve() throws IOException {
            InetSocketAddress local = peer.toBind(PortSpace.UDP, PORT);
            CmId listener = gathering.listener(PortSpace.UDP);
            listener.bindAddress(local);
            listener.listen(BACKLOG);
            print("udaddy: starting server");
            gathering.awaitConnected();
            if (wanted.messages() > 0) {
                print("receiving data transfers");
                gathering.awaitReceives();
                print("sending replies");
                gathering.postSends();
                gathering.awaitSends();
                print("data transfers complete");
            }
        }

        private void look() throws IOException {
            print("udaddy: starting client");
            AddressInfo info = peer.toConnect(PortSpace.UDP, PORT);
            gathering.addAll(PortSpace.UDP);
            print("udaddy: connecting");
            for (Node node : gathering.nodes()) {
                node.id().resolveAddress(info.source(),
                        Objects.requireNonNull(info.destination()), RESOLVE);
            }
            gathering.awaitConnected();
            if (wanted.messages() > 0) {
                print("initiating data transfers");
                gathering.postSends();
                print("receiving data transfers");
                gathering.awaitReceives();
                print("data transfers complete");
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
                    id.connect(new ConnectionParameters());
                }
                case CONNECT_REQUEST -> {
                    Node node = gathering.take(id);
                    if (node == null) {
                        print("udaddy: failing connection request");
                        return;
                    }
                    prepare(node);
                    id.accept(new ConnectionParameters());
                    node.onConnected();
                }
                case ESTABLISHED -> {
                    Node node = Gathering.nodeOf(event);
                    DatagramParameters service = Objects.requireNonNull(event.datagram());
                    node.sendTo(service);
                    node.onConnected();
                }
                default -> {
                    // Nothing to do for the others.
                }
            }
        }

        private void prepare(Node node) throws IOException {
            node.prepare(false);
            node.postReceives();
        }

        private void print(String line) {
            spec.commandLine().getOut().println(line);
            spec.commandLine().getOut().flush();
        }
    }
}
