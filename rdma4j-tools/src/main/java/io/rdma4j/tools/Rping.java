package io.rdma4j.tools;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.tools.options.Hosts;
import io.rdma4j.tools.options.Patience;
import io.rdma4j.tools.options.Refusal;
import io.rdma4j.tools.options.WholeNumber;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * Ping-pong by READ and WRITE; talks to the program of that name in rdma-core.
 *
 * <p>Each round the client tells where its message is, the server READs it, the client tells where the
 * answer goes, the server WRITEs it there; a SEND marks the end of each step. Advertisements are 16 bytes:
 * address, key and length, big endian.
 */
@Command(name = "rping", description = "Ping-pong by RDMA READ and WRITE with a C or Java rping.")
final class Rping implements Callable<Integer> {
    private static final ValueLayout.OfLong U64 = ValueLayout.JAVA_LONG_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt U32 = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final int ADVERTISEMENT = 16;
    private static final int SMALLEST = 23;
    private static final int LARGEST = 65535;
    private static final int SEND_DEPTH = 16;
    private static final int RECEIVE_DEPTH = 2;
    private static final int BACKLOG = 3;
    private static final Duration RESOLVE = Duration.ofSeconds(2);

    @Option(names = "-s", description = "Be the server.")
    private boolean isServer;

    @Option(names = "-c", description = "Be the client.")
    private boolean isClient;

