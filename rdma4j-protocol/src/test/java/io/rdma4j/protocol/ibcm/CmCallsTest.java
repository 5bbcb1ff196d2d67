// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.protocol.ibcm.CmMessage.MessageReceipt;
import io.rdma4j.protocol.ibcm.CmMessage.Reject;
import io.rdma4j.protocol.ibcm.CmMessage.Reply;
import io.rdma4j.protocol.ibcm.CmMessage.Request;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What an application may ask of a connection, and when; what both sides agree on; what is left when all is over. */
class CmCallsTest extends CmPair {
    private static void assertRefused(Errno errno, ThrowingCallable call) {
        assertThatExceptionOfType(RdmaException.class).isThrownBy(call)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(errno));
    }

    /** Brings a connection of one side to a state. {@return it} */
    private IbCmConnection bringTo(IbCmConnection.State state) throws Exception {
        listen(1);
        server.acceptsAtOnce = false;
        client.acceptsAtOnce = false;
        if (state == IbCmConnection.State.REQUEST_SENT) {
            isLost = message -> true;
        }
        client.connect(new ConnectionParameters());
        run(1);
        IbCmConnection connection = client.connection();
        switch (state) {
            case REQUEST_SENT -> {
                // The request is lost.
            }
            case REQUEST_RECEIVED -> connection = server.connection();
            case REPLY_SENT -> {
                connection = server.connection();
                isLost = message -> true;
                connection.accept(server.own, 0x222222, nowNs);
            }
            case REPLY_RECEIVED, ESTABLISHED, DISCONNECT_SENT, TIME_WAIT, CLOSED -> {
                server.connection().accept(server.own, 0x222222, nowNs);
                run(1);
                if (state != IbCmConnection.State.REPLY_RECEIVED) {
                    connection.establish();
                    run(1);
                }
                if (state == IbCmConnection.State.DISCONNECT_SENT) {
                    isLost = message -> true;
                    connection.disconnect(nowNs);
                    run(1);
                } else if (state == IbCmConnection.State.TIME_WAIT) {
                    connection.disconnect(nowNs);
                    run(1);
                } else if (state == IbCmConnection.State.CLOSED) {
                    connection.disconnect(nowNs);
                    settle();
                }
            }
        }
        assertThat(connection.state()).isEqualTo(state);
        return connection;
    }

    // ---------------------------------------------------------------- calls in each state

    @ParameterizedTest
    @EnumSource(IbCmConnection.State.class)
    void callsAreRefusedWhereTheyHaveNoMeaning(IbCmConnection.State state) throws Exception {
        IbCmConnection connection = bringTo(state);
        boolean isOver = state == IbCmConnection.State.CLOSED
                || state == IbCmConnection.State.TIME_WAIT;
        Errno errno = isOver ? Errno.ECONNRESET : Errno.EINVAL;
        if (state != IbCmConnection.State.REQUEST_RECEIVED) {
            assertRefused(errno, () -> connection.accept(server.own, 5, nowNs));
        }
        if (state != IbCmConnection.State.REPLY_RECEIVED) {
            assertRefused(errno, connection::establish);
        }
        if (state != IbCmConnection.State.REQUEST_RECEIVED
                && state != IbCmConnection.State.REPLY_RECEIVED) {
            assertRefused(errno,
                    () -> connection.reject(RejectReason.CONSUMER_DEFINED, new byte[0]));
        }
        if (state == IbCmConnection.State.ESTABLISHED) {
            assertRefused(Errno.EISCONN, connection::communicationEstablished);
        } else if (state != IbCmConnection.State.REPLY_SENT) {
            assertRefused(errno, connection::communicationEstablished);
        }
        switch (state) {
            case REQUEST_SENT, REPLY_RECEIVED, REQUEST_RECEIVED ->
                assertRefused(errno, () -> connection.disconnect(nowNs));
            case TIME_WAIT, CLOSED, DISCONNECT_SENT -> {
                int before = carried.size();
                connection.disconnect(nowNs);
                assertThat(client.next()).isNull();
                assertThat(carried).hasSize(before);
            }
            case REPLY_SENT, ESTABLISHED -> {
                connection.disconnect(nowNs);
                assertThat(connection.state()).isEqualTo(IbCmConnection.State.DISCONNECT_SENT);
                return;
            }
        }
        assertThat(connection.state()).isEqualTo(state);
    }

    /** What the peer hears when the application lets go: the reason of a Reject, and which message it rejects. */
    @ParameterizedTest
    @CsvSource({"REQUEST_SENT, Reject 4 2", "REQUEST_RECEIVED, Reject 28 0",
        "REPLY_RECEIVED, Reject 28 1", "ESTABLISHED, DisconnectRequest",
        "REPLY_SENT, DisconnectRequest"})
    void closingTellsThePeer(IbCmConnection.State state, String expected) throws Exception {
        IbCmConnection connection = bringTo(state);
        Host host = state == IbCmConnection.State.REQUEST_RECEIVED
                || state == IbCmConnection.State.REPLY_SENT ? server : client;
        while (host.next() != null) {
            // What it had to say before.
        }
        connection.close(nowNs);
        CmMessage said = Objects.requireNonNull(host.next());
        assertThat(said instanceof Reject reject
                ? "Reject " + reject.reason() + " " + reject.rejected()
                : said.getClass().getSimpleName()).isEqualTo(expected);
        isLost = message -> true;
        int before = host.events.size();
        settle();
        assertThat(host.events).hasSize(before);
        assertThat(host.manager.connectionCount()).isZero();
        assertThat(host.manager.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void closingOfTheDeviceTellsEveryPeer() throws Exception {
        bringTo(IbCmConnection.State.ESTABLISHED);
        DatagramLookup lookup = client.lookUp(new byte[0]);
        assertThat(lookup.deadlineNs()).isLessThan(Long.MAX_VALUE);
        client.manager.closeAll(nowNs);
        assertThat(lookup.deadlineNs()).isEqualTo(Long.MAX_VALUE);
        settle();
        assertThat(server.events).endsWith("disconnected", "time-wait over");
        assertThat(client.events).doesNotContain("disconnected");
        assertThat(client.manager.connectionCount()).isZero();
    }

    @Test
    void lookUpsThatWaitAreRefusedWhenTheDeviceCloses() throws Exception {
        DatagramService service = listenForLookups(2);
        server.acceptsAtOnce = false;
        client.lookUp(new byte[0]);
        run(1);
        DatagramRequest request = Objects.requireNonNull(server.asked);
        server.asked = null;
        server.manager.closeAll(nowNs);
        settle();
        assertThat(client.events).hasSize(1).allMatch(e -> e.startsWith("refused"));
        assertThat(request.close(nowNs)).isFalse();
        service.close(() -> {});
        listenForLookups(1);
    }

    @Test
    void requestThatIsClosedUnansweredSaysSo() throws Exception {
        listenForLookups(1);
        server.acceptsAtOnce = false;
        client.lookUp(new byte[0]);
        run(1);
        assertThat(Objects.requireNonNull(server.asked).close(nowNs)).isTrue();
    }

    // ---------------------------------------------------------------- what both agree on

    private IbCmConnection replied(int ackDelay, QueuePairType type) throws Exception {
        client.connection = client.manager.connect(new ConnectSpec(new CmPeer(CLIENT, SERVER),
                PortSpace.IB, type, 40000, PORT,
                new ConnectionParameters().responderResources(3).initiatorDepth(4).retryCount(6),
                7, Mtu.MTU_1024, 0x20, null), client, nowNs);
        client.acceptsAtOnce = false;
        Request sent = (Request) Objects.requireNonNull(client.next());
        assertThat(sent.transportType()).isEqualTo(type == QueuePairType.UC ? 1 : 0);
        client.receive(SERVER, 1, new Reply(9, sent.senderId(), 0, 0x777, 0x123456, 2, 1, ackDelay,
                0, true, 5, false, 1, PrivateData.NONE));
        return client.connection();
    }

    /** A peer that says how long it takes to answer gets twice the time, if that is more than this side would wait. */
    @ParameterizedTest
    @CsvSource({"0, 16", "15, 16", "16, 17", "17, 18", "19, 20", "20, 20", "31, 20"})
    void acknowledgementsAreWaitedForTwiceAsLongAsThePeerTakes(int delay, int timeout)
            throws Exception {
        assertThat(replied(delay, QueuePairType.RC)
                .queuePairAttributes(QueuePairState.RTS, client.own, 0).ackTimeoutExponent())
                .isEqualTo(timeout);
    }

    @Test
    void replyIsWhatTheRequesterGoesBy() throws Exception {
        IbCmConnection connection = replied(0, QueuePairType.RC);
        QueuePairAttributes rtr = connection.queuePairAttributes(QueuePairState.RTR, client.own, 3);
        assertThat(rtr.destinationQueuePairNumber()).isEqualTo(0x777);
        assertThat(rtr.pathMtu()).isEqualTo(Mtu.MTU_1024);
        assertThat(rtr.maxDestinationReadAtomic()).isEqualTo(1);
        assertThat(rtr.addressVector().trafficClass()).isEqualTo(0x20);
        assertThat(connection.mtu()).isEqualTo(Mtu.MTU_1024);
        QueuePairAttributes rts = connection.queuePairAttributes(QueuePairState.RTS, client.own, 3);
        assertThat(rts.sendPsn()).isEqualTo(0x123456);
        assertThat(rts.maxReadAtomic()).isEqualTo(2);
        assertThat(rts.retryCount()).isEqualTo(6);
        assertThat(rts.rnrRetry()).isEqualTo(5);
    }

    /** Who repeats without limit can be told to wait a moment; who repeats a few times has to last as long as under Linux. */
    @ParameterizedTest
    @CsvSource({"7, 12, 12", "6, 0, 12", "5, 0, 12", "2, 0, 12", "1, 0, 0", "0, 0, 12"})
    void waitForAReceiveDependsOnHowOftenThePeerMayRepeat(int retries, int timer, int first)
            throws Exception {
        IbCmConnection connection = replied(0, QueuePairType.RC);
        ConnectionParameters own = new ConnectionParameters().rnrRetryCount(retries);
        assertThat(connection.queuePairAttributes(QueuePairState.RTR, own, 3).minRnrTimerCode())
                .isEqualTo(timer);
        assertThat(connection.firstRnrTimer(own)).isEqualTo(first);
    }

    @Test
    void onlyWhoGrantsReadsAllowsThem() throws Exception {
        IbCmConnection rc = replied(0, QueuePairType.RC);
        assertThat(rc.queuePairAttributes(QueuePairState.INIT, client.own, 0).accessFlags())
                .containsExactlyInAnyOrder(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_ATOMIC);
        IbCmConnection uc = replied(0, QueuePairType.UC);
        assertThat(uc.queuePairAttributes(QueuePairState.INIT, client.own, 0).accessFlags())
                .containsExactly(AccessFlag.REMOTE_WRITE);
        listen(1);
        server.acceptsAtOnce = false;
        client.connect(new ConnectionParameters().initiatorDepth(0));
        run(1);
        assertThat(server.connection().queuePairAttributes(QueuePairState.INIT, server.own, 0)
                .accessFlags()).containsExactly(AccessFlag.REMOTE_WRITE);
    }

    /** Before the reply nobody knows where the peer is; INIT needs none of that. */
    @Test
    void attributesAreThereAsSoonAsTheyAreKnown() throws Exception {
        IbCmConnection connection = bringTo(IbCmConnection.State.REQUEST_SENT);
        assertThat(connection.queuePairAttributes(QueuePairState.INIT, client.own, 0).port())
                .isOne();
        assertRefused(Errno.EINVAL,
                () -> connection.queuePairAttributes(QueuePairState.RTR, client.own, 0));
        assertRefused(Errno.EINVAL,
                () -> connection.queuePairAttributes(QueuePairState.RTS, client.own, 0));
    }

    @Test
    void whoAcceptsGrantsNoMoreThanItWantsAndIsAskedFor() throws Exception {
        listen(1);
        server.acceptsAtOnce = false;
        client.connect(new ConnectionParameters().responderResources(9).initiatorDepth(8));
        run(1);
        server.connection().accept(
                new ConnectionParameters().responderResources(3).initiatorDepth(2), 5, nowNs);
        Reply reply = (Reply) Objects.requireNonNull(server.next());
        assertThat(reply.responderResources()).isEqualTo(3);
        assertThat(reply.initiatorDepth()).isEqualTo(2);
    }

    @Test
    void acknowledgeTimeoutThatWasChosenIsSent() throws Exception {
        client.manager.connect(new ConnectSpec(new CmPeer(CLIENT, SERVER), PortSpace.TCP,
                QueuePairType.RC, 40000, PORT, new ConnectionParameters(), 7, Mtu.MTU_1024, 0, 19),
                client, nowNs);
        Request chosen = (Request) Objects.requireNonNull(client.next());
        assertThat(chosen.primary().ackTimeoutExponent()).isEqualTo(19);
        client.connect(new ConnectionParameters());
        Request usual = (Request) Objects.requireNonNull(client.next());
        assertThat(usual.primary().ackTimeoutExponent())
                .isEqualTo(CmSettings.defaults(1).ackTimeout());
    }

    // ---------------------------------------------------------------- numbers

    @Test
    void eachRequestHasATransactionOfItsOwnThatNamesTheConnection() throws Exception {
        Set<Long> transactions = new HashSet<>();
        for (int i = 0; i < 5; i++) {
            client.connect(new ConnectionParameters());
            ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
            assertThat(client.manager.pollTransmit(mad)).isNotNull();
            long transaction = Objects.requireNonNull(CmMessage.decode(mad.flip())).transaction();
            assertThat((int) transaction).isEqualTo(client.connection().localId());
            transactions.add(transaction >>> 32);
        }
        assertThat(transactions).hasSize(5);
    }

    @Test
    void firstPsnsAreChosenAnewForEachConnection() throws Exception {
        Set<Integer> psns = new HashSet<>();
        for (int i = 0; i < 5; i++) {
            psns.add(request(5).startingPsn());
            client.connect(new ConnectionParameters());
            psns.add(((Request) Objects.requireNonNull(client.next())).startingPsn());
        }
        assertThat(psns).hasSizeGreaterThan(5).allMatch(psn -> psn >>> 24 == 0);
    }

    /** Zero means that an identifier is not known; others are used once. */
    @Test
    void identifiersAreNeitherZeroNorUsedTwice() {
        int[] next = {0, 7, 7, 7, 8, 8, 9};
        int[] at = {0};
        client.manager.identifiers(0, () -> next[at[0]++]);
        client.connect(new ConnectionParameters());
        assertThat(client.connection().localId()).isEqualTo(7);
        assertThat(client.lookUp(new byte[0]).requestId()).isEqualTo(8);
        client.connect(new ConnectionParameters());
        assertThat(client.connection().localId()).isEqualTo(9);
    }

    // ---------------------------------------------------------------- peers that say more, or again

    @Test
    void replyThatComesAgainIsConfirmedAgain() throws Exception {
        IbCmConnection connection = bringTo(IbCmConnection.State.ESTABLISHED);
        Reply reply = (Reply) carried.stream().filter(Reply.class::isInstance).findFirst()
                .orElseThrow();
        assertThat(client.receive(SERVER, 1, reply)).isInstanceOf(CmMessage.ReadyToUse.class);
        Reply others = new Reply(reply.senderId() + 1, reply.receiverId(), 0, 99, 0, 1, 1, 0, 0,
                true, 1, false, 1, PrivateData.NONE);
        assertThat(client.receive(SERVER, 1, others)).isNull();
        assertThat(connection.state()).isEqualTo(IbCmConnection.State.ESTABLISHED);
    }

    @Test
    void peerThatAsksForTimeIsGivenThatAndTheUsual() throws Exception {
        IbCmConnection connection = bringTo(IbCmConnection.State.REPLY_SENT);
        long before = connection.deadlineNs();
        server.receive(CLIENT, 1, new MessageReceipt(connection.remoteId(), connection.localId(),
                MessageReceipt.OF_REQUEST, 20, PrivateData.NONE));
        assertThat(connection.deadlineNs()).isEqualTo(before);
        server.receive(CLIENT, 1, new MessageReceipt(connection.remoteId(), connection.localId(),
                MessageReceipt.OF_REPLY, 20, PrivateData.NONE));
        assertThat(connection.deadlineNs()).isEqualTo(nowNs + (4096L << 20) + (4096L << 18));
        // The old deadline is gone.
        assertThat(server.manager.deadlineNs()).isEqualTo(connection.deadlineNs());
    }

    /** Before the answer, and when the answer is lost. */
    @ParameterizedTest
    @EnumSource(value = IbCmConnection.State.class, names = {"REQUEST_RECEIVED", "REPLY_SENT"})
    void requesterThatWithdrawsIsHeardThoughItKnowsNoIdentifier(IbCmConnection.State state)
            throws Exception {
        IbCmConnection connection = bringTo(state);
        isLost = message -> message instanceof Reply;
        client.connection().close(nowNs);
        run(1);
        assertThat(server.events).endsWith("rejected 4");
        assertThat(connection.state()).isEqualTo(IbCmConnection.State.CLOSED);
    }

    // ---------------------------------------------------------------- what is left

    /** Nothing of the manager keeps a connection that is over, whatever became of it. */
    @ParameterizedTest
    @EnumSource(value = IbCmConnection.State.class, names = {"REPLY_SENT", "ESTABLISHED",
        "REQUEST_RECEIVED", "REQUEST_SENT"})
    void connectionThatIsOverIsForgotten(IbCmConnection.State state) throws Exception {
        WeakReference<IbCmConnection> gone = closed(state);
        System.gc();
        assertThat(gone.refersTo(null)).isTrue();
    }

    private WeakReference<IbCmConnection> closed(IbCmConnection.State state) throws Exception {
        IbCmConnection connection = bringTo(state);
        connection.close(nowNs);
        settle();
        assertThat(connection.state()).isEqualTo(IbCmConnection.State.CLOSED);
        WeakReference<IbCmConnection> reference = new WeakReference<>(connection);
        client.connection = null;
        server.connection = null;
        return reference;
    }

    @Test
    void readyToUseAfterTheFirstPacketIsNotNeeded() throws Exception {
        bringTo(IbCmConnection.State.REPLY_SENT);
        server.manager.onPeerReady(0x222223);
        assertThat(server.events).doesNotContain("established");
        server.manager.onPeerReady(0x222222);
        server.manager.onPeerReady(0x222222);
        assertThat(server.events).containsOnlyOnce("established");
        assertThat(server.manager.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void timersOfEqualDeadlineAreAllThere() throws Exception {
        isLost = message -> true;
        for (int i = 0; i < 3; i++) {
            client.connect(new ConnectionParameters());
        }
        settle();
        assertThat(client.events).isEqualTo(List.of("unreachable ETIMEDOUT",
                "unreachable ETIMEDOUT", "unreachable ETIMEDOUT"));
    }
}
