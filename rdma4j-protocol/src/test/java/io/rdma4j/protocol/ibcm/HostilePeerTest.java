// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.protocol.ibcm.CmMessage.AlternatePathResponse;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectReply;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectRequest;
import io.rdma4j.protocol.ibcm.CmMessage.LoadAlternatePath;
import io.rdma4j.protocol.ibcm.CmMessage.MessageReceipt;
import io.rdma4j.protocol.ibcm.CmMessage.ReadyToUse;
import io.rdma4j.protocol.ibcm.CmMessage.Reject;
import io.rdma4j.protocol.ibcm.CmMessage.Reply;
import io.rdma4j.protocol.ibcm.CmMessage.Request;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceReply;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceRequest;
import io.rdma4j.spi.InfinibandTransitions;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Peers that send nonsense: they get an answer, and other connections are not affected. */
class HostilePeerTest extends CmPair {
    private static final Gid STRANGER = new Gid(0, 0xffff_0a00_0009L);

    /** A request with some fields as a test wants them. */
    private Request changed(int senderId, int queuePair, long serviceId, int transportType, int mtu,
            int resources, int depth, PrivateData data) {
        Request usual = request(queuePair);
        return new Request(senderId, serviceId, usual.nodeGuid(), usual.qkey(), queuePair,
                resources, depth, usual.remoteResponseTimeout(), transportType,
                usual.flowControl(), usual.startingPsn(), usual.localResponseTimeout(),
                usual.retryCount(), usual.pkey(), mtu, usual.rnrRetryCount(), usual.maxRetries(),
                usual.sharedReceiveQueue(), usual.primary(), usual.alternate(), data);
    }

    private Request changed(int senderId, int queuePair) {
        Request usual = request(queuePair);
        return changed(senderId, queuePair, usual.serviceId(), 0, 5, 1, 1, usual.privateData());
    }

    private static void assertRejected(@Nullable CmMessage answer, RejectReason reason) {
        assertThat(answer).isInstanceOfSatisfying(Reject.class, reject -> {
            assertThat(reject.reason()).isEqualTo(reason.code());
            assertThat(reject.rejected()).isEqualTo(Reject.OF_REQUEST);
        });
    }

    // ---------------------------------------------------------------- requests

    @Test
    void unknownServicesAreRejected() throws Exception {
        listen(10);
        Request usual = request(5);
        for (long service : new long[]{0, -1, usual.serviceId() + 1,
            ListenSpec.serviceId(PortSpace.UDP, PORT), ListenSpec.serviceId(PortSpace.IB, PORT),
            usual.serviceId() | 1L << 63}) {
            assertRejected(
                    server.receive(CLIENT, 1,
                            changed(9, 5, service, 0, 5, 1, 1, usual.privateData())),
                    RejectReason.INVALID_SERVICE_ID);
        }
        assertThat(server.manager.connectionCount()).isZero();
    }

    @Test
    void otherTransportsThanTheListenersAreRejected() throws Exception {
        listen(10);
        Request usual = request(5);
        for (int transport = 1; transport <= 3; transport++) {
            assertRejected(
                    server.receive(CLIENT, 1,
                            changed(9, 5, usual.serviceId(), transport, 5, 1, 1,
                                    usual.privateData())),
                    RejectReason.INVALID_TRANSPORT_TYPE);
        }
    }

    @Test
    void unreliableConnectionsGetAttributesOfTheirOwn() throws Exception {
        server.manager.listen(new ListenSpec(PortSpace.IB, QueuePairType.UC, PORT, null,
                IpVersions.BOTH, 1), server);
        server.acceptsAtOnce = false;
        server.receive(CLIENT, 1,
                changed(9, 5, ListenSpec.serviceId(PortSpace.IB, PORT), 1, 5, 1, 1,
                        request(5).privateData()));
        IbCmConnection connection = server.connection();
        for (QueuePairState state : new QueuePairState[]{QueuePairState.INIT, QueuePairState.RTR,
            QueuePairState.RTS}) {
            QueuePairAttributes attributes = connection.queuePairAttributes(state, server.own, 0);
            InfinibandTransitions.INSTANCE.check(QueuePairType.UC,
                    state == QueuePairState.INIT
                            ? QueuePairState.RESET
                            : state == QueuePairState.RTR
                                    ? QueuePairState.INIT
                                    : QueuePairState.RTR,
                    attributes);
        }
    }

