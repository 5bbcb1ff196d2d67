// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.ibcm.CmMessage.MessageReceipt;
import io.rdma4j.protocol.ibcm.CmMessage.Reject;
import io.rdma4j.protocol.ibcm.CmMessage.Reply;
import io.rdma4j.protocol.ibcm.CmMessage.Request;
import io.rdma4j.verbs.Mtu;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What is told of a request that brings no sign of life, and how it ends early. */
class SilentPeerTest extends CmPair {
    private static final long SECOND = 1_000_000_000L;

    private final List<Long> silentAtMs = new ArrayList<>();

    @BeforeEach
    void noteSilence() {
        client.onSilence = () -> silentAtMs.add(nowNs / 1_000_000);
    }

    private void connect() {
        client.connect(new ConnectionParameters());
    }

    @Test
    void silenceIsToldOnceAfterFourSeconds() throws Exception {
        isLost = message -> true;
        connect();
        run(4 * SECOND);
        assertThat(silentAtMs).isEmpty();
        settle();
        assertThat(silentAtMs).containsExactly(4294L);
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
    }

    @Test
    void peerThatIsOnlySilentIsWaitedForAsLongAsBefore() throws Exception {
        isLost = message -> true;
        connect();
        run(17 * SECOND);
        assertThat(client.events).isEmpty();
        // Seventeen requests would be one for the silence.
        assertThat(count(Request.class)).isEqualTo(16);
    }

    @Test
    void slowPeerThatAnswersAfterTheSilenceIsConnectedTo() throws Exception {
        listen(1);
        isLost = message -> nowNs < 6 * SECOND;
        connect();
        run(10 * SECOND);
        assertThat(silentAtMs).hasSize(1);
        assertThat(client.events).containsExactly("reply");
        assertThat(server.events).endsWith("established");
    }

    @Test
    void nothingIsToldOfAPeerThatAnswersOrAsksForTime() throws Exception {
        listen(1);
        server.acceptsAtOnce = false;
        connect();
        run(15 * SECOND);
        assertThat(count(MessageReceipt.class)).isPositive();
        assertThat(silentAtMs).isEmpty();
    }

    @Test
    void nothingIsToldOfAPeerThatWasHeardBeforeItFellSilent() throws Exception {
        listen(1);
        server.acceptsAtOnce = false;
        isLost = message -> nowNs > 3 * SECOND;
        connect();
        run(60 * SECOND);
        assertThat(silentAtMs).isEmpty();
    }

    @Test
    void nothingIsToldOfAPeerThatAsksForSmallerPackets() throws Exception {
        listen(1);
        server.largestMtu = Mtu.MTU_1024;
        isLost = message -> count(Reject.class) > 0 && !(message instanceof Reject);
        connect();
        settle();
        assertThat(silentAtMs).isEmpty();
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
    }

    @Test
    void nothingIsToldOfARequestThatWasClosed() throws Exception {
        isLost = message -> true;
        connect();
        run(2 * SECOND);
        client.connection().close(nowNs);
        settle();
        assertThat(silentAtMs).isEmpty();
    }

    @Test
    void requestThatIsGivenUpInSilenceIsUnreachableAndWithdrawn() throws Exception {
        client.onSilence = () -> client.connection().giveUpUnanswered(nowNs);
        isLost = message -> true;
        connect();
        run(5 * SECOND);
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
        assertThat(carried.getLast()).isInstanceOf(Reject.class);
        assertThat(client.manager.connectionCount()).isZero();
        assertThat(client.manager.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    /** Whether the application has answered the reply or not. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void givingUpComesTooLateOnceThePeerHasReplied(boolean acceptsAtOnce) throws Exception {
        client.acceptsAtOnce = acceptsAtOnce;
        listen(1);
        connect();
        run(1);
        int before = carried.size();
        client.connection().giveUpUnanswered(nowNs);
        assertThat(client.connection().state()).isEqualTo(acceptsAtOnce
                ? IbCmConnection.State.ESTABLISHED
                : IbCmConnection.State.REPLY_RECEIVED);
        assertThat(client.next()).isNull();
        assertThat(carried).hasSize(before);
        assertThat(client.events).containsExactly("reply");
    }

    @Test
    void givingUpComesTooLateOnceThePeerWasHeard() throws Exception {
        listen(1);
        server.acceptsAtOnce = false;
        connect();
        run(3 * SECOND);
        client.connection().giveUpUnanswered(nowNs);
        assertThat(client.events).isEmpty();
        server.acceptsAtOnce = true;
        run(5 * SECOND);
        client.connection().giveUpUnanswered(nowNs);
        assertThat(count(Reply.class)).isPositive();
        assertThat(client.events).containsExactly("reply");
    }
}
