// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.function.Predicate;

import static org.assertj.core.api.Assertions.assertThat;

/** Two connection managers that talk over a wire which a test can cut, in virtual time. */
abstract class CmPair {
    static final Gid CLIENT = new Gid(0, 0xffff_0a00_0001L);
    static final Gid SERVER = new Gid(0, 0xffff_0a00_0002L);
    static final int PORT = 7471;
    static final long LIMIT_NS = 1_000_000_000_000L;

    final Random random = new Random(5);
    final Host client = new Host(CLIENT);
    final Host server = new Host(SERVER);
    final List<CmMessage> carried = new ArrayList<>();
    /** The traffic class of each of them. */
    final List<Integer> trafficClasses = new ArrayList<>();
    Predicate<CmMessage> isLost = message -> false;
    Predicate<CmMessage> isRepeated = message -> false;
    /** Messages that wait until another of the same direction has passed, or until time passes. */
    Predicate<CmMessage> isLate = message -> false;
    int nextQueuePair = 0x111111;
    long nowNs;

    /** One side: a manager, and what it reports. */
    final class Host
            implements
                IbCmConnection.Events,
                CmService.Handler,
                DatagramService.Handler,
                DatagramLookup.Events {
        final Gid address;
        Mtu largestMtu = Mtu.MTU_4096;
        final IbConnectionManager manager = new IbConnectionManager(CmSettings.defaults(1),
                random::nextInt, peer -> largestMtu);
        final List<String> events = new ArrayList<>();
        final Queue<byte[]> late = new ArrayDeque<>();
        @Nullable
        IbCmConnection connection;
        @Nullable
        DatagramRequest asked;
        byte[] heard = {};
        /** What it does when its peer is silent. */
        Runnable onSilence = () -> {};
        boolean acceptsAtOnce = true;
        ConnectionParameters own = new ConnectionParameters();

        Host(Gid address) {
            this.address = address;
        }

        IbCmConnection connection() {
            IbCmConnection present = connection;
            assertThat(present).isNotNull();
            return present;
        }

        void connect(ConnectionParameters parameters) {
            own = parameters;
            connection = manager.connect(call(parameters, nextQueuePair++), this, nowNs);
        }

        DatagramLookup lookUp(byte[] privateData) {
            return manager.lookUp(datagramCall(privateData), this, nowNs);
        }

        @Override
        public IbCmConnection.Events onRequest(IbCmConnection request, int sourcePort,
                ConnectionParameters parameters) {
            events.add("request from port " + sourcePort);
            heard = parameters.privateData();
            connection = request;
            return this;
        }

        @Override
        public void onRequest(DatagramRequest request, int sourcePort, byte[] privateData) {
            events.add("look-up from port " + sourcePort);
            heard = privateData;
            asked = request;
        }

        @Override
        public void onReply(ConnectionParameters parameters) {
            events.add("reply");
            heard = parameters.privateData();
            if (!acceptsAtOnce) {
                return;
            }
            try {
                connection().establish();
            } catch (RdmaException e) {
                throw new AssertionError(e);
            }
        }

        @Override
        public void onEstablished() {
            events.add("established");
        }

        @Override
        public void onService(int queuePair, int qkey, byte[] privateData) {
            events.add(String.format("service at 0x%x with 0x%08x", queuePair, qkey));
            heard = privateData;
        }

        @Override
        public void onRejected(int reason, byte[] privateData) {
            events.add("rejected " + reason);
            heard = privateData;
        }

        @Override
        public void onRefused(int status, byte[] privateData) {
            events.add("refused " + status);
            heard = privateData;
        }

        @Override
        public void onSilence() {
            onSilence.run();
        }

        @Override
        public void onUnreachable(Errno reason) {
            events.add("unreachable " + reason);
        }

        @Override
        public void onDisconnected() {
            events.add("disconnected");
        }

        @Override
        public void onTimewaitExit() {
            events.add("time-wait over");
        }

        void act() throws RdmaException {
            if (!acceptsAtOnce) {
                return;
            }
            if (connection != null
                    && connection.state() == IbCmConnection.State.REQUEST_RECEIVED) {
                connection.accept(own, 0x222222, nowNs);
            }
            if (asked != null) {
                asked.accept(0x333333, 0x0123_4567, own.privateData(), nowNs);
                asked = null;
            }
        }

        /** A message arrives from an address. {@return the message that answers it, if any} */
        @Nullable
        CmMessage receive(Gid from, long transaction, CmMessage message) {
            ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
            CmMessage.encode(transaction, message, mad);
            manager.onMad(mad.flip(), new CmPeer(address, from), nowNs);
            return next();
        }

        /** {@return the next message to send, which goes no further, or null} */
        @Nullable
        CmMessage next() {
            ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
            if (manager.pollTransmit(mad) == null) {
                return null;
            }
            CmMessage.Received received = CmMessage.decode(mad.flip());
            assertThat(received).isNotNull();
            return received.message();
        }
    }

