// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.ibcm.CmMessage.MessageReceipt;
import io.rdma4j.protocol.ibcm.CmMessage.ReadyToUse;
import io.rdma4j.protocol.ibcm.CmMessage.Request;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

import static org.assertj.core.api.Assertions.assertThat;

/** What is due when, in which order, and whether it means that a message was not answered in time. */
class DeadlinesTest extends CmPair {
    /** After a request, for the look at what the system reports. */
    private static final long LOOK_NS = 250_000_000;
    private static final long PATIENCE_NS = 4096L << 18;
    private static final long TIME_WAIT_NS = 4096L << 18;
    private static final long MEMORY_NS = 4096L << 22;

    /** Lets time pass on one side until nothing is due. {@return what each deadline meant: whether a message was unanswered} */
    private List<Boolean> unanswered(Host host) {
        List<Boolean> unanswered = new ArrayList<>();
        while (host.manager.deadlineNs() < LIMIT_NS) {
            nowNs = host.manager.deadlineNs();
            unanswered.add(host.manager.onDeadline(nowNs));
        }
        return unanswered;
    }

    private static List<Boolean> times(int times, Boolean... each) {
        List<Boolean> all = new ArrayList<>();
        Collections.nCopies(times, List.of(each)).forEach(all::addAll);
        return all;
    }

    // ---------------------------------------------------------------- which messages were not answered

    /** The first of two deadlines is for the system's reports only. */
    @Test
    void requestIsUnansweredWhenItsTimeIsOver() {
        client.connect(new ConnectionParameters());
        assertThat(unanswered(client)).isEqualTo(times(16, false, true));
        assertThat(nowNs).isEqualTo(16 * PATIENCE_NS);
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
    }

    @Test
    void lookUpIsUnansweredWhenItsTimeIsOver() {
        client.lookUp(new byte[0]);
        assertThat(unanswered(client)).isEqualTo(times(16, false, true));
        assertThat(nowNs).isEqualTo(16 * PATIENCE_NS);
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
    }

    @Test
    void replyIsUnansweredEachTimeItIsNotConfirmed() throws Exception {
        isLost = message -> message instanceof ReadyToUse;
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        assertThat(unanswered(server)).isEqualTo(times(16, true));
        assertThat(server.events).endsWith("unreachable ETIMEDOUT");
    }

    @Test
    void endIsUnansweredEachTimeItIsNotConfirmedAndNotWhenTimeWaitIsOver() throws Exception {
        listen(1);
        client.connect(new ConnectionParameters());
        run(1);
        long beganNs = nowNs;
        client.connection().disconnect(nowNs);
        List<Boolean> expected = times(5, true);
        expected.add(false);
        assertThat(unanswered(client)).isEqualTo(expected);
        assertThat(nowNs).isEqualTo(beganNs + 5 * PATIENCE_NS + TIME_WAIT_NS);
        assertThat(client.events).containsExactly("reply", "disconnected", "time-wait over");
    }

    @Test
    void answerThatIsForgottenWasNotInNeedOfOne() throws Exception {
        listenForLookups(1);
        client.lookUp(new byte[0]);
        run(1);
        assertThat(server.manager.onDeadline(MEMORY_NS - 1)).isFalse();
        assertThat(server.manager.connectionCount()).isOne();
        assertThat(server.manager.deadlineNs()).isEqualTo(MEMORY_NS);
        assertThat(server.manager.onDeadline(MEMORY_NS)).isFalse();
        assertThat(server.manager.connectionCount()).isZero();
    }

    @Test
    void oneUnansweredMessageAmongOthersIsTold() {
        client.connect(new ConnectionParameters());
        assertThat(client.manager.onDeadline(LOOK_NS)).isFalse();
        // Their looks are due before, with and after the end of the first request's time.
        for (long atNs : new long[]{PATIENCE_NS - 1, PATIENCE_NS, PATIENCE_NS + 1}) {
            nowNs = atNs - LOOK_NS;
            client.lookUp(new byte[0]);
        }
        assertThat(client.manager.onDeadline(PATIENCE_NS + 1)).isTrue();
        assertThat(client.manager.onDeadline(PATIENCE_NS + 1)).isFalse();
    }

    // ---------------------------------------------------------------- deadlines of several

    @Test
    void patienceForOnePeerDelaysNoOtherRequest() {
        client.connect(new ConnectionParameters());
        Request patient = (Request) Objects.requireNonNull(client.next());
        nowNs = 1000;
        client.connect(new ConnectionParameters());
        IbCmConnection other = client.connection();
        client.receive(SERVER, 1, new MessageReceipt(77, patient.senderId(),
                MessageReceipt.OF_REQUEST, 23, PrivateData.NONE));
        assertThat(client.manager.deadlineNs()).isEqualTo(other.deadlineNs())
                .isEqualTo(nowNs + LOOK_NS);
        other.close(nowNs);
        // It is asked now and then whether it is still there.
        assertThat(client.manager.deadlineNs()).isEqualTo(nowNs + 2_000_000_000L);
    }

    @Test
    void cancelledLookUpDelaysNoOther() {
        DatagramLookup cancelled = client.lookUp(new byte[0]);
        nowNs = 1000;
        client.lookUp(new byte[0]);
        cancelled.close();
        assertThat(client.manager.deadlineNs()).isEqualTo(nowNs + LOOK_NS);
        assertThat(unanswered(client)).isEqualTo(times(16, false, true));
        assertThat(client.events).containsExactly("unreachable ETIMEDOUT");
    }

    @Test
    void requestsOfTheSameMomentAreRepeatedInTheOrderInWhichTheyWereMade() {
        List<Integer> made = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            client.connect(new ConnectionParameters());
            made.add(client.connection().localId());
        }
        while (client.next() != null) {
            // The first time.
        }
        client.manager.onDeadline(LOOK_NS);
        client.manager.onDeadline(PATIENCE_NS);
        List<Integer> repeated = new ArrayList<>();
        for (CmMessage next = client.next(); next != null; next = client.next()) {
            repeated.add(((Request) next).senderId());
        }
        assertThat(repeated).isEqualTo(made);
    }

    @Test
    void closedDeviceThatOnlyRemembersAnswersWaitsForNothing() throws Exception {
        listenForLookups(1);
        client.lookUp(new byte[0]);
        run(1);
        assertThat(server.manager.deadlineNs()).isEqualTo(MEMORY_NS);
        server.manager.closeAll(nowNs);
        assertThat(server.manager.deadlineNs()).isEqualTo(Long.MAX_VALUE);
        assertThat(server.manager.connectionCount()).isZero();
    }
}
