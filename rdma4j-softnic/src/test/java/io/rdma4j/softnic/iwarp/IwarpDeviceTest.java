package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.Refusal;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Queue pairs of an iWARP device on real TCP connections of this machine. */
class IwarpDeviceTest {
    private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();
    private static final int SIZE = 3 << 20;
    private static final int DEPTH = 64;
    private static final int BACKLOG = 8;

    private final SoftDeviceContext context;
    private final ProtectionDomain domain;
    private final Side client;
    private final Side server;
    private @Nullable CmListener listener;

    IwarpDeviceTest() throws Exception {
        context = new SoftDevice(IwarpFamily.IWARP, NetworkInterface.getByInetAddress(ADDRESS))
                .open(ADDRESS);
        domain = context.allocateProtectionDomain();
        client = new Side();
        server = new Side();
    }

    @AfterEach
    void close() throws Exception {
        for (Side side : List.of(client, server)) {
            side.close();
        }
        if (listener != null) {
            listener.close();
        }
        domain.close();
        context.close();
    }

    /** A queue pair, its memory, and what it hears of its connection. */
    private final class Side implements CmConnection.Handler {
        final Arena arena = Arena.ofShared();
        final MemorySegment memory = arena.allocate(SIZE, 64);
        final MemoryRegion region = domain.register(memory, AccessFlag.LOCAL_WRITE,
                AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
        final CompletionQueue completions = context.createCompletionQueue(2 * DEPTH);
        final QueuePair queuePair = domain.createQueuePair(
                new QueuePairInitAttributes().completionQueue(completions)
                        .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH)));
        final WorkCompletion completion = new WorkCompletion();
        final List<String> heard = new CopyOnWriteArrayList<>();
        volatile @Nullable CmConnection connection;
        volatile byte[] privateData = {};

        Side() throws RdmaException {
            context.bringUp(ADDRESS).applyTo(queuePair);
        }

        void receive(long id, int length) throws RdmaException {
            queuePair.postReceive(new ReceiveWorkRequest().id(id).add(region, 0, length));
        }

        WorkCompletion await() throws Exception {
            Wait.until("a completion", () -> completions.poll(completion));
            return completion;
        }

        WorkCompletion awaitSuccess(long id) throws Exception {
            await();
            assertThat(completion.status()).isEqualTo(WorkCompletionStatus.SUCCESS);
            assertThat(completion.id()).isEqualTo(id);
            return completion;
        }

        void awaitWord(String word) throws Exception {
            Wait.until(word + " in " + heard, () -> heard.contains(word));
        }

        CmConnection connected() {
            return Objects.requireNonNull(connection);
        }

        void close() throws Exception {
            CmConnection present = connection;
            if (present != null) {
                present.close();
            }
            queuePair.close();
            completions.close();
            region.close();
            arena.close();
        }

        @Override
        public void onReply(CmConnection of, ConnectionParameters parameters) {
            heard.add("reply");
        }

        @Override
        public void onEstablished(@Nullable ConnectionParameters parameters) {
            if (parameters != null) {
                privateData = parameters.privateData();
            }
            heard.add("established");
        }

        @Override
        public void onRefused(Refusal refusal) {
            privateData = refusal.privateData();
            heard.add("refused " + refusal.code());
        }

        @Override
        public void onUnreachable(Errno reason) {
            heard.add("unreachable " + reason);
        }

        @Override
        public void onDisconnected() {
            heard.add("disconnected");
        }