    @Option(names = "-a", paramLabel = "ADDR",
            description = "Address to listen on or to connect to (default: all, or loopback).")
    private @Nullable String address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7174",
            converter = Numbers.Port.class,
            description = "Port (default: ${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "64",
            description = "Bytes of a ping (default: ${DEFAULT-VALUE}).")
    private int size;

    @Option(names = "-C", paramLabel = "COUNT", converter = Numbers.Count.class,
            description = "Pings before the client ends (default: 0, until it is stopped).")
    private int count;

    @Option(names = "-v", description = "Print the ping data.")
    private boolean isVerbose;

    @Option(names = "-V", description = "Compare what comes back with what was sent.")
    private boolean isValidating;

    @Option(names = "-d", description = "Print each step.")
    private boolean isDebugging;

    @Option(names = "-P", description = "Serve many clients, at the same time, until stopped.")
    private boolean isPersistent;

    @Option(names = "-q", description = "Create and modify the queue pair without the connection"
            + " manager's help.")
    private boolean isOwnQueuePair;

    @Option(names = "-I", paramLabel = "ADDR", description = "Local address of the client.")
    private @Nullable String source;

    @Mixin
    private Patience patience = new Patience();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws Exception {
        WholeNumber.requireRange(spec, "-S", size, SMALLEST, LARGEST);
        Refusal.when(spec, isServer == isClient,
                "either -s, to be the server, or -c, to be the client, is needed");
        Refusal.when(spec, isClient && port == 0,
                "-p must be the server's port, from 1 to 65535, not 0");
        patience.check(spec);
        if (isServer) {
            serve();
        } else {
            ping();
        }
        return 0;
    }

    private void serve() throws Exception {
        InetSocketAddress bound = address == null
                ? new InetSocketAddress(port)
                : new InetSocketAddress(Hosts.resolve(address), port);
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(bound);
            debug("rdma_bind_addr successful");
            listener.listen(BACKLOG);
            debug("rdma_listen");
            if (isVerbose) {
                print("listening on port " + listener.sourcePort());
            }
            do {
                CmId request = listener.awaitRequest();
                if (isPersistent) {
                    Thread.ofVirtual().start(() -> serveQuietly(request));
                } else {
                    serve(request);
                }
            } while (isPersistent);
        }
    }

    /** One client of many: its failure is not that of the others. */
    private void serveQuietly(CmId request) {
        try {
            serve(request);
        } catch (RdmaException | RuntimeException e) {
            error("rping: " + Main.firstLine(e));
        }
    }

    private void serve(CmId request) throws RdmaException {
        try (CmId id = request; Session session = new Session(id)) {
            debug("accepting client connection request");
            session.accept();
            session.serve();
            error("server DISCONNECT EVENT...");
            id.disconnect();
        }
    }

    private void ping() throws Exception {
        InetAddress server = address == null
                ? InetAddress.getLoopbackAddress()
                : Hosts.resolve(address);
        InetSocketAddress from = source == null
                ? null
                : new InetSocketAddress(Hosts.resolve(source), 0);
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.resolveAddress(from, new InetSocketAddress(server, port), RESOLVE);
            id.resolveRoute(RESOLVE);
            debug("rdma_resolve_addr - rdma_resolve_route successful");
            try (Session session = new Session(id)) {
                session.connect();
                debug("rdma_connect successful");
                session.ping();
                session.leave();
                error("client DISCONNECT EVENT...");
            }
        }
    }

    private void debug(String line) {
        if (isDebugging) {
            print(line);
        }
    }

    private void print(String line) {
        spec.commandLine().getOut().println(line);
        spec.commandLine().getOut().flush();
    }

    private void error(String line) {
        spec.commandLine().getErr().println(line);
        spec.commandLine().getErr().flush();
    }

    /** One connection with its buffers. */
    private final class Session implements AutoCloseable {
        private final RpingQueuePair own;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment sent = arena.allocate(ADVERTISEMENT);
        private final MemorySegment received = arena.allocate(ADVERTISEMENT);
        private final MemorySegment data = arena.allocate(size);
        private final MemorySegment start = arena.allocate(size);
        private final MemoryRegion sentRegion;
        private final MemoryRegion receivedRegion;
        private final MemoryRegion dataRegion;
        private final MemoryRegion startRegion;

        Session(CmId id) throws RdmaException {
            own = RpingQueuePair.create(id, isOwnQueuePair, SEND_DEPTH, RECEIVE_DEPTH,
                    patience.duration());
            debug(String.format("created qp 0x%x", own.queuePair().number()));
            sentRegion = own.registerMessages(sent);
            receivedRegion = own.registerMessages(received);
            dataRegion = own.protectionDomain().register(data, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
            startRegion = own.protectionDomain().register(start, AccessFlag.LOCAL_WRITE,
                    AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
            postReceive();
        }

        private ConnectionParameters parameters() {
            return new ConnectionParameters().responderResources(1).initiatorDepth(1);
        }

        void accept() throws RdmaException {
            own.accept(parameters());
        }

        void connect() throws RdmaException {
            own.connect(parameters());
        }

        void leave() throws RdmaException {
            own.leave();
        }

        private void postReceive() throws RdmaException {
            own.postReceive(0, receivedRegion, 0, ADVERTISEMENT);
        }

        void ping() throws RdmaException {
            for (int round = 0; count == 0 || round < count; round++) {
                fill(round);
                advertise(startRegion);
                awaitMessage();
                advertise(dataRegion);
                awaitMessage();
                if (isValidating && start.mismatch(data) >= 0) {
                    throw new RdmaException(Errno.EIO, "rping",
                            "data mismatch in round " + round + " at byte " + start.mismatch(data));
                }
                if (isVerbose) {
                    print("ping data: " + text(data));
                }
            }
        }

        /** The text of a round: its number, then letters that start one further each time. */
        private void fill(int round) {
            byte[] head = ("rdma-ping-" + round + ": ").getBytes(StandardCharsets.US_ASCII);
            int letters = 'z' - 'A' + 1;
            for (int i = 0; i < size - 1; i++) {
                byte value = i < head.length
                        ? head[i]
                        : (byte) ('A' + (round + i - head.length) % letters);
                start.set(ValueLayout.JAVA_BYTE, i, value);
            }
            start.set(ValueLayout.JAVA_BYTE, size - 1, (byte) 0);
        }

        private void advertise(MemoryRegion region) throws RdmaException {
            sent.set(U64, 0, region.address());
            sent.set(U32, 8, region.rkey());
            sent.set(U32, 12, size);
            if (isDebugging) {
                print(String.format("RDMA addr %x rkey %x len %d", region.address(),
                        region.rkey(), size));
            }
            own.postSend(1, sentRegion, 0, ADVERTISEMENT, SendFlag.SIGNALED);
            expectSuccess(own.awaitSendCompletion());
        }

        private void awaitMessage() throws RdmaException {
            expectSuccess(own.awaitReceiveCompletion());
            postReceive();
        }

        void serve() throws RdmaException {
            while (true) {
                if (!awaitAdvertisement()) {
                    return;
                }
                debug("server received sink adv");
                own.postRead(2, dataRegion, 0, advertisedLength(), received.get(U64, 0),
                        received.get(U32, 8), SendFlag.SIGNALED);
                expectSuccess(own.awaitSendCompletion());
                debug("server received read complete");
                if (isVerbose) {
                    print("server ping data: " + text(data));
                }
                postReceive();
                advertise(dataRegion);
                if (!awaitAdvertisement()) {
                    return;
                }
                debug("server received sink adv");
                own.postWrite(3, dataRegion, 0, advertisedLength(), received.get(U64, 0),
                        received.get(U32, 8), SendFlag.SIGNALED);
                expectSuccess(own.awaitSendCompletion());
                debug("server rdma write complete");
                postReceive();
                advertise(dataRegion);
            }
        }

        /** {@return false when the client has ended} */
        private boolean awaitAdvertisement() throws RdmaException {
            WorkCompletion completion = own.awaitReceiveCompletion();
            if (completion.status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
                return false;
            }
            expectSuccess(completion);
            return true;
        }

        private int advertisedLength() throws RdmaException {
            int length = received.get(U32, 12);
            if (length < 0 || length > size) {
                throw new RdmaException(Errno.EMSGSIZE, "rping", "the client's pings have "
                        + Integer.toUnsignedString(length) + " bytes; start this side with -S "
                        + length);
            }
            return length;
        }

        private void expectSuccess(WorkCompletion completion) throws RdmaException {
            if (completion.status() == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
                throw new RdmaException(Errno.EIO, "rping", "the peer disconnected too early");
            }
            if (!completion.isSuccess()) {
                throw new RdmaException(Errno.EIO,
                        completion.opcode() == WorkCompletionOpcode.RECEIVE ? "receive" : "send",
                        completion.status() + ": " + completion.status().explanation());
            }
        }

        private String text(MemorySegment memory) {
            int end = 0;
            while (end < size && memory.get(ValueLayout.JAVA_BYTE, end) != 0) {
                end++;
            }
            return StandardCharsets.US_ASCII
                    .decode(memory.asSlice(0, end).asByteBuffer()).toString();
        }

        @Override
        public void close() throws RdmaException {
            own.close();
            sentRegion.close();
            receivedRegion.close();
            dataRegion.close();
            startRegion.close();
            arena.close();
        }
    }
}
