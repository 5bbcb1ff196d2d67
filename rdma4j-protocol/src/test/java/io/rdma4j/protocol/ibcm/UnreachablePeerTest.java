// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.RejectReason;
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
import io.rdma4j.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.IntPredicate;

import static org.assertj.core.api.Assertions.assertThat;

/** What becomes of a request when the system reports that its destination is unreachable. */
class UnreachablePeerTest extends CmPair {
    private static final Gid HERE = Gid.of(InetAddress.ofLiteral("127.0.0.1"));
    private static final Gid THERE = Gid.of(InetAddress.ofLiteral("127.0.0.9"));
    private static final long MILLISECOND = 1_000_000;

    private final List<CmMessage> sent = new ArrayList<>();
    private final List<Long> sentAtMs = new ArrayList<>();
    /** Of the requests, counted from 0: whether the destination is unreachable. */
    private IntPredicate isRefused = number -> true;
    private int asked;
    /** By time in milliseconds: what the system reports then of packets to the server that it has not reported of. */
    private Function<Long, @Nullable Errno> reports = atMs -> null;
    private int reported;

    private static ConnectSpec to(Gid remote, PortSpace space, QueuePairType type) {
        return new ConnectSpec(new CmPeer(HERE, remote), space, type, 40000, PORT,
                new ConnectionParameters(), 5, Mtu.MTU_4096, 0, null);
    }

    private IbCmConnection connect(Gid remote) {
        client.acceptsAtOnce = false;
        IbCmConnection connection = client.manager
                .connect(to(remote, PortSpace.TCP, QueuePairType.RC), client, nowNs);
        client.connection = connection;
        return connection;
    }

    private void lookUp(Gid remote) {
        client.manager.lookUp(to(remote, PortSpace.UDP, QueuePairType.UD), client, nowNs);
    }

    /** Sends what there is, and lets time pass until nothing is due before a time. */
    private void runUntil(long timeNs) {
        send();
        while (client.manager.deadlineNs() <= timeNs) {
            nowNs = client.manager.deadlineNs();
            lookForReports();
            client.manager.onDeadline(nowNs);
            send();
        }
        nowNs = timeNs;
    }

    /** What has been reported of packets that left before. */
    private void lookForReports() {
        if (sentAtMs.size() > reported && nowNs / MILLISECOND > sentAtMs.getLast()) {
            reported = sentAtMs.size();
            Errno why = reports.apply(nowNs / MILLISECOND);
            if (why != null) {
                client.manager.onUnreachable(SERVER, why, nowNs);
            }
        }
    }

    private void send() {
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        while (client.manager.pollTransmit(mad.clear()) != null) {
            CmMessage.Received received = CmMessage.decode(mad.flip());
            assertThat(received).isNotNull();
            sent.add(received.message());
            sentAtMs.add(nowNs / MILLISECOND);
            if (client.manager.isAsking() && isRefused.test(asked++)) {
                client.manager.onUnreachable(nowNs);
            }
        }
    }

    private Request request() {
        return (Request) sent.getFirst();
    }

