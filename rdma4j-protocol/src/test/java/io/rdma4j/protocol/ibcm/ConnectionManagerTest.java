// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.protocol.ibcm.CmMessage.Reject;
import io.rdma4j.protocol.ibcm.CmMessage.Request;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Connections between two managers: set up, refused and ended, over a wire that loses and repeats. */
class ConnectionManagerTest extends CmPair {
    // ---------------------------------------------------------------- setting up

    @Test
    void requestReplyAndReadyMakeAConnection() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        assertThat(client.events).containsExactly("reply");
        assertThat(server.events).containsExactly("request from port 40000", "established");
        assertThat(carried).hasSize(3);
    }

    @Test
    void messagesOfAConnectionHaveItsTrafficClass() throws Exception {
        listen(1);
        client.connection = client.manager.connect(
                new ConnectSpec(new CmPeer(CLIENT, SERVER), PortSpace.TCP, QueuePairType.RC, 40000,
                        PORT, new ConnectionParameters(), 0x111111, Mtu.MTU_4096, 0x60, null),
                client, nowNs);
        run(1);
        client.connection().disconnect(nowNs);
        settle();
        assertThat(carried).hasSizeGreaterThan(3);
        assertThat(trafficClasses).containsOnly(0x60);
    }

    // ---------------------------------------------------------------- path MTUs

    private List<Integer> requestedMtus() {
        List<Integer> mtus = new ArrayList<>();
        for (CmMessage each : carried) {
            if (each instanceof Request request) {
                mtus.add(request.pathMtu());
            }
        }
        return mtus;
    }

    @Test
    void requestIsRepeatedWithThePathMtuThatThePeerCanHave() throws Exception {
        listen(1);
        server.largestMtu = Mtu.MTU_1024;
        client.connect(new ConnectionParameters());
        run(1);
        assertThat(client.events).containsExactly("reply");
        assertThat(server.events).containsExactly("request from port 40000", "established");
        assertThat(requestedMtus()).containsExactly(Mtu.MTU_4096.code(), Mtu.MTU_1024.code());
        assertThat(client.connection().mtu()).isEqualTo(Mtu.MTU_1024);
        assertThat(server.connection().mtu()).isEqualTo(Mtu.MTU_1024);
    }

    @Test
    void pathMtuIsFoundThoughEveryMessageComesTwice() throws Exception {
        listen(1);
        server.largestMtu = Mtu.MTU_256;
        isRepeated = message -> true;
        client.connect(new ConnectionParameters());
        settle();
        assertThat(client.events).containsExactly("reply");
        assertThat(client.connection().mtu()).isEqualTo(Mtu.MTU_256);
    }

    @Test
    void pathMtuThatTheProgramHasFixedIsNotChanged() throws Exception {
        listen(1);
        server.largestMtu = Mtu.MTU_1024;
        client.connection = client.manager.connect(
                new ConnectSpec(new CmPeer(CLIENT, SERVER), PortSpace.TCP, QueuePairType.RC, 40000,
                        PORT, new ConnectionParameters(), 0x111111, Mtu.MTU_2048, true, 0, null),
                client, nowNs);
        run(1);
        assertThat(client.events).containsExactly("rejected 26");
        assertThat(requestedMtus()).containsExactly(Mtu.MTU_2048.code());
        assertThat(client.connection().acceptableMtu()).isEqualTo(Mtu.MTU_1024);
    }

    @Test
    void rejectionThatNamesALargerPathMtuIsARejection() throws Exception {
        listen(1);
        client.acceptsAtOnce = false;
        isLost = message -> message instanceof Request;
        client.connection = client.manager.connect(
                new ConnectSpec(new CmPeer(CLIENT, SERVER), PortSpace.TCP, QueuePairType.RC, 40000,
                        PORT, new ConnectionParameters(), 0x111111, Mtu.MTU_1024, 0, null),
                client, nowNs);
        run(1);
        assertThat(client.receive(SERVER, 1, otherMtu(client.connection().localId(), 0,
                Reject.OF_REQUEST, Mtu.MTU_4096))).isNull();
        assertThat(client.events).containsExactly("rejected 26");
        assertThat(client.connection().mtu()).isEqualTo(Mtu.MTU_1024);
    }

    /** {@return a rejection that names the path MTU that would do} */
    private static Reject otherMtu(int receiverId, int senderId, int rejected, Mtu mtu) {
        return new Reject(senderId, receiverId, rejected, RejectReason.INVALID_MTU.code(),
                PrivateData.of(new byte[]{(byte) (mtu.code() << 4)}), 1, PrivateData.NONE);
    }

    @Test
    void rejectionThatNamesThePathMtuThatIsRequestedByNowIsACopyAndNotAnswered() throws Exception {
        client.connect(new ConnectionParameters());
        client.next();
        Reject reject = otherMtu(client.connection().localId(), 0, Reject.OF_REQUEST,
                Mtu.MTU_1024);
        assertThat(client.receive(SERVER, 1, reject)).isInstanceOfSatisfying(Request.class,
                again -> assertThat(again.pathMtu()).isEqualTo(Mtu.MTU_1024.code()));
        assertThat(client.receive(SERVER, 1, reject)).isNull();
        assertThat(client.connection().state()).isEqualTo(IbCmConnection.State.REQUEST_SENT);
        // Once more, as a network may change on the way.
        assertThat(client.receive(SERVER, 1, otherMtu(client.connection().localId(), 0,
                Reject.OF_REQUEST, Mtu.MTU_512))).isInstanceOf(Request.class);
        assertThat(client.events).isEmpty();
    }

    @Test
    void pathMtuOfARejectedReplyIsNotRequested() throws Exception {
        isLost = message -> message instanceof CmMessage.ReadyToUse;
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        IbCmConnection connection = server.connection();
        assertThat(connection.state()).isEqualTo(IbCmConnection.State.REPLY_SENT);
        assertThat(server.receive(CLIENT, 1, otherMtu(connection.localId(), connection.remoteId(),
                Reject.OF_REPLY, Mtu.MTU_256))).isNull();
        assertThat(server.events).containsExactly("request from port 40000", "rejected 26");
        assertThat(connection.state()).isEqualTo(IbCmConnection.State.CLOSED);
    }

    @Test
    void messagesOfNoConnectionHaveNone() throws Exception {
        client.connect(new ConnectionParameters());
        run(1);
        assertThat(client.events).containsExactly("rejected 8");
        assertThat(trafficClasses).containsOnly(0);
    }

    @Test
    void bothSidesGetAttributesThatFitEachOther() throws Exception {
        listen(1);
        server.own = new ConnectionParameters().responderResources(3).initiatorDepth(200)
                .rnrRetryCount(5);
        client.connect(new ConnectionParameters().responderResources(7).initiatorDepth(5)
                .retryCount(2).rnrRetryCount(4));
        server.acceptsAtOnce = false;
        run(1);
        QueuePairAttributes serverRtr = server.connection()
                .queuePairAttributes(QueuePairState.RTR, server.own, 1);
        QueuePairAttributes serverRts = server.connection()
                .queuePairAttributes(QueuePairState.RTS, server.own, 1);
        server.acceptsAtOnce = true;
        run(1);
        QueuePairAttributes clientRtr = client.connection()
                .queuePairAttributes(QueuePairState.RTR, client.own, 1);
        QueuePairAttributes clientRts = client.connection()
                .queuePairAttributes(QueuePairState.RTS, client.own, 1);

        assertThat(serverRtr.destinationQueuePairNumber()).isEqualTo(0x111111);
        assertThat(clientRtr.destinationQueuePairNumber()).isEqualTo(0x222222);
        assertThat(serverRtr.receivePsn()).isEqualTo(clientRts.sendPsn());
        assertThat(clientRtr.receivePsn()).isEqualTo(serverRts.sendPsn());
        assertThat(serverRtr.maxDestinationReadAtomic()).isEqualTo(3);
        assertThat(clientRts.maxReadAtomic()).isEqualTo(3);
        assertThat(serverRts.maxReadAtomic()).isEqualTo(7);
        assertThat(clientRtr.maxDestinationReadAtomic()).isEqualTo(7);
        assertThat(serverRts.rnrRetry()).isEqualTo(4);
        assertThat(clientRts.rnrRetry()).isEqualTo(5);
        assertThat(serverRts.retryCount()).isEqualTo(2);
        assertThat(serverRtr.pathMtu()).isEqualTo(Mtu.MTU_4096);
        assertThat(serverRtr.addressVector().destination()).isEqualTo(CLIENT);
    }

    @ParameterizedTest
    @ValueSource(strings = {"Request", "Reply", "ReadyToUse"})
    void everyLostMessageIsSentAgainUntilTheConnectionStands(String type) throws Exception {
        isLost = first(type, 3);
        listen(1);
        client.connect(new ConnectionParameters());
        run(60_000_000_000L);
        assertThat(client.events).containsExactly("reply");
        assertThat(server.events).containsExactly("request from port 40000", "established");
    }

    @ParameterizedTest
    @ValueSource(strings = {"Request", "Reply", "ReadyToUse", "DisconnectRequest",
        "DisconnectReply"})
    void repeatedMessagesChangeNothing(String type) throws Exception {
        isRepeated = message -> message.getClass().getSimpleName().equals(type);
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        client.connection().disconnect(nowNs);
        settle();
        assertThat(client.events).containsExactly("reply", "disconnected", "time-wait over");
        assertThat(server.events).containsExactly("request from port 40000", "established",
                "disconnected", "time-wait over");
    }

    @Test
    void dataBeforeTheLostReadyToUseEstablishesAsWell() throws Exception {
        isLost = message -> message instanceof CmMessage.ReadyToUse;
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        server.connection().onReadyToUse();
        assertThat(server.events).containsExactly("request from port 40000", "established");
    }

    @Test
    void silentListenerIsUnreachableAfterAllRetries() throws Exception {
        isLost = message -> true;
        client.connect(new ConnectionParameters());
        settle();
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
        assertThat(count(CmMessage.Request.class)).isEqualTo(16);
        assertThat(nowNs).isLessThan(LIMIT_NS + 20_000_000_000L);
    }

    @Test
    void silentClientIsUnreachableForTheServer() throws Exception {
        isLost = message -> message instanceof CmMessage.ReadyToUse
                || message instanceof CmMessage.Reply;
        listen(1);
        client.connect(new ConnectionParameters());
        settle();
        // The client gives up at about the same time and says so; either event is right.
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
        assertThat(server.events).hasSize(2);
        assertThat(server.events.getLast()).isIn("unreachable ETIMEDOUT", "rejected 4");
    }

    @Test
    void applicationThatTakesItsTimeKeepsTheClientWaiting() throws Exception {
        server.acceptsAtOnce = false;
        listen(1);
        client.connect(new ConnectionParameters());
        run(50_000_000_000L);
        assertThat(client.events).isEmpty();
        assertThat(count(CmMessage.MessageReceipt.class)).isPositive();
        server.acceptsAtOnce = true;
        settle();
        assertThat(client.events).startsWith("reply");
    }

    // ---------------------------------------------------------------- refusals

    @Test
    void requestWhereNobodyListensIsRejectedAtOnce() throws Exception {
        client.connect(new ConnectionParameters());
        run(1);
        assertThat(client.events).containsExactly("rejected 8");
        assertThat(client.manager.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void requestToAnotherAddressOfTheMachineIsRejected() throws Exception {
        server.manager.listen(offer(CLIENT, 1), server);
        client.connect(new ConnectionParameters());
        run(1);
        assertThat(client.events).containsExactly("rejected 8");
    }

    @Test
    void requestsBeyondTheBacklogAreRejected() throws Exception {
        server.acceptsAtOnce = false;
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        client.connect(new ConnectionParameters());
        run(1);
        assertThat(client.events).containsExactly("rejected 3");
        server.connection().reject(RejectReason.CONSUMER_DEFINED, new byte[0]);
        run(1);
        client.connect(new ConnectionParameters());
        run(1);
        assertThat(client.events).containsExactly("rejected 3", "rejected 28");
        assertThat(server.events).hasSize(2);
    }

    @Test
    void applicationsRejectionCarriesItsBytes() throws Exception {
        server.acceptsAtOnce = false;
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        server.connection().reject(RejectReason.CONSUMER_DEFINED, new byte[]{1, 2, 3});
        run(1);
        assertThat(client.events).containsExactly("rejected 28");
        Reject reject = (Reject) carried.getLast();
        assertThat(reject.privateData().bytes()).startsWith(1, 2, 3).hasSize(148);
        // Only who gives up says of which node it is.
        assertThat(reject.informationLength()).isZero();
        assertThat(reject.information().bytes()).containsOnly(0);
    }

    @Test
    void secondListenerOnAPortIsRefused() throws Exception {
        CmService service = listen(1);
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> listen(1))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE))
                .withMessageContaining("7471");
        service.close(() -> {});
        listen(1);
    }

    /** Until then the repetitions of its requests must come here. */
    @Test
    void aClosedListenerIsNeededUntilItsRequestsAreAnswered() throws Exception {
        server.acceptsAtOnce = false;
        CmService service = listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        AtomicInteger unneeded = new AtomicInteger();
        service.close(unneeded::incrementAndGet);
        assertThat(unneeded).hasValue(0);
        server.connection().reject(RejectReason.CONSUMER_DEFINED, new byte[0]);
        assertThat(unneeded).hasValue(1);
    }

    @Test
    void aClosedListenerWithoutRequestsIsNotNeeded() throws Exception {
        AtomicInteger unneeded = new AtomicInteger();
        listen(1).close(unneeded::incrementAndGet);
        assertThat(unneeded).hasValue(1);
    }

    /** Devices of a process, one after the other, have the same. */
    @Test
    void identifiersComeFromTheirSource() {
        int[] last = {0xfffffe};
        List<Integer> identifiers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            IbConnectionManager manager = new IbConnectionManager(CmSettings.defaults(1), () -> 1);
            manager.identifiers(7, () -> ++last[0]);
            identifiers.add(manager.sending().newIdentifier());
            identifiers.add(manager.sending().newIdentifier());
        }
        assertThat(identifiers).containsExactly(0x7ffffff, 0x7000000, 0x7000001, 0x7000002);
    }

    @Test
    void requestOfAQueuePairThatIsStillConnectedEndsTheOldConnection() throws Exception {
        listen(5);
        client.connect(new ConnectionParameters());
        run(1);
        // The client died without a word and its successor has the same queue pair number.
        IbConnectionManager successor = new IbConnectionManager(CmSettings.defaults(1),
                random::nextInt);
        successor.connect(call(new ConnectionParameters(), 0x111111), client, nowNs);
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        successor.pollTransmit(mad);
        server.manager.onMad(mad.flip(), new CmPeer(SERVER, CLIENT), nowNs);
        assertThat(server.events).endsWith("disconnected");
        ByteBuffer answer = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        server.manager.pollTransmit(answer);
        CmMessage.Received received = CmMessage.decode(answer.flip());
        assertThat(received).isNotNull();
        assertThat(((Reject) received.message()).reason())
                .isEqualTo(RejectReason.STALE_CONNECTION.code());
    }

    @Test
    void endOfThePeersProcessEndsItsConnectionsAlone() throws Exception {
        listen(5);
        client.connect(new ConnectionParameters());
        run(1);
        int had = client.connection().localQueuePair();
        server.manager.onPeerEnded(CLIENT, number -> number != had, nowNs);
        server.manager.onPeerEnded(SERVER, number -> number == had, nowNs);
        assertThat(server.events).as("another process, or another address").endsWith("established");
        server.manager.onPeerEnded(CLIENT, number -> number == had, nowNs);
        assertThat(server.events).endsWith("established", "disconnected");
        server.manager.onPeerEnded(CLIENT, number -> number == had, nowNs);
        server.connection().disconnect(nowNs);
        assertThat(server.manager.hasOutgoing()).as("nobody is there to be told").isFalse();
        settle();
        assertThat(server.events).endsWith("disconnected", "time-wait over");
    }

    @Test
    void endOfThePeersProcessEndsAConnectionThatItHasAccepted() throws Exception {
        listen(5);
        client.acceptsAtOnce = false;
        client.connect(new ConnectionParameters());
        run(1);
        assertThat(client.events).containsExactly("reply");
        client.manager.onPeerEnded(SERVER, number -> number == 0x222222, nowNs);
        assertThat(client.events).containsExactly("reply", "unreachable ECONNRESET");
        assertThatExceptionOfType(RdmaException.class)
                .isThrownBy(() -> client.connection().establish());
        assertThat(client.manager.connectionCount()).isZero();
    }

    @Test
    void endOfThePeersProcessEndsTheWaitForItsConfirmation() throws Exception {
        listen(5);
        client.connect(new ConnectionParameters());
        isLost = message -> message instanceof CmMessage.DisconnectReply;
        run(1);
        int had = client.connection().localQueuePair();
        server.connection().disconnect(nowNs);
        assertThat(server.events).endsWith("established");
        server.manager.onPeerEnded(CLIENT, number -> number == had, nowNs);
        assertThat(server.events).endsWith("disconnected");
    }

    @Test
    void replyOfAConnectionThatIsForgottenIsRejected() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        isLost = message -> message instanceof CmMessage.Reply
                || message instanceof Reject;
        run(1);
        client.connection().close(nowNs);
        run(1);
        isLost = message -> false;
        settle();
        assertThat(client.events).isEmpty();
        assertThat(server.events).last().isEqualTo("rejected 6");
    }

    // ---------------------------------------------------------------- the end

    @Test
    void eitherSideCanDisconnect() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        server.connection().disconnect(nowNs);
        run(1);
        assertThat(client.events).containsExactly("reply", "disconnected");
        assertThat(server.events).last().isEqualTo("disconnected");
        // The other side may still say so too.
        client.connection().disconnect(nowNs);
        settle();
        assertThat(client.events).containsExactly("reply", "disconnected", "time-wait over");
    }

    @Test
    void bothMayDisconnectAtTheSameTime() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        client.connection().disconnect(nowNs);
        server.connection().disconnect(nowNs);
        settle();
        assertThat(client.events).containsExactly("reply", "disconnected", "time-wait over");
        assertThat(server.events).endsWith("disconnected", "time-wait over");
    }

    @ParameterizedTest
    @ValueSource(strings = {"DisconnectRequest", "DisconnectReply"})
    void lostMessagesOfTheEndAreSentAgain(String type) throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        isLost = first(type, 2);
        client.connection().disconnect(nowNs);
        settle();
        assertThat(client.events).containsExactly("reply", "disconnected", "time-wait over");
        assertThat(server.events).endsWith("disconnected", "time-wait over");
    }

    @Test
    void disconnectFromAPeerThatIsGoneEndsAfterItsRetries() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        isLost = message -> true;
        client.connection().disconnect(nowNs);
        settle();
        assertThat(client.events).containsExactly("reply", "disconnected", "time-wait over");
        assertThat(count(CmMessage.DisconnectRequest.class)).isEqualTo(5);
    }

    @Test
    void disconnectRequestOfAStrangerIsIgnored() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(1,
                new CmMessage.DisconnectRequest(client.connection().localId(),
                        server.connection().localId(), 0x222222, PrivateData.NONE),
                mad);
        Gid stranger = new Gid(0, 0xffff_0a00_0009L);
        server.manager.onMad(mad.flip(), new CmPeer(SERVER, stranger), nowNs);
        assertThat(server.events).doesNotContain("disconnected");
    }

    @Test
    void closingTellsThePeerAndReportsNothing() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        client.connection().close(nowNs);
        settle();
        assertThat(client.events).containsExactly("reply");
        assertThat(server.events).contains("disconnected");
        assertThat(client.manager.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void nonsenseIsRecognized() {
        byte[] bytes = new byte[IbConnectionManager.MESSAGE_LENGTH];
        for (int i = 0; i < 1000; i++) {
            random.nextBytes(bytes);
            if (i % 2 == 0) {
                ByteBuffer.wrap(bytes).putInt(0, Mad.COMMUNICATION_MANAGEMENT_SEND).putShort(16,
                        (short) (0x10 + i % 16));
            }
            server.manager.onMad(ByteBuffer.wrap(bytes), new CmPeer(SERVER, CLIENT), nowNs);
        }
        assertThat(server.events).isEmpty();
        assertThat(server.manager.onMad(ByteBuffer.allocate(255), new CmPeer(SERVER, CLIENT), 0))
                .isFalse();
    }
}
