// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectReply;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectRequest;
import io.rdma4j.protocol.ibcm.CmMessage.MessageReceipt;
import io.rdma4j.protocol.ibcm.CmMessage.ReadyToUse;
import io.rdma4j.protocol.ibcm.CmMessage.Reject;
import io.rdma4j.protocol.ibcm.CmMessage.Reply;
import io.rdma4j.protocol.ibcm.CmMessage.Request;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceReply;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceRequest;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * A connection manager with services and with connections in every state, and an input that says what
 * messages reach it, what its application does and how time passes.
 *
 * <p>Whatever arrives, no exception escapes but refusals to the application; an application gets the event of an end
 * once and of nothing behind it; no more wait than the backlog allows; when all is closed nothing is left,
 * and the next connection succeeds.
 */
public final class CmFuzz {
    private static final Gid OWN = new Gid(0, 0xffff_0a00_0001L);
    private static final Gid PEER = new Gid(0, 0xffff_0a00_0002L);
    private static final Gid OTHER = new Gid(0x20010db8_00000000L, 3);
    private static final int PORT = 7471;
    private static final int BACKLOG = 3;
    private static final int MAX_STEPS = 300;
    private static final int MAX_ROUNDS = 100_000;
    private static final List<QueuePairType> CONNECTIONS = List.of(QueuePairType.RC,
            QueuePairType.UC);

    private final ByteBuffer choices;
    private final Random random = new Random(5);
    private final IbConnectionManager manager = new IbConnectionManager(CmSettings.defaults(1),
            random::nextInt);
    private final List<Ear> ears = new ArrayList<>();
    private final List<DatagramRequest> lookedUp = new ArrayList<>();
    private final List<DatagramLookup> lookups = new ArrayList<>();
    private final CmService connections;
    private final CmService unreliable;
    private final DatagramService datagrams;
    private long nowNs;

    /** What the fuzzer calls. */
    public static void fuzzerTestOneInput(byte[] input) throws RdmaException {
        decodeEncode(input);
        new CmFuzz(input).run();
    }

    private CmFuzz(byte[] input) throws RdmaException {
        choices = ByteBuffer.wrap(input);
        connections = manager.listen(offer(PortSpace.TCP, QueuePairType.RC, PORT), this::onRequest);
        unreliable = manager.listen(offer(PortSpace.TCP, QueuePairType.UC, PORT + 1),
                this::onRequest);
        datagrams = manager.listenForLookups(offer(PortSpace.UDP, QueuePairType.UD, PORT),
                (request, sourcePort, privateData) -> lookedUp.add(request));
    }

    private static ListenSpec offer(PortSpace space, QueuePairType type, int port) {
        return new ListenSpec(space, type, port, null, IpVersions.BOTH, BACKLOG);
    }

    private IbCmConnection.Events onRequest(IbCmConnection connection, int sourcePort,
            ConnectionParameters parameters) {
        Ear ear = new Ear();
        ear.connection = connection;
        ears.add(ear);
        return ear;
    }

    /** Hears of one connection, and insists on an order. */
    private static final class Ear implements IbCmConnection.Events {
        @Nullable
        IbCmConnection connection;
        private boolean isConnected;
        private boolean isDisconnected;
        private boolean isOver;

        private void check(boolean isExpected, String event) {
            if (isOver || !isExpected) {
                throw new AssertionError("unexpected: " + event);
            }
        }

        @Override
        public void onReply(ConnectionParameters parameters) {
            check(!isConnected && !isDisconnected, "reply");
            isConnected = true;
        }

        @Override
        public void onEstablished() {
            check(!isConnected && !isDisconnected, "established");
            isConnected = true;
        }

        @Override
        public void onRejected(int reason, byte[] privateData) {
            check(!isDisconnected, "rejected");
            isOver = true;
        }

        @Override
        public void onUnreachable(Errno reason) {
            check(!isDisconnected, "unreachable");
            isOver = true;
        }