    /** Coming again later would not help. */
    @Test
    void addressHeaderOfAnotherVersionIsRejectedAsThatAlsoWithoutRoom() throws Exception {
        listen(1);
        server.acceptsAtOnce = false;
        Request usual = changed(1, 1001);
        assertThat(server.receive(CLIENT, 1, usual)).isNull();
        byte[] data = usual.privateData().bytes();
        data[0] = 1;
        assertRejected(server.receive(CLIENT, 1, changed(2, 1002, usual.serviceId(), 0, 5, 1, 1,
                PrivateData.of(data))), RejectReason.UNSUPPORTED);
        assertRejected(server.receive(CLIENT, 1, changed(2, 1002)), RejectReason.NO_RESOURCES);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 6, 7, 15})
    void pathMtusThatDoNotExistAreRejected(int mtu) throws Exception {
        listen(10);
        Request usual = request(5);
        assertRejected(server.receive(CLIENT, 1,
                changed(9, 5, usual.serviceId(), 0, mtu, 1, 1, usual.privateData())),
                RejectReason.INVALID_MTU);
    }

    @Test
    void pathMtuLargerThanTheNetworkCarriesIsRejectedWithTheOneThatWouldDo() throws Exception {
        listen(10);
        server.acceptsAtOnce = false;
        server.largestMtu = Mtu.MTU_1024;
        Request usual = request(5);
        CmMessage answer = server.receive(CLIENT, 1,
                changed(9, 5, usual.serviceId(), 0, 4, 1, 1, usual.privateData()));
        assertRejected(answer, RejectReason.INVALID_MTU);
        assertThat(answer).isInstanceOfSatisfying(Reject.class, reject -> {
            assertThat(reject.informationLength()).isEqualTo(1);
            assertThat(reject.information().bytes()[0]).isEqualTo((byte) 0x30);
        });
        assertThat(server.receive(CLIENT, 1,
                changed(9, 5, usual.serviceId(), 0, 3, 1, 1, usual.privateData()))).isNull();
    }

    @Test
    void whoGivesUpSaysOfWhichNodeItIs() throws Exception {
        isLost = message -> message instanceof Request;
        listen(1);
        client.connect(new ConnectionParameters());
        settle();
        assertThat(carried.getLast()).isInstanceOfSatisfying(Reject.class, reject -> {
            assertThat(reject.reason()).isEqualTo(RejectReason.TIMEOUT.code());
            assertThat(reject.informationLength()).isEqualTo(8);
            assertThat(reject.information().bytes()).startsWith(0, 0, 0, 0, 0, 0, 0, 1);
        });
    }

    @Test
    void requestOfAConnectionInTimeWaitIsRejectedAsARequest() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        Request original = (Request) carried.getFirst();
        client.connection().disconnect(nowNs);
        run(1);
        assertThat(server.connection().state()).isEqualTo(IbCmConnection.State.TIME_WAIT);
        assertRejected(server.receive(CLIENT, 1, original), RejectReason.STALE_CONNECTION);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 254, 255})
    void zeroAndAbsurdResourcesAreCutToWhatTheDeviceHas(int resources) throws Exception {
        listen(10);
        server.acceptsAtOnce = false;
        Request usual = request(5);
        server.receive(CLIENT, 1,
                changed(9, 5, usual.serviceId(), 0, 5, resources, resources, usual.privateData()));
        IbCmConnection connection = server.connection();
        int expected = Math.min(resources, CmSettings.defaults(1).maxReadAtomic());
        assertThat(connection.queuePairAttributes(QueuePairState.RTR, server.own, 0)
                .maxDestinationReadAtomic()).isEqualTo(expected);
        assertThat(connection.queuePairAttributes(QueuePairState.RTS, server.own, 0)
                .maxReadAtomic()).isEqualTo(expected);
        assertThat(connection.queuePairAttributes(QueuePairState.INIT, server.own, 0)
                .accessFlags().contains(AccessFlag.REMOTE_READ)).isEqualTo(resources > 0);
        connection.accept(server.own, 3, nowNs);
        assertThat(server.next()).isInstanceOfSatisfying(Reply.class, reply -> {
            assertThat(reply.responderResources()).isEqualTo(expected);
            assertThat(reply.initiatorDepth()).isEqualTo(expected);
        });
    }

    @Test
    void addressHeadersOfOtherVersionsAreRejected() throws Exception {
        listen(10);
        Request usual = request(5);
        for (int[] version : new int[][]{{1, 0x40}, {0, 0x50}, {0, 0}, {255, 255}}) {
            byte[] data = usual.privateData().bytes();
            data[0] = (byte) version[0];
            data[1] = (byte) version[1];
            assertRejected(server.receive(CLIENT, 1, changed(9, 5, usual.serviceId(), 0, 5, 1, 1,
                    PrivateData.of(data))), RejectReason.UNSUPPORTED);
        }
        assertThat(server.events).isEmpty();
    }

    @Test
    void datagramsOfOtherVersionsOrLengthsAreNoMessages() throws Exception {
        listen(10);
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(1, request(5), mad);
        CmPeer peer = new CmPeer(SERVER, CLIENT);
        for (int position = 0; position < 4; position++) {
            byte[] bytes = mad.array().clone();
            bytes[position] ^= 0x10;
            assertThat(server.manager.onMad(ByteBuffer.wrap(bytes), peer, nowNs)).isFalse();
        }
        for (int length = 0; length < IbConnectionManager.MESSAGE_LENGTH; length++) {
            assertThat(server.manager.onMad(ByteBuffer.wrap(mad.array(), 0, length), peer, nowNs))
                    .isFalse();
        }
        assertThat(server.events).isEmpty();
        assertThat(server.next()).isNull();
    }

    @ParameterizedTest
    @EnumSource(RejectReason.class)
    void everyReasonArrivesAsItIs(RejectReason reason) throws Exception {
        isLost = message -> true;
        client.connect(new ConnectionParameters());
        run(1);
        Request sent = (Request) carried.getFirst();
        client.receive(SERVER, 1, new Reject(0, sent.senderId(), Reject.OF_REQUEST, reason.code(),
                PrivateData.NONE, 0, PrivateData.of(new byte[]{1})));
        assertThat(client.events).containsExactly("rejected " + reason.code());
        assertThat(client.heard).hasSize(148).startsWith(1);
    }

    // ---------------------------------------------------------------- floods

    @Test
    void floodOfRequestsIsBoundedAndHarmsNoConnection() throws Exception {
        listen(100);
        client.connect(new ConnectionParameters());
        run(1);
        IbCmConnection standing = server.connection();
        server.acceptsAtOnce = false;
        int rejected = 0;
        for (int i = 1; i <= 10_000; i++) {
            if (server.receive(STRANGER, i, changed(i, 1000 + i)) instanceof Reject) {
                rejected++;
            }
        }
        assertThat(server.manager.connectionCount()).isEqualTo(101);
        assertThat(rejected).isEqualTo(9900);
        assertThat(standing.state()).isEqualTo(IbCmConnection.State.ESTABLISHED);
        standing.disconnect(nowNs);
        settle();
        assertThat(client.events).containsExactly("reply", "disconnected", "time-wait over");
    }

    @Test
    void withdrawnRequestsKeepTheirPlaceUntilTheApplicationLetsGo() throws Exception {
        listen(1);
        server.acceptsAtOnce = false;
        for (int i = 1; i <= 1000; i++) {
            server.receive(STRANGER, i, changed(i, 1000 + i));
            server.receive(STRANGER, i, new Reject(i, 0, Reject.OF_NONE,
                    RejectReason.TIMEOUT.code(), PrivateData.NONE, 0, PrivateData.NONE));
        }
        assertThat(server.events).containsExactly("request from port 40000", "rejected 4");
        server.connection().close(nowNs);
        server.connection().close(nowNs);
        assertThat(server.receive(STRANGER, 1, changed(2001, 3001))).isNull();
        assertRejected(server.receive(STRANGER, 1, changed(2002, 3002)),
                RejectReason.NO_RESOURCES);
    }

    @Test
    void withdrawalIsOfAConnectionAsLongAsItsRequestWaits() throws Exception {
        listen(1);
        server.acceptsAtOnce = false;
        Reject withdrawal = new Reject(9, 0, Reject.OF_NONE, RejectReason.TIMEOUT.code(),
                PrivateData.NONE, 0, PrivateData.NONE);
        assertThat(isOfServer(withdrawal, CLIENT)).isFalse();
        server.receive(CLIENT, 1, changed(9, 5));
        assertThat(isOfServer(withdrawal, STRANGER)).isFalse();
        assertThat(isOfServer(withdrawal, CLIENT)).isTrue();
        assertThat(isOfServer(withdrawal, CLIENT)).isFalse();
        assertThat(server.events).containsExactly("request from port 40000", "rejected 4");
    }

    @Test
    void answersNobodyFetchesAreBounded() throws Exception {
        Request usual = request(5);
        CmPeer peer = new CmPeer(SERVER, STRANGER);
        for (int i = 1; i <= 10_000; i++) {
            ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
            CmMessage.encode(i, changed(i, 1000 + i, usual.serviceId(), 0, 5, 1, 1,
                    usual.privateData()), mad);
            server.manager.onMad(mad.flip(), peer, nowNs);
        }
        int answers = 0;
        while (server.next() != null) {
            answers++;
        }
        assertThat(answers).isEqualTo(4096);
    }

    @Test
    void requestsOfAStrangerWithAConnectedPeersNumbersAreOfTheirOwn() throws Exception {
        listen(10);
        client.connect(new ConnectionParameters());
        run(1);
        IbCmConnection standing = server.connection();
        Request original = (Request) carried.getFirst();
        server.acceptsAtOnce = false;
        server.receive(STRANGER, 1, changed(original.senderId(), original.queuePair()));
        assertThat(standing.state()).isEqualTo(IbCmConnection.State.ESTABLISHED);
        assertThat(server.manager.connectionCount()).isEqualTo(2);
    }

    // ---------------------------------------------------------------- other people's connections

    @Test
    void nothingAStrangerSaysTouchesAConnection() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        IbCmConnection standing = server.connection();
        int own = standing.localId();
        int peers = client.connection().localId();
        for (CmMessage message : new CmMessage[]{
            new DisconnectRequest(peers, own, 0x222222, PrivateData.NONE),
            new DisconnectReply(peers, own, PrivateData.NONE),
            new Reject(peers, own, Reject.OF_NONE, 4, PrivateData.NONE, 0, PrivateData.NONE),
            new Reject(peers, 0, Reject.OF_NONE, 4, PrivateData.NONE, 0, PrivateData.NONE),
            new MessageReceipt(peers, own, MessageReceipt.OF_REPLY, 31, PrivateData.NONE),
            new ReadyToUse(peers, own, PrivateData.NONE)}) {
            server.receive(STRANGER, 1, message);
            assertThat(standing.state()).as(message.toString())
                    .isEqualTo(IbCmConnection.State.ESTABLISHED);
        }
        assertThat(server.events).doesNotContain("disconnected");
    }

    @Test
    void disconnectRequestForAnotherQueuePairIsIgnored() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        CmMessage answer = server.receive(CLIENT, 1,
                new DisconnectRequest(client.connection().localId(),
                        server.connection().localId(), 0x222223, PrivateData.NONE));
        assertThat(answer).isNull();
        assertThat(server.connection().state()).isEqualTo(IbCmConnection.State.ESTABLISHED);
    }

    @Test
    void disconnectRequestWithAnotherPeersIdentifierIsIgnored() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        CmMessage answer = server.receive(CLIENT, 1,
                new DisconnectRequest(client.connection().localId() + 1,
                        server.connection().localId(), 0x222222, PrivateData.NONE));
        assertThat(answer).isNull();
        assertThat(server.connection().state()).isEqualTo(IbCmConnection.State.ESTABLISHED);
    }

    @Test
    void replyForADeadIdIsRejected() throws Exception {
        CmMessage answer = client.receive(SERVER, 1, new Reply(3, 12345, 0, 4, 5, 1, 1, 0, 0, true,
                7, false, 1, PrivateData.NONE));
        assertThat(answer).isInstanceOfSatisfying(Reject.class, reject -> {
            assertThat(reject.reason()).isEqualTo(RejectReason.INVALID_COMMUNICATION_ID.code());
            assertThat(reject.rejected()).isEqualTo(Reject.OF_REPLY);
        });
    }

    @Test
    void replyToSomebodyWhoDidNotAskIsRejected() throws Exception {
        listen(1);
        server.acceptsAtOnce = false;
        client.connect(new ConnectionParameters());
        run(1);
        // The listener's own identifier: it never asked.
        CmMessage answer = server.receive(CLIENT, 1,
                new Reply(client.connection().localId(), server.connection().localId(), 0, 4, 5,
                        1, 1, 0, 0, true, 7, false, 1, PrivateData.NONE));
        assertThat(answer).isInstanceOf(Reject.class);
        assertThat(server.connection().state()).isEqualTo(IbCmConnection.State.REQUEST_RECEIVED);
    }

    @Test
    void patienceAskedForTheWrongMessageIsNotGranted() throws Exception {
        isLost = message -> true;
        client.connect(new ConnectionParameters());
        run(1);
        long deadlineNs = client.manager.deadlineNs();
        Request sent = (Request) carried.getFirst();
        client.receive(SERVER, 1, new MessageReceipt(1, sent.senderId(), MessageReceipt.OF_REPLY,
                31, PrivateData.NONE));
        client.receive(SERVER, 1, new MessageReceipt(1, sent.senderId(), 2, 31, PrivateData.NONE));
        assertThat(client.manager.deadlineNs()).isEqualTo(deadlineNs);
        client.receive(SERVER, 1, new MessageReceipt(1, sent.senderId(), MessageReceipt.OF_REQUEST,
                20, PrivateData.NONE));
        assertThat(client.manager.deadlineNs()).isGreaterThan(deadlineNs);
    }

    // ---------------------------------------------------------------- wrong, zero and reused identifiers

    @Test
    void rejectionWithAnotherIdentifierThanThePeersEndsNothing() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        for (Host host : new Host[]{server, client}) {
            Host other = host == server ? client : server;
            int own = host.connection().localId();
            int peers = other.connection().localId();
            for (Reject reject : new Reject[]{rejection(0, own), rejection(peers + 1, own),
                rejection(own, own), rejection(peers, 0), rejection(0, 0),
                rejection(peers, own + 1)}) {
                host.receive(other.address, 1, reject);
                assertThat(host.connection().state()).as(reject.toString())
                        .isEqualTo(IbCmConnection.State.ESTABLISHED);
            }
            host.receive(other.address, 1, rejection(peers, own));
            assertThat(host.connection().state()).isEqualTo(IbCmConnection.State.TIME_WAIT);
        }
    }

    private static Reject rejection(int senderId, int receiverId) {
        return new Reject(senderId, receiverId, Reject.OF_NONE, RejectReason.TIMEOUT.code(),
                PrivateData.NONE, 0, PrivateData.NONE);
    }

    @Test
    void patienceForAReplyIsGrantedToThePeerOfTheConnectionAlone() throws Exception {
        listen(1);
        isLost = message -> message instanceof ReadyToUse;
        client.connect(new ConnectionParameters());
        run(1);
        int own = server.connection().localId();
        int peers = client.connection().localId();
        long deadlineNs = server.manager.deadlineNs();
        server.receive(CLIENT, 1, patience(peers + 1, own, 31));
        server.receive(CLIENT, 1, patience(0, own, 31));
        server.receive(STRANGER, 1, patience(peers, own, 31));
        assertThat(server.manager.deadlineNs()).isEqualTo(deadlineNs);
        server.receive(CLIENT, 1, patience(peers, own, 31));
        assertThat(server.manager.deadlineNs() - nowNs).isEqualTo((4096L << 31) + (4096L << 18));
    }

    private static MessageReceipt patience(int senderId, int receiverId, int serviceTimeout) {
        return new MessageReceipt(senderId, receiverId, MessageReceipt.OF_REPLY, serviceTimeout,
                PrivateData.NONE);
    }

    @Test
    void readyToUseWithAnotherIdentifierEstablishesNothing() throws Exception {
        listen(1);
        isLost = message -> message instanceof ReadyToUse;
        client.connect(new ConnectionParameters());
        run(1);
        int own = server.connection().localId();
        int peers = client.connection().localId();
        server.receive(CLIENT, 1, new ReadyToUse(peers + 1, own, PrivateData.NONE));
        server.receive(CLIENT, 1, new ReadyToUse(peers, own + 1, PrivateData.NONE));
        server.receive(STRANGER, 1, new ReadyToUse(peers, own, PrivateData.NONE));
        assertThat(server.events).doesNotContain("established");
        server.receive(CLIENT, 1, new ReadyToUse(peers, own, PrivateData.NONE));
        assertThat(server.events).contains("established");
    }

    @Test
    void secondReplyOfSomebodyElseIsNotAnswered() throws Exception {
        client.acceptsAtOnce = false;
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        int own = client.connection().localId();
        int peers = server.connection().localId();
        assertThat(client.receive(SERVER, 1, reply(peers + 1, own, 9))).isNull();
        assertThat(client.receive(SERVER, 1, reply(peers, own, 9)))
                .isInstanceOf(MessageReceipt.class);
        client.connection().establish();
        client.next();
        assertThat(client.receive(SERVER, 1, reply(peers + 1, own, 9))).isNull();
        assertThat(client.connection().remoteQueuePair()).isEqualTo(0x222222);
        assertThat(client.events).containsExactly("reply");
    }

    private static Reply reply(int senderId, int receiverId, int queuePair) {
        return new Reply(senderId, receiverId, 0, queuePair, 5, 1, 1, 0, 0, true, 7, false, 1,
                PrivateData.NONE);
    }

    @Test
    void replyWithAQueuePairThatIsConnectedAlreadyEndsTheOldAndRejectsTheNew() throws Exception {
        listen(5);
        client.connect(new ConnectionParameters());
        run(1);
        IbCmConnection old = client.connection();
        // The listener's machine died without a word; its successor has the same queue pair again.
        client.connect(new ConnectionParameters());
        Request request = (Request) client.next();
        assertThat(request).isNotNull();
        CmMessage answer = client.receive(SERVER, 1, reply(4711, request.senderId(), 0x222222));
        assertThat(answer).isInstanceOfSatisfying(Reject.class, reject -> {
            assertThat(reject.reason()).isEqualTo(RejectReason.STALE_CONNECTION.code());
            assertThat(reject.rejected()).isEqualTo(Reject.OF_REPLY);
            assertThat(reject.receiverId()).isEqualTo(4711);
        });
        assertThat(old.state()).isEqualTo(IbCmConnection.State.TIME_WAIT);
        assertThat(client.connection().state()).isEqualTo(IbCmConnection.State.CLOSED);
        assertThat(client.manager.connectionCount()).isOne();
        assertThat(client.events).containsExactly("reply", "disconnected", "rejected 10");
        // The next attempt finds nothing in its way.
        client.connect(new ConnectionParameters());
        Request next = (Request) client.next();
        assertThat(next).isNotNull();
        assertThat(client.receive(SERVER, 1, reply(4712, next.senderId(), 0x222222)))
                .isInstanceOf(ReadyToUse.class);
    }

    /** A peer that asks again with a queue pair has forgotten what it had: only what stood ends by that. */
    @ParameterizedTest
    @CsvSource({"REQUEST_RECEIVED, REQUEST_RECEIVED", "REPLY_SENT, TIME_WAIT",
        "ESTABLISHED, TIME_WAIT", "DISCONNECT_SENT, TIME_WAIT", "TIME_WAIT, TIME_WAIT"})
    void requestWithAQueuePairThatIsKnownIsRejectedAndEndsWhatStood(IbCmConnection.State state,
            IbCmConnection.State after) throws Exception {
        listen(5);
        server.acceptsAtOnce = false;
        server.receive(CLIENT, 1, changed(9, 5));
        IbCmConnection old = server.connection();
        bringOn(old, state);
        int before = server.events.size();
        assertRejected(server.receive(CLIENT, 1, changed(10, 5)), RejectReason.STALE_CONNECTION);
        assertThat(old.state()).isEqualTo(after);
        assertThat(server.events.subList(before, server.events.size())).isEqualTo(
                state == after ? List.of() : List.of("disconnected"));
        assertThat(server.manager.connectionCount()).isOne();
    }

    /** Leads a connection of the server from its request to a state. */
    private void bringOn(IbCmConnection connection, IbCmConnection.State state) throws Exception {
        int own = connection.localId();
        if (state != IbCmConnection.State.REQUEST_RECEIVED) {
            connection.accept(server.own, 3, nowNs);
            server.next();
        }
        if (state != IbCmConnection.State.REQUEST_RECEIVED
                && state != IbCmConnection.State.REPLY_SENT) {
            server.receive(CLIENT, 1, new ReadyToUse(9, own, PrivateData.NONE));
        }
        if (state == IbCmConnection.State.DISCONNECT_SENT) {
            connection.disconnect(nowNs);
            server.next();
        }
        if (state == IbCmConnection.State.TIME_WAIT) {
            server.receive(CLIENT, 1, new DisconnectRequest(9, own, 3, PrivateData.NONE));
        }
        assertThat(connection.state()).isEqualTo(state);
    }

    /** Only requests are recognized by the identifiers of their senders. */
    @Test
    void identifierThatThePeerHasAcceptedWithMakesARequestNoCopy() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        IbCmConnection standing = client.connection();
        client.manager.listen(offer(null, 1), client);
        client.receive(SERVER, 1, changed(standing.remoteId(), 7));
        assertThat(client.events).containsExactly("reply", "request from port 40000");
        assertThat(client.connection()).isNotSameAs(standing);
        assertThat(standing.state()).isEqualTo(IbCmConnection.State.ESTABLISHED);
    }

    @Test
    void identifierZeroIsAnIdentifierLikeAnyOther() throws Exception {
        listen(10);
        server.acceptsAtOnce = false;
        assertThat(server.receive(CLIENT, 1, changed(0, 7))).isNull();
        server.connection().accept(server.own, 3, nowNs);
        assertThat(server.next()).isInstanceOfSatisfying(Reply.class,
                reply -> assertThat(reply.receiverId()).isZero());
        int own = server.connection().localId();
        assertThat(own).isNotZero();
        server.receive(CLIENT, 1, new ReadyToUse(0, own, PrivateData.NONE));
        assertThat(server.events).endsWith("established");
        assertThat(server.receive(CLIENT, 1, new DisconnectRequest(0, own, 3, PrivateData.NONE)))
                .isInstanceOf(DisconnectReply.class);
        assertThat(server.events).endsWith("disconnected");
    }

    @Test
    void identifierUsedAgainWhileItsConnectionStandsMakesNoSecondOne() throws Exception {
        listen(10);
        client.connect(new ConnectionParameters());
        run(1);
        IbCmConnection standing = server.connection();
        int identifier = client.connection().localId();
        for (int queuePair : new int[]{0x111111, 0x111112, 0, 1, 0xffffff}) {
            assertThat(server.receive(CLIENT, 1, changed(identifier, queuePair))).isNull();
        }
        assertThat(standing.state()).isEqualTo(IbCmConnection.State.ESTABLISHED);
        assertThat(server.manager.connectionCount()).isEqualTo(1);
        assertThat(server.events).hasSize(2);
    }

    // ---------------------------------------------------------------- absurd numbers

    @Test
    void peersTimeoutsAndRetriesAreTakenWithinBounds() throws Exception {
        listen(10);
        server.acceptsAtOnce = false;
        Request usual = request(5);
        for (int extreme : new int[]{0, 31}) {
            int senderId = 100 + extreme;
            PathRecord path = new PathRecord(0, 0, usual.primary().local(),
                    usual.primary().remote(), 0xfffff, 0xfff, 0, 0, 0xff, extreme << 3 | 7);
            server.receive(CLIENT, 1, new Request(senderId, usual.serviceId(), -1, -1,
                    senderId, 1, 1, extreme, 0, true, 0xffffff, extreme, extreme & 7, 0, 1,
                    extreme & 7, extreme & 15, true, path, path, usual.privateData()));
            IbCmConnection connection = server.connection();
            QueuePairAttributes attributes = connection.queuePairAttributes(QueuePairState.RTS,
                    server.own, 0);
            // Never less than ours, and seconds at most.
            assertThat(attributes.ackTimeoutExponent())
                    .isEqualTo(extreme == 0 ? CmSettings.defaults(1).ackTimeout() : 20);
            assertThat(attributes.retryCount()).isEqualTo(extreme & 7);
            assertThat(attributes.rnrRetry()).isEqualTo(extreme & 7);
            assertThat(attributes.sendPsn()).isEqualTo(0xffffff);
            InfinibandTransitions.INSTANCE.check(QueuePairType.RC, QueuePairState.RTR, attributes);
            connection.accept(server.own, senderId, nowNs);
            assertThat(server.next()).isInstanceOf(Reply.class);
            assertThat(connection.deadlineNs() - nowNs).isEqualTo(4096L << 18);
        }
        isLost = message -> true;
        settle();
        assertThat(server.events).endsWith("unreachable ETIMEDOUT", "unreachable ETIMEDOUT");
        assertThat(server.manager.connectionCount()).isZero();
    }

    @Test
    void whatTheDeviceHasOfReadsIsWhatAnAbsurdReplyGrants() throws Exception {
        client.connect(new ConnectionParameters().responderResources(3).initiatorDepth(4));
        Request sent = (Request) client.next();
        assertThat(sent).isNotNull();
        client.receive(SERVER, 1, new Reply(9, sent.senderId(), -1, 0xffffff, 0xffffff, 255, 255,
                31, 3, false, 7, true, -1, PrivateData.NONE));
        assertThat(client.connection().queuePairAttributes(QueuePairState.RTS, client.own, 0)
                .maxReadAtomic()).isEqualTo(4);
        assertThat(client.connection().queuePairAttributes(QueuePairState.RTR, client.own, 0)
                .maxDestinationReadAtomic()).isEqualTo(3);
    }

    @Test
    void patienceOfThirtyOneIsTwoHoursAndAHalfAndNotForEver() throws Exception {
        client.connect(new ConnectionParameters());
        Request sent = (Request) client.next();
        assertThat(sent).isNotNull();
        client.receive(SERVER, 1, new MessageReceipt(9, sent.senderId(),
                MessageReceipt.OF_REQUEST, 31, PrivateData.NONE));
        isLost = message -> true;
        run((4096L << 31) + (4096L << 18) - 1);
        assertThat(client.events).isEmpty();
        run(20L * 3_600_000_000_000L);
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 0x0f, 0x1a, 0x1b, 0x8010, 0xffff})
    void attributesThatAreNoneOfOurMessagesAreNotAnswered(int attribute) throws Exception {
        listen(10);
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(1, request(5), mad);
        mad.putShort(16, (short) attribute);
        assertThat(server.manager.onMad(mad.flip(), new CmPeer(SERVER, CLIENT), nowNs)).isFalse();
        assertThat(server.next()).isNull();
    }

    @Test
    void messagesOfNoConnectionAreTold() throws Exception {
        listen(10);
        client.connect(new ConnectionParameters());
        run(1);
        IbCmConnection theirs = server.connection();
        int own = theirs.localId();
        int peers = theirs.remoteId();
        for (int[] ids : new int[][]{{77, own}, {peers, 77}, {77, 78}, {0, 0}}) {
            for (CmMessage message : messages(ids[0], ids[1])) {
                assertThat(isOfServer(message, CLIENT)).as("%s", message).isFalse();
            }
        }
        for (CmMessage message : messages(peers, own)) {
            assertThat(isOfServer(message, STRANGER)).as("%s", message).isFalse();
        }
        assertThat(isOfServer(new DisconnectRequest(peers, own, 0x111111, PrivateData.NONE),
                CLIENT)).as("another queue pair").isFalse();
        assertThat(isOfServer(new ServiceReply(77, 0, PrivateData.NONE, 0, 5, 0, 6,
                PrivateData.NONE), CLIENT)).isFalse();
        assertThat(theirs.state()).isEqualTo(IbCmConnection.State.ESTABLISHED);
        for (CmMessage message : messages(peers, own)) {
            boolean isUnasked = message instanceof Reply
                    || message instanceof AlternatePathResponse;
            assertThat(isOfServer(message, CLIENT)).as("%s", message).isEqualTo(!isUnasked);
        }
        assertThat(theirs.state()).isEqualTo(IbCmConnection.State.TIME_WAIT);
    }

    /** {@return what a peer says within a connection; a passive side gets no reply} */
    private static List<CmMessage> messages(int senderId, int receiverId) {
        return List.of(
                new ReadyToUse(senderId, receiverId, PrivateData.NONE),
                new MessageReceipt(senderId, receiverId, MessageReceipt.OF_REPLY, 20,
                        PrivateData.NONE),
                new Reply(senderId, receiverId, 0, 4, 5, 1, 1, 0, 0, true, 7, false, 1,
                        PrivateData.NONE),
                new LoadAlternatePath(senderId, receiverId),
                new AlternatePathResponse(senderId, receiverId, 0),
                new DisconnectReply(senderId, receiverId, PrivateData.NONE),
                new DisconnectRequest(senderId, receiverId, 0x222222, PrivateData.NONE),
                new Reject(senderId, receiverId, Reject.OF_NONE, 28, PrivateData.NONE, 0,
                        PrivateData.NONE));
    }

    private boolean isOfServer(CmMessage message, Gid from) {
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(1, message, mad);
        return server.manager.onMad(mad.flip(), new CmPeer(SERVER, from), nowNs);
    }

    @Test
    void anotherPathIsRefusedAndTheConnectionStays() throws Exception {
        listen(10);
        client.connect(new ConnectionParameters());
        run(1);
        IbCmConnection theirs = server.connection();
        byte[] answer = answerTo(new LoadAlternatePath(theirs.remoteId(), theirs.localId()));
        // Attribute, both identifiers, length of what follows, status: unsupported.
        assertThat(ByteBuffer.wrap(answer, 16, 2).getShort()).isEqualTo((short) 0x1a);
        assertThat(ByteBuffer.wrap(answer, 24, 10)).isEqualTo(ByteBuffer.allocate(10)
                .putInt(theirs.localId()).putInt(theirs.remoteId()).put((byte) 0).put((byte) 2)
                .flip());
        assertThat(theirs.state()).isEqualTo(IbCmConnection.State.ESTABLISHED);
        assertThat(answerTo(new LoadAlternatePath(77, theirs.localId()))[33]).isEqualTo((byte) 1);
    }

    private byte[] answerTo(CmMessage message) {
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(9, message, mad);
        server.manager.onMad(mad.flip(), new CmPeer(SERVER, CLIENT), nowNs);
        ByteBuffer answer = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        assertThat(server.manager.pollTransmit(answer)).isNotNull();
        return answer.array();
    }

    // ---------------------------------------------------------------- messages of the past

    @Test
    void messagesOfAnOldConnectionInAnyOrderHarmNoNewOne() throws Exception {
        for (int seed = 0; seed < 200; seed++) {
            HostilePeerTest world = new HostilePeerTest();
            Random order = new Random(seed);
            world.listen(100);
            world.client.connect(new ConnectionParameters());
            world.run(1);
            world.client.connection().disconnect(world.nowNs);
            world.settle();
            List<CmMessage> old = new ArrayList<>(world.carried);
            world.client.connect(new ConnectionParameters());
            world.run(1);
            IbCmConnection ours = world.client.connection();
            IbCmConnection theirs = world.server.connection();
            world.server.acceptsAtOnce = false;
            for (int round = 0; round < 3; round++) {
                Collections.shuffle(old, order);
                for (CmMessage copy : old) {
                    world.server.receive(CLIENT, order.nextLong(), copy);
                    world.client.receive(SERVER, order.nextLong(), copy);
                }
            }
            assertThat(ours.state()).as("seed " + seed)
                    .isEqualTo(IbCmConnection.State.ESTABLISHED);
            assertThat(theirs.state()).as("seed " + seed)
                    .isEqualTo(IbCmConnection.State.ESTABLISHED);
        }
    }

    // ---------------------------------------------------------------- what does not fit

    @Test
    void privateDataThatDoesNotFitIntoAMessageIsRefusedWithBothLengths() {
        PrivateData data = PrivateData.of(new byte[225]);
        List<ThrowingCallable> messages = List.of(
                () -> changed(1, 2, 3, 0, 5, 1, 1, PrivateData.of(new byte[93])),
                () -> new Reply(1, 2, 0, 4, 5, 1, 1, 0, 0, true, 7, false, 1,
                        PrivateData.of(new byte[197])),
                () -> new ReadyToUse(1, 2, data),
                () -> new Reject(1, 2, 0, 28, PrivateData.NONE, 0, PrivateData.of(new byte[149])),
                () -> new Reject(1, 2, 0, 28, PrivateData.of(new byte[73]), 73, PrivateData.NONE),
                () -> new MessageReceipt(1, 2, 0, 1, PrivateData.of(new byte[223])),
                () -> new DisconnectRequest(1, 2, 3, PrivateData.of(new byte[221])),
                () -> new DisconnectReply(1, 2, data),
                () -> new ServiceRequest(1, 2, 3, PrivateData.of(new byte[217])),
                () -> new ServiceReply(1, 0, PrivateData.NONE, 0, 1, 2, 3,
                        PrivateData.of(new byte[137])),
                () -> new ServiceReply(1, 0, PrivateData.of(new byte[73]), 73, 1, 2, 3,
                        PrivateData.NONE));
        int[] rooms = {92, 196, 224, 148, 72, 222, 220, 224, 216, 136, 72};
        for (int i = 0; i < rooms.length; i++) {
            assertThatIllegalArgumentException().isThrownBy(messages.get(i))
                    .withMessage("private data has %d bytes; at most %d fit", rooms[i] + 1,
                            rooms[i]);
        }
    }

    @Test
    void refusedPrivateDataLeavesTheRequestAsItWas() throws Exception {
        listen(1);
        server.acceptsAtOnce = false;
        server.receive(CLIENT, 1, changed(9, 5));
        IbCmConnection request = server.connection();
        assertThatIllegalArgumentException().isThrownBy(() -> request
                .accept(new ConnectionParameters().privateData(new byte[197]), 3, nowNs));
        assertThatIllegalArgumentException().isThrownBy(
                () -> request.reject(RejectReason.CONSUMER_DEFINED, new byte[149]));
        assertThat(server.next()).isNull();
        assertThat(request.state()).isEqualTo(IbCmConnection.State.REQUEST_RECEIVED);
        request.accept(new ConnectionParameters().privateData(new byte[196]), 3, nowNs);
        assertThat(server.next()).isInstanceOf(Reply.class);
    }
}
