package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.PortSpace;
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
        Refusal.when(spec, PeerOptions.starts(spaceName, "ipoib"),
                "-P ipoib is not possible: that port space needs an InfiniBand link");
        Refusal.when(spec, !PeerOptions.starts(spaceName, "udp"),
                "-P must be udp, not '" + spaceName + "'");
        DatagramSpace.check(spec, spaceNumber);
        return Verdict.of(spec, () -> new Run(wanted).run());
    }

    /** One run with its queue pairs. */
    private final class Run implements Meeting.Service {
        private final Meeting meeting;

        Run(Load wanted) {
            meeting = new Meeting("udaddy", spec.commandLine().getOut(), peer, PortSpace.UDP,
                    wanted, load.patience(), this);
        }

        void run() throws IOException {
            meeting.run(PORT);
        }

        @Override
        public void playServer() throws IOException {
            meeting.reply(Meeting.Sends.COMPLETED);
        }

        @Override
        public void playClient() throws IOException {
            meeting.initiate(Meeting.Sends.UNOBSERVED);
        }

        @Override
        public void connect(Node node) throws IOException {
            prepare(node);
            node.id().connect(new ConnectionParameters());
        }

        @Override
        public void accept(Node node) throws IOException {
            prepare(node);
            node.id().accept(new ConnectionParameters());
            node.onConnected();
        }

        @Override
        public void onEstablished(Node node, CmEvent event) throws IOException {
            DatagramParameters service = Objects.requireNonNull(event.datagram());
            node.sendTo(service);
            node.onConnected();
        }

        private void prepare(Node node) throws IOException {
            node.prepare(false);
            node.postReceives();
        }
    }
}