        @Override
        public void onDisconnected() {
            check(!isDisconnected, "disconnected");
            isDisconnected = true;
        }

        @Override
        public void onTimewaitExit() {
            check(isDisconnected, "time-wait over");
            isOver = true;
        }
    }

    /** What can be decoded says the same when it has been encoded again. */
    private static void decodeEncode(byte[] input) {
        ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
        mad.put(input, 0, Math.min(input.length, Mad.LENGTH)).rewind();
        mad.putInt(0, Mad.COMMUNICATION_MANAGEMENT_SEND);
        CmMessage.Received received = CmMessage.decode(mad);
        if (received == null) {
            return;
        }
        mad.clear();
        CmMessage.encode(received.transaction(), received.message(), mad);
        if (mad.hasRemaining() || !received.equals(CmMessage.decode(mad.flip()))) {
            throw new AssertionError("encoded again it differs: " + received);
        }
    }

    // ---------------------------------------------------------------- what the input says

    private int u8() {
        return choices.hasRemaining() ? choices.get() & 0xff : 0;
    }

    private int below(int bound) {
        return u8() % bound;
    }

    private int i32() {
        return u8() << 24 | u8() << 16 | u8() << 8 | u8();
    }

    private void run() throws RdmaException {
        for (int step = 0; step < MAX_STEPS && choices.hasRemaining(); step++) {
            step();
            long waiting = ears.stream().filter(ear -> ear.connection != null
                    && ear.connection.state() == IbCmConnection.State.REQUEST_RECEIVED).count();
            if (waiting > 2 * BACKLOG) {
                throw new AssertionError(waiting + " requests wait");
            }
        }
        close();
        nextConnectionSucceeds();
    }

    private void step() {
        switch (below(16)) {
            case 0, 1, 2, 3, 4, 5 -> receive(message());
            case 6 -> receiveBytes();
            case 7 -> connect();
            case 8 -> lookUp();
            case 9, 10, 11, 12 -> attempt(this::act);
            case 13 -> attempt(this::answerLookUp);
            case 14 -> elapse(CmSettings.nanos(below(26)));
            default -> takeMessages();
        }
    }

    private interface Action {
        void run() throws RdmaException;
    }

    private static void attempt(Action action) {
        try {
            action.run();
        } catch (RdmaException refused) {
            // It says so to the application, which is the input here.
        }
    }

    private void elapse(long durationNs) {
        long untilNs = nowNs + durationNs;
        for (int rounds = 0; manager.deadlineNs() <= untilNs; rounds++) {
            nowNs = Math.max(nowNs, manager.deadlineNs());
            manager.onDeadline(nowNs);
            takeMessages();
            if (rounds > MAX_ROUNDS) {
                throw new AssertionError("it wants to be called for ever");
            }
        }
        nowNs = untilNs;
    }

    /** What it sends is a message. */
    private void takeMessages() {
        ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
        while (manager.pollTransmit(mad) != null) {
            if (mad.hasRemaining() || CmMessage.decode(mad.flip()) == null) {
                throw new AssertionError("it sent what is no message");
            }
            mad.clear();
        }
    }

    // ---------------------------------------------------------------- the peer

    private CmPeer peer() {
        return new CmPeer(OWN, below(8) == 7 ? OTHER : PEER);
    }

    /** One of the identifiers in use here, or any. */
    private int ownId() {
        if (!lookups.isEmpty() && below(4) == 3) {
            return lookups.get(below(lookups.size())).requestId();
        }
        IbCmConnection connection = connection();
        return connection == null || below(8) == 7 ? below(3) : connection.localId();
    }

    private int peersId() {
        return below(16) == 15 ? i32() : 1 + below(4);
    }

    private int queuePair() {
        return below(16) == 15 ? i32() >>> 8 : 0x10 + below(4);
    }

    private @Nullable IbCmConnection connection() {
        return ears.isEmpty() ? null : ears.get(below(Math.min(256, ears.size()))).connection;
    }