    /** Does not care what comes of a look-up. */
    static final class Silence implements DatagramLookup.Events {
        @Override
        public void onService(int queuePair, int qkey, byte[] privateData) {}

        @Override
        public void onRefused(int status, byte[] privateData) {}

        @Override
        public void onUnreachable(Errno reason) {}
    }

    static ConnectSpec call(ConnectionParameters parameters, int queuePair) {
        return new ConnectSpec(new CmPeer(CLIENT, SERVER), PortSpace.TCP, QueuePairType.RC, 40000,
                PORT,
                parameters, queuePair, Mtu.MTU_4096, 0, null);
    }

    static ConnectSpec datagramCall(byte[] privateData) {
        return new ConnectSpec(new CmPeer(CLIENT, SERVER), PortSpace.UDP, QueuePairType.UD, 40000,
                PORT,
                new ConnectionParameters().privateData(privateData), 0, Mtu.MTU_4096, 0, null);
    }

    static ListenSpec offer(@Nullable Gid address, int backlog) {
        return new ListenSpec(PortSpace.TCP, QueuePairType.RC, PORT, address, IpVersions.BOTH,
                backlog);
    }

    static ListenSpec datagramOffer(int backlog) {
        return new ListenSpec(PortSpace.UDP, QueuePairType.UD, PORT, null, IpVersions.BOTH,
                backlog);
    }

    CmService listen(int backlog) throws RdmaException {
        return server.manager.listen(offer(null, backlog), server);
    }

    DatagramService listenForLookups(int backlog) throws RdmaException {
        return server.manager.listenForLookups(datagramOffer(backlog), server);
    }

    /** {@return a client's request as it would travel, for tests that change it} */
    CmMessage.Request request(int queuePair) {
        IbConnectionManager manager = new IbConnectionManager(CmSettings.defaults(1),
                random::nextInt);
        manager.connect(call(new ConnectionParameters(), queuePair), client, nowNs);
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        manager.pollTransmit(mad);
        CmMessage.Received received = CmMessage.decode(mad.flip());
        assertThat(received).isNotNull();
        return (CmMessage.Request) received.message();
    }

    /** Carries messages and lets time pass until nothing happens any more. */
    void settle() throws RdmaException {
        run(LIMIT_NS);
    }

    void run(long durationNs) throws RdmaException {
        long limitNs = nowNs + durationNs;
        while (true) {
            server.act();
            boolean toServer = carry(client, server);
            if (carry(server, client) || toServer) {
                continue;
            }
            if (deliverLate(client, server) || deliverLate(server, client)) {
                continue;
            }
            long next = Math.min(client.manager.deadlineNs(), server.manager.deadlineNs());
            if (next > limitNs) {
                nowNs = Math.max(nowNs, limitNs);
                return;
            }
            nowNs = next;
            client.manager.onDeadline(nowNs);
            server.manager.onDeadline(nowNs);
        }
    }

    private boolean carry(Host from, Host to) {
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmPeer peer = from.manager.pollTransmit(mad);
        if (peer == null) {
            return false;
        }
        assertThat(peer).isEqualTo(new CmPeer(from.address, to.address));
        CmMessage.Received received = CmMessage.decode(mad.flip().duplicate());
        assertThat(received).isNotNull();
        CmMessage message = received.message();
        carried.add(message);
        trafficClasses.add(from.manager.trafficClass());
        if (isLost.test(message)) {
            return true;
        }
        if (isLate.test(message)) {
            to.late.add(mad.array());
            return true;
        }
        deliver(mad.array(), from, to);
        if (isRepeated.test(message)) {
            deliver(mad.array(), from, to);
        }
        deliverLate(from, to);
        return true;
    }

    private void deliver(byte[] mad, Host from, Host to) {
        to.manager.onMad(ByteBuffer.wrap(mad), new CmPeer(to.address, from.address), nowNs);
    }

    private boolean deliverLate(Host from, Host to) {
        byte[] mad = to.late.poll();
        if (mad == null) {
            return false;
        }
        deliver(mad, from, to);
        return true;
    }

    long count(Class<? extends CmMessage> type) {
        return carried.stream().filter(type::isInstance).count();
    }

    static Predicate<CmMessage> first(String type, int times) {
        int[] left = {times};
        return message -> message.getClass().getSimpleName().equals(type) && left[0]-- > 0;
    }
}
