package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.protocol.ibcm.CmMessage.DisconnectRequest;
import io.rdma4j.protocol.ibcm.CmMessage.MessageReceipt;
import io.rdma4j.protocol.ibcm.CmMessage.Reject;
import io.rdma4j.protocol.ibcm.CmMessage.Reply;
import io.rdma4j.protocol.ibcm.CmMessage.Request;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceReply;
import io.rdma4j.protocol.ibcm.CmMessage.ServiceRequest;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
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
            client.manager.onDeadline(nowNs);
            send();
        }
        nowNs = timeNs;
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
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
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
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
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
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
        // Refused, refused, not refused: a second; refused three times.
        assertThat(sentAtMs).startsWith(0L, 250L, 500L, 750L, 1823L, 2073L, 2323L);
        assertThat(asked).isEqualTo(6);
    }

    @Test
    void whoeverHasSaidAnythingIsNotTakenForNobody() {
        isRefused = number -> number == 0;
        connect(THERE);
        runUntil(300 * MILLISECOND);
        receive(new MessageReceipt(77, request().senderId(), MessageReceipt.OF_REQUEST, 18,
                PrivateData.NONE));
        isRefused = number -> true;
        runUntil(15_000 * MILLISECOND);
        assertThat(asked).isOne();
        assertThat(client.events).isEmpty();
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
    void peersOfOtherMachinesAreNotAskedFor() {
        connect(SERVER);
        lookUp(SERVER);
        runUntil(LIMIT_NS);
        assertThat(asked).isZero();
        assertThat(sentAtMs).startsWith(0L, 0L, 1073L, 1073L);
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT", "unreachable ETIMEDOUT");
    }

    @Test
    void onlyWhoseMessageWentThereHearsOfIt() {
        connect(THERE);
        runUntil(100 * MILLISECOND);
        connect(new Gid(0, 0xffff_7f00_000aL));
        isRefused = number -> number != 1;
        runUntil(900 * MILLISECOND);
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
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
}