    private CmMessage message() {
        PrivateData data = PrivateData.of(privateData());
        return switch (below(12)) {
            case 0, 1, 2 -> new Request(peersId(), serviceId(), 1, 0, queuePair(), u8(), u8(),
                    u8() & 31, below(3), below(2) == 0, u8(), u8() & 31, u8() & 7, 0xffff,
                    below(8), u8() & 7, u8() & 15, below(2) == 0,
                    new PathRecord(0xffff, 0xffff, PEER, OWN, 0, 0, u8(), 64, 0, u8()),
                    PathRecord.NONE, data);
            case 3, 4 -> new Reply(peersId(), ownId(), 0, queuePair(), u8(), u8(), u8(), u8() & 31,
                    0, false, u8() & 7, below(2) == 0, 1, data);
            case 5 -> new ReadyToUse(peersId(), ownId(), data);
            case 6 -> new Reject(below(2) == 0 ? 0 : peersId(), below(2) == 0 ? 0 : ownId(),
                    below(4), u8(), data, u8() & 0x7f, data);
            case 7 -> new MessageReceipt(peersId(), ownId(), below(4), u8() & 31, data);
            case 8 -> new DisconnectRequest(peersId(), ownId(),
                    below(4) == 3 ? queuePair() : 0x22, data);
            case 9 -> new DisconnectReply(peersId(), ownId(), data);
            case 10 -> new ServiceRequest(peersId(), 0xffff, serviceId(), data);
            default -> new ServiceReply(ownId(), below(4), data, u8(), queuePair(), serviceId(),
                    i32(), data);
        };
    }

    private long serviceId() {
        return ListenSpec.serviceId(below(2) == 0 ? PortSpace.TCP : PortSpace.UDP, PORT + below(3));
    }

    private byte[] privateData() {
        ByteBuffer data = ByteBuffer.allocate(72);
        if (below(8) == 7) {
            data.putInt(i32());
        } else {
            new IpHeader(false, u8(), PEER, OWN).encode(data);
        }
        return data.array();
    }

    private void receive(CmMessage message) {
        ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
        CmMessage.encode(below(4), message, mad);
        for (int flips = below(8) == 7 ? below(8) : 0; flips > 0; flips--) {
            mad.put(u8(), (byte) u8());
        }
        manager.onMad(mad.flip(), peer(), nowNs);
    }

    private void receiveBytes() {
        byte[] bytes = new byte[below(4) == 3 ? u8() : Mad.LENGTH];
        for (int i = below(64); i > 0 && bytes.length > 0; i--) {
            bytes[below(256) % bytes.length] = (byte) u8();
        }
        manager.onMad(ByteBuffer.wrap(bytes), peer(), nowNs);
    }

    // ---------------------------------------------------------------- the application

    private void connect() {
        if (ears.size() > MAX_STEPS) {
            return;
        }
        Ear ear = new Ear();
        ears.add(ear);
        ear.connection = manager.connect(new ConnectSpec(new CmPeer(OWN, PEER), PortSpace.TCP,
                CONNECTIONS.get(below(2)), 40000, PORT, parameters(), 0x22, Mtu.MTU_4096, 0, null),
                ear, nowNs);
    }

    private void lookUp() {
        boolean[] isAnswered = {false};
        lookups.add(manager.lookUp(new ConnectSpec(new CmPeer(OWN, PEER), PortSpace.UDP,
                QueuePairType.UD, 40000, PORT, parameters(), 0, Mtu.MTU_4096, 0, null),
                new DatagramLookup.Events() {
                    private void once() {
                        if (isAnswered[0]) {
                            throw new AssertionError("answered twice");
                        }
                        isAnswered[0] = true;
                    }

                    @Override
                    public void onService(int queuePair, int qkey, byte[] privateData) {
                        once();
                    }

                    @Override
                    public void onRefused(int status, byte[] privateData) {
                        once();
                    }

                    @Override
                    public void onUnreachable(Errno reason) {
                        once();
                    }
                }, nowNs));
    }