        @Override
        public void onTimewaitExit() {
            heard.add("over");
        }
    }

    private static int freePort() throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, ADDRESS)) {
            return socket.getLocalPort();
        }
    }

    private int listen() throws Exception {
        int port = freePort();
        listener = context.listen(
                new ListenRequest(PortSpace.TCP, QueuePairType.RC, port, null, ADDRESS, null,
                        BACKLOG),
                (via, request, local, peer, parameters) -> {
                    server.connection = request;
                    server.privateData = parameters.privateData();
                    server.heard.add("request");
                    return server;
                });
        return port;
    }

    private void ask(int port) throws RdmaException {
        client.connection = context.connect(new ConnectRequest(PortSpace.TCP, QueuePairType.RC,
                new InetSocketAddress(ADDRESS, 0), null, new InetSocketAddress(ADDRESS, port),
                new ConnectionParameters().initiatorDepth(4).responderResources(4)
                        .privateData("hello".getBytes(StandardCharsets.US_ASCII)),
                client.queuePair.number(), CmOptions.DEFAULT), client);
    }

    private void connect() throws Exception {
        ask(listen());
        server.awaitWord("request");
        server.connected().accept(new ConnectionParameters().initiatorDepth(4)
                .responderResources(4).privateData("welcome".getBytes(StandardCharsets.US_ASCII)),
                server.queuePair.number());
        client.awaitWord("established");
        server.awaitWord("established");
    }

    @Test
    void aConnectionCarriesPrivateDataBothWays() throws Exception {
        connect();
        assertThat(server.privateData).asString().isEqualTo("hello");
        assertThat(client.privateData).asString().isEqualTo("welcome");
        assertThat(client.queuePair.query().state()).isEqualTo(QueuePairState.RTS);
        assertThat(server.queuePair.query().state()).isEqualTo(QueuePairState.RTS);
    }

    @Test
    void messagesArriveInOrder() throws Exception {
        connect();
        for (int i = 0; i < DEPTH; i++) {
            server.receive(i, SIZE);
        }
        for (int i = 0; i < DEPTH; i++) {
            client.memory.set(ValueLayout.JAVA_INT, 0, i);
            client.queuePair.postSend(new SendWorkRequest().id(i).send()
                    .add(client.region, 0, 1 + 7000L * i).set(SendFlag.SIGNALED));
            client.awaitSuccess(i);
            assertThat(server.awaitSuccess(i).byteLength()).isEqualTo(1 + 7000 * i);
            if (i > 0) {
                assertThat(server.memory.get(ValueLayout.JAVA_INT, 0)).isEqualTo(i);
            }
        }
    }

    @Test
    void writesAndReadsOfMegabytesArriveWhole() throws Exception {
        connect();
        for (long i = 0; i < SIZE; i += Long.BYTES) {
            client.memory.set(ValueLayout.JAVA_LONG, i, i * 31);
        }
        client.queuePair.postSend(new SendWorkRequest().id(1)
                .write(server.region.address(), server.region.rkey()).add(client.region, 0, SIZE)
                .set(SendFlag.SIGNALED));
        client.awaitSuccess(1);
        MemorySegment copy = client.memory.asSlice(0, SIZE / 2);
        byte[] wanted = copy.toArray(ValueLayout.JAVA_BYTE);
        copy.fill((byte) 0);
        client.queuePair.postSend(new SendWorkRequest().id(2)
                .read(server.region.address(), server.region.rkey())
                .add(client.region, 0, SIZE / 2).set(SendFlag.SIGNALED));
        client.awaitSuccess(2);
        assertThat(copy.toArray(ValueLayout.JAVA_BYTE)).isEqualTo(wanted);
    }

    /** Each side answers the other while it asks itself, and neither reads before it has sent. */
    @Test
    void bothSidesReadFromEachOtherAtOnce() throws Exception {
        connect();
        int half = SIZE / 2;
        client.memory.asSlice(0, half).fill((byte) 1);
        server.memory.asSlice(0, half).fill((byte) 2);
        for (int i = 0; i < 4; i++) {
            for (Side side : List.of(client, server)) {
                MemoryRegion other = side.equals(client) ? server.region : client.region;
                side.queuePair.postSend(new SendWorkRequest().id(i)
                        .read(other.address(), other.rkey()).add(side.region, half, half)
                        .set(SendFlag.SIGNALED));
            }
        }
        for (int i = 0; i < 4; i++) {
            client.awaitSuccess(i);
            server.awaitSuccess(i);
        }
        assertThat(client.memory.get(ValueLayout.JAVA_BYTE, SIZE - 1)).isEqualTo((byte) 2);
        assertThat(server.memory.get(ValueLayout.JAVA_BYTE, SIZE - 1)).isEqualTo((byte) 1);
    }

    /** What was posted before it leaves first. */
    @Test
    void aMessageIsNotCutOffByTheEnd() throws Exception {
        connect();
        server.receive(1, SIZE);
        client.queuePair.postSend(new SendWorkRequest().id(1).send().add(client.region, 0, SIZE));
        client.connected().disconnect();
        assertThat(server.awaitSuccess(1).byteLength()).isEqualTo(SIZE);
        server.awaitWord("over");
    }

    @Test
    void aMessageWithoutAReceiveEndsTheConnection() throws Exception {
        connect();
        client.receive(5, 10);
        client.queuePair.postSend(
                new SendWorkRequest().id(1).send().add(client.region, 0, 8).set(SendFlag.SIGNALED));
        client.awaitSuccess(1);
        client.awaitWord("over");
        server.awaitWord("over");
        assertThat(client.await().status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
    }

    @Test
    void aConnectionThatEndsTellsBothSides() throws Exception {
        connect();
        server.receive(9, 100);
        client.connected().disconnect();
        client.awaitWord("over");
        server.awaitWord("over");
        assertThat(client.heard).containsExactly("established", "disconnected", "over");
        assertThat(server.heard).containsExactly("request", "established", "disconnected", "over");
        assertThat(server.await().status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        assertThat(server.queuePair.query().state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void aQueuePairThatIsClosedEndsItsConnection() throws Exception {
        connect();
        client.queuePair.close();
        server.awaitWord("over");
    }

    @Test
    void aRefusalCarriesPrivateData() throws Exception {
        ask(listen());
        server.awaitWord("request");
        server.connected().reject(Refusal.Cause.APPLICATION,
                "no".getBytes(StandardCharsets.US_ASCII));
        client.awaitWord("refused -104");
        assertThat(client.privateData).asString().isEqualTo("no");
    }

    @Test
    void whereNobodyListensNobodyAnswers() throws Exception {
        ask(freePort());
        client.awaitWord("refused -111");
    }

    @Test
    void aPeerThatSpeaksSomethingElseIsRefused() throws Exception {
        try (ServerSocket stranger = new ServerSocket(0, 1, ADDRESS)) {
            ask(stranger.getLocalPort());
            try (var accepted = stranger.accept()) {
                accepted.getOutputStream()
                        .write("220 ready\r\n".getBytes(StandardCharsets.US_ASCII));
                client.awaitWord("refused -104");
            }
        }
    }

    private Socket askAsInitiatorOfRevisionOne(int port) throws Exception {
        Socket initiator = new Socket(ADDRESS, port);
        initiator.getOutputStream().write(
                new MpaFrame(false, 0, 1, MpaFrame.UNLIMITED, MpaFrame.UNLIMITED, new byte[0])
                        .bytes());
        server.awaitWord("request");
        return initiator;
    }

    /** It is established at once, and told so when the acceptance has returned; what is sent waits a moment. */
    @Test
    void anInitiatorThatPromisesNothingIsSpokenToAfterAWhile() throws Exception {
        try (Socket initiator = askAsInitiatorOfRevisionOne(listen())) {
            server.connected().accept(new ConnectionParameters(), server.queuePair.number());
            server.awaitWord("established");
            server.queuePair.postSend(new SendWorkRequest().id(1).send().add(server.region, 0, 8)
                    .set(SendFlag.SIGNALED));
            byte[] reply = initiator.getInputStream().readNBytes(MpaFrame.HEADER_LENGTH);
            assertThat(reply).startsWith("MPA ID Rep Frame".getBytes(StandardCharsets.US_ASCII));
            assertThat(initiator.getInputStream().readNBytes(4)).containsExactly(0, 26, 0x41, 0x43);
            server.awaitSuccess(1);
        }
        server.awaitWord("over");
    }

    @Test
    void aRequestThatIsWithdrawnCannotBeAccepted() throws Exception {
        askAsInitiatorOfRevisionOne(listen()).close();
        server.awaitWord("unreachable ECONNRESET");
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> server.connected()
                .accept(new ConnectionParameters(), server.queuePair.number()))
                .matches(e -> e.errno() == Errno.ECONNRESET);
    }

    @Test
    void requestsBeyondTheBacklogAreRejected() throws Exception {
        int port = listen();
        List<Socket> waiting = new ArrayList<>();
        try {
            for (int i = 0; i < BACKLOG; i++) {
                waiting.add(askAsInitiatorOfRevisionOne(port));
            }
            Wait.until("all requests", () -> server.heard.size() == BACKLOG);
            ask(port);
            client.awaitWord("refused -104");
        } finally {
            for (Socket each : waiting) {
                each.close();
            }
        }
    }

    @Test
    void whatTheTransportLacksIsRefused() throws Exception {
        connect();
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> domain.createQueuePair(new QueuePairInitAttributes()
                        .type(QueuePairType.UD).completionQueue(client.completions)))
                .matches(e -> e.errno() == Errno.EOPNOTSUPP);
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> client.queuePair.postSend(new SendWorkRequest()
                        .opcode(SendOpcode.SEND_WITH_IMMEDIATE).add(client.region, 0, 8)))
                .matches(e -> e.errno() == Errno.EOPNOTSUPP);
        assertThat(context.datagramServices()).isNull();
    }
}
