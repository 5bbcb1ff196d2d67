// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Each message of a connection's life lost, repeated or late, at each step, alone and all together. */
class LostMessageTest extends CmPair {
    private static final List<String> CLIENT_LIFE = List.of("reply", "disconnected",
            "time-wait over");

    static List<String> messages() {
        return List.of("Request", "Reply", "ReadyToUse", "DisconnectRequest", "DisconnectReply");
    }

    static List<Object[]> lossesOfEachMessage() {
        List<Object[]> losses = new ArrayList<>();
        for (String message : messages()) {
            for (int times = 1; times <= 4; times++) {
                losses.add(new Object[]{message, times});
            }
        }
        return losses;
    }

    /** A connection is made, stands for ten minutes and is ended by one side. */
    private void live(Host ending) throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(600_000_000_000L);
        ending.connection().disconnect(nowNs);
        settle();
    }

    private void assertLivedOnce() {
        assertThat(client.events).isEqualTo(CLIENT_LIFE);
        assertThat(server.events).containsExactly("request from port 40000", "established",
                "disconnected", "time-wait over");
        assertNothingIsLeft();
    }

    private void assertNothingIsLeft() {
        for (Host host : List.of(client, server)) {
            assertThat(host.manager.connectionCount()).isZero();
            assertThat(host.manager.deadlineNs()).isEqualTo(Long.MAX_VALUE);
        }
    }

    @ParameterizedTest
    @MethodSource("lossesOfEachMessage")
    void lossOfAnyMessageAnyNumberOfTimesBelowTheLimitIsHealed(String message, int times)
            throws Exception {
        isLost = first(message, times);
        live(client);
        assertLivedOnce();
    }

    @ParameterizedTest
    @MethodSource("lossesOfEachMessage")
    void lossIsHealedAlsoWhenTheListenerEndsTheConnection(String message, int times)
            throws Exception {
        isLost = first(message, times);
        live(server);
        assertLivedOnce();
    }

    @ParameterizedTest
    @MethodSource("messages")
    void repetitionOfAnyMessageChangesNothing(String message) throws Exception {
        isRepeated = first(message, 100);
        live(client);
        assertLivedOnce();
    }

    @ParameterizedTest
    @MethodSource("messages")
    void anyMessageMayComeLate(String message) throws Exception {
        isLate = first(message, 1);
        live(client);
        assertLivedOnce();
    }

    @Test
    void readyToUseThatComesAfterTheDisconnectRequestDoesNotReviveTheConnection() throws Exception {
        isLate = first("ReadyToUse", 1);
        listen(1);
        client.connect(new ConnectionParameters());
        carryUntilEstablishedByClient();
        client.connection().disconnect(nowNs);
        settle();
        assertThat(server.events).containsExactly("request from port 40000", "disconnected",
                "time-wait over");
        assertNothingIsLeft();
    }

    /** The client has its reply; its confirmation is on the way. */
    private void carryUntilEstablishedByClient() throws Exception {
        CmMessage request = client.next();
        assertThat(request).isNotNull();
        assertThat(server.receive(CLIENT, 1, request)).isNull();
        server.act();
        CmMessage reply = server.next();
        assertThat(reply).isNotNull();
        server.manager.onDeadline(nowNs);
        CmMessage ready = client.receive(SERVER, 1, reply);
        assertThat(ready).isInstanceOf(CmMessage.ReadyToUse.class);
    }

    @ParameterizedTest
    @MethodSource("messages")
    void copiesOfEveryMessageLongAfterTheEndAreHarmless(String message) throws Exception {
        live(client);
        List<CmMessage> old = List.copyOf(carried);
        int clientEvents = client.events.size();
        int serverEvents = server.events.size();
        server.acceptsAtOnce = false;
        for (CmMessage copy : old) {
            if (copy.getClass().getSimpleName().equals(message)
                    && !(copy instanceof CmMessage.Request)) {
                server.receive(CLIENT, 1, copy);
                client.receive(SERVER, 1, copy);
            }
        }
        settle();
        assertThat(client.events).hasSize(clientEvents);
        assertThat(server.events).hasSize(serverEvents);
        assertNothingIsLeft();
    }

    @Test
    void copyOfARequestLongAfterTheEndIsRefusedByTheRequesterWhenAccepted() throws Exception {
        live(client);
        CmMessage request = carried.getFirst();
        server.receive(CLIENT, 1, request);
        settle();
        // A listener cannot know the copy from a new request, so it accepts; no id waits for the reply.
        assertThat(server.events).endsWith("request from port 40000", "rejected 6");
        assertNothingIsLeft();
    }

    @Test
    void slowApplicationsReplyIsWaitedForWithMessageReceipts() throws Exception {
        client.acceptsAtOnce = false;
        listen(1);
        client.connect(new ConnectionParameters());
        run(50_000_000_000L);
        assertThat(server.events).containsExactly("request from port 40000");
        assertThat(carried).anyMatch(message -> message instanceof CmMessage.MessageReceipt receipt
                && receipt.received() == CmMessage.MessageReceipt.OF_REPLY);
        client.connection().establish();
        run(1);
        assertThat(server.events).endsWith("established");
    }

    @Test
    void lostMessageReceiptsCostRetriesOnly() throws Exception {
        isLost = first("MessageReceipt", 5);
        server.acceptsAtOnce = false;
        listen(1);
        client.connect(new ConnectionParameters());
        run(50_000_000_000L);
        assertThat(client.events).isEmpty();
        server.acceptsAtOnce = true;
        settle();
        assertThat(client.events).startsWith("reply");
    }

    @Test
    void rejectionThatIsLostIsFoundOutByAskingAgain() throws Exception {
        isLost = first("Reject", 2);
        client.connect(new ConnectionParameters());
        settle();
        assertThat(client.events).containsExactly("rejected 8");
        assertThat(count(CmMessage.Request.class)).isEqualTo(3);
    }

    @Test
    void rejectionOfAReplyThatIsLostIsFoundOutByReplyingAgain() throws Exception {
        client.acceptsAtOnce = false;
        isLost = first("Reject", 1);
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        client.connection().reject(RejectReason.CONSUMER_DEFINED, new byte[]{1});
        settle();
        assertThat(server.events).containsExactly("request from port 40000", "rejected 6");
        assertNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(strings = {"Reject", "MessageReceipt"})
    void repetitionAndDelayOfOtherMessagesChangeNothing(String message) throws Exception {
        for (boolean isLateNotRepeated : new boolean[]{true, false}) {
            LostMessageTest world = new LostMessageTest();
            if (isLateNotRepeated) {
                world.isLate = first(message, 100);
            } else {
                world.isRepeated = first(message, 100);
            }
            world.server.acceptsAtOnce = false;
            world.listen(1);
            world.client.connect(new ConnectionParameters());
            world.run(5_000_000_000L);
            world.server.connection().reject(RejectReason.CONSUMER_DEFINED, new byte[0]);
            world.settle();
            assertThat(world.client.events).containsExactly("rejected 28");
            world.assertNothingIsLeft();
        }
    }

    @Test
    void communicationEstablishedTakesThePlaceOfALostReadyToUse() throws Exception {
        isLost = message -> message instanceof CmMessage.ReadyToUse;
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        server.connection().communicationEstablished();
        assertThat(server.events).endsWith("established");
        assertThat(catchErrno(() -> server.connection().communicationEstablished()))
                .isEqualTo("EISCONN");
    }

    @Test
    void packetOfThePeerTakesThePlaceOfALostReadyToUse() throws Exception {
        isLost = message -> message instanceof CmMessage.ReadyToUse;
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        server.manager.onPeerReady(0x222223);
        assertThat(server.events).doesNotContain("established");
        server.manager.onPeerReady(0x222222);
        server.manager.onPeerReady(0x222222);
        assertThat(server.events).containsExactly("request from port 40000", "established");
    }

    private interface Call {
        void run() throws RdmaException;
    }

    private static String catchErrno(Call call) {
        try {
            call.run();
            return "";
        } catch (RdmaException e) {
            return e.errno().name();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 30, 60})
    void badNetworksEndInAgreementAndLeaveNothingBehind(int percent) throws Exception {
        for (int seed = 0; seed < 200; seed++) {
            LostMessageTest world = new LostMessageTest();
            Random fate = new Random(seed);
            world.isLost = message -> fate.nextInt(100) < percent;
            world.isRepeated = message -> fate.nextInt(100) < percent;
            world.isLate = message -> fate.nextInt(100) < percent;
            Host ending = fate.nextBoolean() ? world.client : world.server;
            world.listen(1);
            world.client.connect(new ConnectionParameters());
            world.run(fate.nextLong(30_000_000_000L));
            if (ending.connection != null
                    && ending.connection.state() == IbCmConnection.State.ESTABLISHED) {
                ending.connection.disconnect(world.nowNs);
            }
            world.run(200_000_000_000L);
            world.client.connection().close(world.nowNs);
            if (world.server.connection != null) {
                world.server.connection.close(world.nowNs);
            }
            world.settle();
            String what = "seed " + seed + ": " + world.client.events + ", "
                    + world.server.events;
            assertThat(world.client.events).as(what).doesNotHaveDuplicates();
            assertThat(world.server.events.stream()
                    .filter(event -> !event.startsWith("request"))).as(what)
                    .doesNotHaveDuplicates();
            if (world.server.events.contains("established")) {
                assertThat(world.client.events).as(what).contains("reply");
            }
            world.assertNothingIsLeft();
        }
    }
}