    private ConnectionParameters parameters() {
        return new ConnectionParameters().responderResources(u8()).initiatorDepth(u8())
                .privateData(new byte[below(57)]);
    }

    private void act() throws RdmaException {
        Ear ear = ears.isEmpty() ? null : ears.get(below(Math.min(256, ears.size())));
        IbCmConnection connection = ear == null ? null : ear.connection;
        if (ear == null || connection == null) {
            return;
        }
        switch (below(8)) {
            case 0, 1 -> connection.accept(parameters(), 0x22, nowNs);
            case 2 -> connection.establish();
            case 3 -> connection.reject(RejectReason.CONSUMER_DEFINED, new byte[below(149)]);
            case 4 -> connection.disconnect(nowNs);
            case 5 -> {
                connection.close(nowNs);
                ear.isOver = true;
            }
            case 6 -> connection.queuePairAttributes(
                    List.of(QueuePairState.values()).get(below(QueuePairState.values().length)),
                    parameters(), 1);
            default -> connection.communicationEstablished();
        }
    }

    private void answerLookUp() throws RdmaException {
        if (!lookedUp.isEmpty() && below(2) == 0) {
            DatagramRequest request = lookedUp.get(below(Math.min(256, lookedUp.size())));
            switch (below(3)) {
                case 0 -> request.accept(0x33, 1, new byte[below(137)], nowNs);
                case 1 -> request.reject(new byte[below(137)], nowNs);
                default -> request.close(nowNs);
            }
        } else if (!lookups.isEmpty()) {
            lookups.get(below(Math.min(256, lookups.size()))).close();
        }
    }

    // ---------------------------------------------------------------- the end

    private void close() {
        ears.forEach(ear -> ear.isOver = true);
        manager.closeAll(nowNs);
        connections.close(() -> {});
        unreliable.close(() -> {});
        int[] unneeded = {0};
        datagrams.close(() -> unneeded[0]++);
        takeMessages();
        elapse(CmSettings.nanos(40));
        if (manager.connectionCount() != 0 || manager.deadlineNs() != Long.MAX_VALUE) {
            throw new AssertionError(manager.connectionCount() + " are left");
        }
        if (unneeded[0] != 1) {
            throw new AssertionError("look-ups are left");
        }
    }

    private void nextConnectionSucceeds() throws RdmaException {
        Ear called = new Ear();
        Ear calling = new Ear();
        manager.listen(offer(PortSpace.TCP, QueuePairType.RC, PORT),
                (connection, sourcePort, parameters) -> {
                    called.connection = connection;
                    return called;
                });
        IbConnectionManager client = new IbConnectionManager(CmSettings.defaults(2),
                random::nextInt);
        calling.connection = client.connect(new ConnectSpec(new CmPeer(PEER, OWN), PortSpace.TCP,
                QueuePairType.RC, 40000, PORT, new ConnectionParameters(), 0x10, Mtu.MTU_4096, 0,
                null), calling, nowNs);
        carry(client, PEER, manager, OWN);
        IbCmConnection server = called.connection;
        if (server == null) {
            throw new AssertionError("the request was not heard");
        }
        server.accept(new ConnectionParameters(), 0x22, nowNs);
        carry(manager, OWN, client, PEER);
        calling.connection.establish();
        carry(client, PEER, manager, OWN);
        if (server.state() != IbCmConnection.State.ESTABLISHED) {
            throw new AssertionError("the next connection is " + server.state());
        }
    }

    private void carry(IbConnectionManager from, Gid fromAddress, IbConnectionManager to,
            Gid toAddress) {
        ByteBuffer mad = ByteBuffer.allocate(Mad.LENGTH);
        while (from.pollTransmit(mad) != null) {
            to.onMad(mad.flip(), new CmPeer(toAddress, fromAddress), nowNs);
            mad.clear();
        }
    }
}