    @Test
    void connectionIsGivenUpAfterThreeRefusals() {
        connect(THERE);
        runUntil(750 * MILLISECOND - 1);
        assertThat(client.events).isEmpty();
        runUntil(LIMIT_NS);
        assertThat(client.events).containsExactly("unreachable ECONNREFUSED");
        assertThat(sentAtMs).containsExactly(0L, 250L, 500L, 750L, 750L);
        assertThat(sent.subList(0, 4)).hasOnlyElementsOfType(Request.class);
        assertThat(sent.getLast()).isInstanceOf(Reject.class);
        assertThat(client.manager.connectionCount()).isZero();
        assertThat(client.manager.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void lookUpIsGivenUpAfterThreeRefusals() {
        lookUp(THERE);
        runUntil(LIMIT_NS);
        assertThat(client.events).containsExactly("unreachable ECONNREFUSED");
        assertThat(sentAtMs).containsExactly(0L, 250L, 500L, 750L);
        assertThat(sent).hasOnlyElementsOfType(ServiceRequest.class);
        assertThat(client.manager.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void firstRequestDoesNotAsk() {
        connect(THERE);
        runUntil(0);
        assertThat(sent).hasSize(1);
        assertThat(asked).isZero();
    }

    @Test
    void peerThatIsThereIsWaitedForAsPatientlyAsOneElsewhere() {
        isRefused = number -> false;
        connect(THERE);
        lookUp(THERE);
        runUntil(16_000 * MILLISECOND);
        assertThat(client.events).isEmpty();
        runUntil(LIMIT_NS);
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT", "unreachable ETIMEDOUT");
        // The one that came early, and fifteen retries.
        assertThat(sent.stream().filter(Request.class::isInstance)).hasSize(17);
        assertThat(sent.stream().filter(ServiceRequest.class::isInstance)).hasSize(17);
    }

    @Test
    void peerThatStartsMeanwhileIsConnectedTo() {
        isRefused = number -> number < 2;
        connect(THERE);
        runUntil(1000 * MILLISECOND);
        receive(new Reply(77, request().senderId(), 0, 4, 5, 1, 1, 0, 0, true, 7, false, 1,
                PrivateData.NONE));
        assertThat(client.events).containsExactly("reply");
        runUntil(LIMIT_NS);
        assertThat(client.events).containsExactly("reply");
    }

    @Test
    void serviceThatStartsMeanwhileIsFound() {
        isRefused = number -> number < 2;
        lookUp(THERE);
        runUntil(1000 * MILLISECOND);
        ServiceRequest request = (ServiceRequest) sent.getFirst();
        receive(new ServiceReply(request.requestId(), 0, PrivateData.NONE, 0, 5,
                request.serviceId(), 6, PrivateData.NONE));
        runUntil(LIMIT_NS);
        assertThat(client.events).containsExactly("service at 0x5 with 0x00000006");
    }

    @Test
    void refusalsBeforeAndAfterSomebodyWasThereDoNotAddUp() {
        isRefused = number -> number != 2;
        connect(THERE);
        runUntil(LIMIT_NS);
        assertThat(client.events).containsExactly("unreachable ECONNREFUSED");
        // Refused, refused, not refused: a second; refused three times.
        assertThat(sentAtMs).startsWith(0L, 250L, 500L, 750L, 1823L, 2073L, 2323L);
        assertThat(asked).isEqualTo(6);
    }

    @Test
    void peerThatHasAskedForTimeIsAskedNowAndThen() {
        isRefused = number -> false;
        connect(THERE);
        runUntil(100 * MILLISECOND);
        mayTake(23);
        runUntil(7000 * MILLISECOND);
        assertThat(client.events).isEmpty();
        assertThat(sentAtMs).containsExactly(0L, 2100L, 4100L, 6100L);
    }

    @Test
    void askingAPeerThatHasAskedForTimeMakesNoTimeLonger() {
        isRefused = number -> false;
        connect(THERE);
        runUntil(0);
        while (client.events.isEmpty() && nowNs < LIMIT_NS) {
            mayTake(20);
            runUntil(nowNs + 100 * MILLISECOND);
        }
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
        // Sixteen times the time of the peer and the usual one.
        assertThat(nowNs / MILLISECOND).isBetween(85_000L, 90_000L);
    }

    @Test
    void peerThatHasAskedForTimeAndGoesIsNoticed() {
        isRefused = number -> true;
        connect(THERE);
        runUntil(100 * MILLISECOND);
        mayTake(23);
        runUntil(LIMIT_NS);
        assertThat(client.events).containsExactly("unreachable ECONNREFUSED");
        assertThat(sentAtMs).containsExactly(0L, 2100L, 2350L, 2600L, 2600L);
    }

    private void mayTake(int serviceTimeout) {
        receive(new MessageReceipt(77, request().senderId(), MessageReceipt.OF_REQUEST,
                serviceTimeout, PrivateData.NONE));
    }

    @Test
    void endOfAConnectionIsNeitherAskedForNorRepeatedMoreOften() throws Exception {
        IbCmConnection connection = connect(THERE);
        runUntil(100 * MILLISECOND);
        receive(new Reply(77, request().senderId(), 0, 4, 5, 1, 1, 0, 0, true, 7, false, 1,
                PrivateData.NONE));
        connection.establish();
        connection.disconnect(nowNs);
        runUntil(LIMIT_NS);
        assertThat(asked).isZero();
        assertThat(sent.stream().filter(DisconnectRequest.class::isInstance)).hasSize(5);
    }

    @Test
    void peerElsewhereIsSentNothingEarlyUnlessSomethingIsReported() {
        isRefused = number -> false;
        connect(SERVER);
        lookUp(SERVER);
        runUntil(LIMIT_NS);
        assertThat(sentAtMs).startsWith(0L, 0L, 1073L, 1073L);
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT", "unreachable ETIMEDOUT");
    }

    @Test
    void hostWithoutTheProcessIsGivenUpAfterThreeReports() {
        reports = atMs -> Errno.ECONNREFUSED;
        isRefused = number -> false;
        connect(SERVER);
        lookUp(SERVER);
        runUntil(LIMIT_NS);
        assertThat(client.events).containsExactly("unreachable ECONNREFUSED",
                "unreachable ECONNREFUSED");
        assertThat(sentAtMs).containsExactly(0L, 0L, 250L, 250L, 500L, 500L, 750L);
    }

    @Test
    void reportsThatComeRarelyAddUp() {
        // As of a host that tells only one of ten senders a second.
        reports = atMs -> atMs > 1000 ? Errno.ECONNREFUSED : null;
        isRefused = number -> false;
        connect(SERVER);
        runUntil(LIMIT_NS);
        assertThat(client.events).containsExactly("unreachable ECONNREFUSED");
        assertThat(nowMsOfEnd()).isLessThan(2500);
    }

    private long nowMsOfEnd() {
        return sentAtMs.getLast();
    }

    @Test
    void hostThatDoesNotExistEndsTheRequestAtTheFirstReport() {
        reports = atMs -> atMs > 3000 ? Errno.EHOSTUNREACH : null;
        isRefused = number -> false;
        connect(SERVER);
        lookUp(SERVER);
        runUntil(LIMIT_NS);
        assertThat(client.events).containsExactly("unreachable EHOSTUNREACH",
                "unreachable EHOSTUNREACH");
        assertThat(nowMsOfEnd()).isLessThan(4000);
    }

    @Test
    void withoutARouteTheRequestEndsAtOnce() {
        connect(SERVER);
        client.manager.onUnreachable(SERVER, Errno.ENETUNREACH, nowNs);
        assertThat(client.events).containsExactly("unreachable ENETUNREACH");
    }

    @Test
    void aFirewallThatLetsOnePacketOfThreeThroughEndsNothing() {
        reports = atMs -> sent.size() % 3 == 0 ? null : Errno.EPERM;
        isRefused = number -> false;
        connect(SERVER);
        runUntil(3000 * MILLISECOND);
        assertThat(client.events).isEmpty();
        reports = atMs -> Errno.EPERM;
        runUntil(LIMIT_NS);
        assertThat(client.events).containsExactly("unreachable EPERM");
    }

    @Test
    void reportsOfOtherHostsChangeNothing() {
        connect(SERVER);
        lookUp(SERVER);
        client.manager.onUnreachable(THERE, Errno.ENETUNREACH, nowNs);
        assertThat(client.events).isEmpty();
    }

    @Test
    void reportsEndNoConnection() throws Exception {
        IbCmConnection connection = connect(THERE);
        runUntil(100 * MILLISECOND);
        receive(new Reply(77, request().senderId(), 0, 4, 5, 1, 1, 0, 0, true, 7, false, 1,
                PrivateData.NONE));
        connection.establish();
        for (int i = 0; i < 10; i++) {
            client.manager.onUnreachable(THERE, Errno.EHOSTUNREACH, nowNs);
            runUntil(nowNs + 1000 * MILLISECOND);
        }
        assertThat(client.events).containsExactly("reply");
    }

    /** The peer may only be behind a link that comes up again. */
    @ParameterizedTest
    @EnumSource(value = IbCmConnection.State.class,
            names = {"REQUEST_RECEIVED", "REPLY_SENT", "DISCONNECT_SENT", "TIME_WAIT"})
    void reportsEndNothingThatAPeerHasBegun(IbCmConnection.State state) throws Exception {
        listen(1);
        isLost = message -> message instanceof ReadyToUse;
        server.acceptsAtOnce = state != IbCmConnection.State.REQUEST_RECEIVED;
        client.connect(new ConnectionParameters());
        run(1);
        IbCmConnection connection = server.connection();
        if (state == IbCmConnection.State.DISCONNECT_SENT
                || state == IbCmConnection.State.TIME_WAIT) {
            isLost = message -> state == IbCmConnection.State.DISCONNECT_SENT;
            connection.disconnect(nowNs);
            run(1);
        }
        List<String> before = List.copyOf(server.events);
        server.manager.onUnreachable(CLIENT, Errno.EHOSTUNREACH, nowNs);
        assertThat(connection.state()).isEqualTo(state);
        assertThat(server.events).isEqualTo(before);
        assertThat(server.next()).isNull();
    }

    @Test
    void reportsAreNotOfAnswersThatAreRemembered() throws Exception {
        listenForLookups(1);
        client.lookUp(new byte[0]);
        run(1);
        long forgottenNs = server.manager.deadlineNs();
        server.manager.onUnreachable(CLIENT, Errno.EHOSTUNREACH, nowNs);
        assertThat(server.manager.connectionCount()).isOne();
        assertThat(server.manager.deadlineNs()).isEqualTo(forgottenNs);
    }

    @Test
    void onlyWhoseMessageWentThereHearsOfIt() {
        connect(THERE);
        runUntil(100 * MILLISECOND);
        connect(new Gid(0, 0xffff_7f00_000aL));
        isRefused = number -> number != 1;
        runUntil(900 * MILLISECOND);
        assertThat(client.events).containsExactly("unreachable ECONNREFUSED");
    }

    @Test
    void whatComesTooLateChangesNothing() {
        IbCmConnection connection = connect(THERE);
        isRefused = number -> false;
        runUntil(250 * MILLISECOND);
        connection.close(nowNs);
        client.manager.onUnreachable(nowNs);
        runUntil(LIMIT_NS);
        client.manager.onUnreachable(nowNs);
        assertThat(client.events).isEmpty();
    }

    private void receive(CmMessage message) {
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(1, message, mad);
        assertThat(client.manager.onMad(mad.flip(), new CmPeer(HERE, THERE), nowNs)).isTrue();
    }

    // ---------------------------------------------------------------- which messages begin an exchange

    /** {@return the kind of the next message, and whether it begins an exchange} */
    private static String next(Host host) {
        CmMessage message = host.next();
        return (message == null ? "nothing" : message.getClass().getSimpleName())
                + (host.manager.isBeginning() ? " begins" : "");
    }

    @Test
    void firstRequestsBeginAnExchangeAndRepetitionsDoNot() {
        assertThat(client.manager.isBeginning()).isFalse();
        connect(THERE);
        lookUp(THERE);
        assertThat(next(client)).isEqualTo("Request begins");
        assertThat(next(client)).isEqualTo("ServiceRequest begins");
        assertThat(next(client)).isEqualTo("nothing");
        client.manager.onDeadline(250 * MILLISECOND);
        assertThat(next(client)).isEqualTo("Request");
        assertThat(client.manager.isAsking()).isTrue();
        assertThat(next(client)).isEqualTo("ServiceRequest");
        assertThat(client.manager.isAsking()).isTrue();
        assertThat(next(client)).isEqualTo("nothing");
        assertThat(client.manager.isAsking()).isFalse();
    }

    @Test
    void requestForSmallerPacketsBeginsAnExchange() {
        connect(THERE);
        assertThat(next(client)).isEqualTo("Request begins");
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(1, new Reject(0, client.connection().localId(), Reject.OF_REQUEST,
                RejectReason.INVALID_MTU.code(), PrivateData.of(new byte[]{0x30}), 1,
                PrivateData.NONE), mad);
        client.manager.onMad(mad.flip(), new CmPeer(HERE, THERE), nowNs);
        assertThat(next(client)).isEqualTo("Request begins");
    }

    @Test
    void nothingElseBeginsAnExchange() throws Exception {
        listen(1);
        listenForLookups(1);
        client.connect(new ConnectionParameters());
        client.lookUp(new byte[0]);
        CmMessage request = Objects.requireNonNull(client.next());
        CmMessage service = Objects.requireNonNull(client.next());
        deliver(request, server);
        deliver(request, server);
        assertThat(next(server)).isEqualTo("MessageReceipt");
        deliver(service, server);
        server.act();
        CmMessage reply = Objects.requireNonNull(server.next());
        assertThat(server.manager.isBeginning()).isFalse();
        assertThat(next(server)).isEqualTo("ServiceReply");
        deliver(reply, client);
        assertThat(next(client)).isEqualTo("ReadyToUse");
        client.connection().disconnect(nowNs);
        assertThat(next(client)).isEqualTo("DisconnectRequest");
    }

    private void deliver(CmMessage message, Host to) {
        ByteBuffer mad = ByteBuffer.allocate(IbConnectionManager.MESSAGE_LENGTH);
        CmMessage.encode(1, message, mad);
        to.manager.onMad(mad.flip(),
                new CmPeer(to.address, to == server ? CLIENT : SERVER), nowNs);
    }
}
