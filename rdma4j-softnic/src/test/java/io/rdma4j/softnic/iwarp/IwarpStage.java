// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.softnic.device.DeviceFamily;
import io.rdma4j.softnic.device.SoftDevice;
import io.rdma4j.softnic.options.DeviceOptions;
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
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import static org.assertj.core.api.Assertions.assertThat;

/** Two sides of an iWARP device, and a real TCP connection of this machine between them. */
abstract class IwarpStage {
    static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();
    static final int SIZE = 3 << 20;
    static final int DEPTH = 64;
    static final int BACKLOG = 8;
    private static final String CRC_PROPERTY = "rdma4j.iwarp.crc";
    static final MpaFrame REVISION_ONE = new MpaFrame(false, 0, 1, MpaFrame.UNLIMITED,
            MpaFrame.UNLIMITED, new byte[0]);
    static final MpaFrame FIRST_BY_WRITE = new MpaFrame(false, MpaFrame.ENHANCED,
            MpaFrame.ENHANCED_REVISION, 4 | MpaFrame.PEER_TO_PEER, 4 | MpaFrame.WRITE_RTR,
            new byte[0]);

    /** Of the client, and usually of the server as well. */
    final SoftDeviceContext context;
    final ProtectionDomain domain;
    final Side client;
    final Side server;
    @Nullable
    CmListener listener;
    private final InetAddress address;

    IwarpStage() throws Exception {
        this(IwarpFamily.IWARP);
    }

    IwarpStage(DeviceFamily family) throws Exception {
        this(device(family).open(ADDRESS), ADDRESS);
    }

    /** Both sides on one device. */
    IwarpStage(SoftDeviceContext device, InetAddress address) throws Exception {
        this(device, device, address);
    }

    /** Each side on a device of its own. */
    IwarpStage(SoftDeviceContext ofClient, SoftDeviceContext ofServer, InetAddress address)
            throws Exception {
        this.address = address;
        client = new Side(ofClient);
        server = new Side(ofServer);
        context = client.context;
        domain = client.domain;
    }

    static SoftDevice device(DeviceFamily family) throws SocketException {
        return new SoftDevice(family, NetworkInterface.getByInetAddress(ADDRESS));
    }

    /** {@return the device of the loopback interface, opened with options} */
    static SoftDeviceContext open(DeviceOptions options, boolean wantsCrc) throws Exception {
        System.setProperty(CRC_PROPERTY, String.valueOf(wantsCrc));
        try {
            return device(IwarpFamily.IWARP).open(options);
        } finally {
            System.clearProperty(CRC_PROPERTY);
        }
    }

    @AfterEach
    void close() throws RdmaException {
        for (Side side : List.of(client, server)) {
            side.close();
        }
        if (listener != null) {
            listener.close();
        }
        client.context.close();
        server.context.close();
    }

    /** A queue pair, its memory, and the events of its connection. */
    final class Side implements CmConnection.Handler {
        final SoftDeviceContext context;
        final ProtectionDomain domain;
        final Arena arena = Arena.ofShared();
        final MemorySegment memory = arena.allocate(SIZE, 64);
        final MemoryRegion region;
        final CompletionQueue completions;
        final QueuePair queuePair;
        final WorkCompletion completion = new WorkCompletion();
        final List<String> heard = new CopyOnWriteArrayList<>();
        volatile @Nullable CmConnection connection;
        volatile byte[] privateData = {};

        Side(SoftDeviceContext context) throws RdmaException {
            this.context = context;
            domain = context.allocateProtectionDomain();
            region = domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE,
                    AccessFlag.REMOTE_READ);
            completions = context.createCompletionQueue(2 * DEPTH);
            queuePair = domain.createQueuePair(
                    new QueuePairInitAttributes().completionQueue(completions)
                            .capabilities(QueuePairCapabilities.ofDepth(DEPTH, DEPTH)));
            context.bringUp(address).applyTo(queuePair);
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

        void close() throws RdmaException {
            CmConnection present = connection;
            if (present != null) {
                present.close();
            }
            queuePair.close();
            completions.close();
            region.close();
            domain.close();
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

    static int freePort() throws Exception {
        return freePort(ADDRESS);
    }

    private static int freePort(InetAddress at) throws Exception {
        try (ServerSocket socket = new ServerSocket(0, 1, at)) {
            return socket.getLocalPort();
        }
    }

    final int listen() throws Exception {
        return listen((via, request, local, peer, parameters) -> {
            server.connection = request;
            server.privateData = parameters.privateData();
            server.heard.add("request");
            return server;
        });
    }

    final int listen(CmListener.Handler handler) throws Exception {
        int port = freePort(address);
        listener = server.context.listen(new ListenRequest(PortSpace.TCP, QueuePairType.RC, port,
                null, address, null, BACKLOG, null), handler);
        return port;
    }

    final void ask(int port) throws RdmaException {
        client.connection = context.connect(new ConnectRequest(PortSpace.TCP, QueuePairType.RC,
                new InetSocketAddress(address, 0), null, new InetSocketAddress(address, port),
                new ConnectionParameters().initiatorDepth(4).responderResources(4)
                        .privateData("hello".getBytes(StandardCharsets.US_ASCII)),
                client.queuePair.number(), CmOptions.DEFAULT), client);
    }

    final void connect() throws Exception {
        ask(listen());
        server.awaitWord("request");
        server.connected().accept(new ConnectionParameters().initiatorDepth(4)
                .responderResources(4).privateData("welcome".getBytes(StandardCharsets.US_ASCII)),
                server.queuePair.number());
        client.awaitWord("established");
        server.awaitWord("established");
    }

    /** {@return the other end of a connection that was asked for, by one that does not speak as this project does} */
    final Socket askAsInitiatorOfRevisionOne(int port) throws Exception {
        return askAsInitiator(port, REVISION_ONE);
    }

    /** {@return the other end of a connection that was asked for by a frame} */
    final Socket askAsInitiator(int port, MpaFrame request) throws Exception {
        Socket initiator = new Socket(ADDRESS, port);
        initiator.getOutputStream().write(request.bytes());
        server.awaitWord("request");
        return initiator;
    }
}
