// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;

import java.io.OutputStream;
import java.net.Socket;
import java.util.concurrent.FutureTask;

import static org.assertj.core.api.Assertions.assertThat;

/** Peers whose systems acknowledge everything while they themselves stand still, as a stopped process. */
class StandstillTest extends TimedStage {
    private static final long SECOND_NS = 1_000_000_000;
    private static final long PATIENCE_NS = IwarpPatience.USUAL.progressNs();
    /** More than the systems of both sides keep. */
    private static final int MUCH = 16 << 20;

    StandstillTest() throws Exception {}

    private Socket connectedInitiator() throws Exception {
        Socket initiator = askAsInitiatorOfRevisionOne(listen());
        server.connected().accept(new ConnectionParameters().initiatorDepth(4),
                server.queuePair.number());
        server.awaitWord("established");
        initiator.getOutputStream().write(ConnectionEndTest.EMPTY_WRITE);
        return initiator;
    }

    private void sendMuch() throws Exception {
        for (int i = 0; i < DEPTH; i++) {
            server.queuePair.postSend(new SendWorkRequest().id(i).send()
                    .add(server.region, 0, SIZE).set(SendFlag.SIGNALED));
        }
    }

    private WorkCompletionStatus lastOutcome(int count) throws Exception {
        for (int i = 0; i < count; i++) {
            server.await();
        }
        return server.completion.status();
    }

    private void skipUntilItIsOver() {
        Wait.until("the connection is over", () -> server.heard.contains("over"),
                () -> skip(SECOND_NS));
    }

    @Test
    void sendsToAPeerThatDoesNotReadEnd() throws Exception {
        try (Socket deaf = connectedInitiator()) {
            sendMuch();
            skipUntilItIsOver();
            assertThat(server.heard).endsWith("disconnected", "over");
            assertThat(lastOutcome(DEPTH)).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
            assertThat(deaf.isClosed()).isFalse();
        }
    }

    /** As after the process was stopped: the work may have begun just now. */
    @Test
    void aCheckThatComesLateEndsNothingByItself() throws Exception {
        try (Socket deaf = connectedInitiator()) {
            sendMuch();
            skip(3 * PATIENCE_NS);
            skip(1);
            assertThat(server.queuePair.state()).isEqualTo(QueuePairState.RTS);
            skipUntilItIsOver();
            assertThat(deaf.isClosed()).isFalse();
        }
    }

    @Test
    void aReadThatIsNotAnsweredEnds() throws Exception {
        try (Socket mute = connectedInitiator()) {
            server.queuePair.postSend(new SendWorkRequest().id(1).read(4096, 17)
                    .add(server.region, 0, 100).set(SendFlag.SIGNALED));
            // Of the request's twenty-eight bytes and more.
            mute.getInputStream().readNBytes(40);
            skip(PATIENCE_NS - SECOND_NS);
            assertThat(server.queuePair.state()).isEqualTo(QueuePairState.RTS);
            skipUntilItIsOver();
            assertThat(lastOutcome(1)).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
        }
    }

    @Test
    void aPeerThatIsSlowIsWaitedFor() throws Exception {
        try (Socket slow = connectedInitiator()) {
            sendMuch();
            for (int i = 0; i < 8; i++) {
                assertThat(slow.getInputStream().readNBytes(MUCH)).hasSize(MUCH);
                skip(PATIENCE_NS * 3 / 4);
                assertThat(server.queuePair.state()).isEqualTo(QueuePairState.RTS);
            }
        }
    }

    @Test
    void aConnectionWithoutWorkMayBeSilentForAsLongAsItLikes() throws Exception {
        try (Socket silent = connectedInitiator()) {
            server.queuePair.postSend(new SendWorkRequest().id(1).send().add(server.region, 0, 100)
                    .set(SendFlag.SIGNALED));
            server.awaitSuccess(1);
            for (int i = 0; i < 10; i++) {
                skip(PATIENCE_NS);
            }
            assertThat(server.queuePair.state()).isEqualTo(QueuePairState.RTS);
            server.queuePair.postSend(new SendWorkRequest().id(2).send().add(server.region, 0, 100)
                    .set(SendFlag.SIGNALED));
            server.awaitSuccess(2);
            assertThat(silent.getInputStream().readNBytes(100)).hasSize(100);
        }
    }

    /** What no round has tried to send makes no progress, and its connection is as well as before. */
    @Test
    void aThreadMayStandStillWhileItPosts() throws Exception {
        try (Socket reading = connectedInitiator()) {
            // More than at once, so that its progress is checked.
            sendMuch();
            Thread.ofPlatform().daemon().start(new FutureTask<>(
                    () -> reading.getInputStream().transferTo(OutputStream.nullOutputStream())));
            for (int i = 0; i < DEPTH; i++) {
                server.awaitSuccess(i);
            }
            standStillInNextPost(3, PATIENCE_NS);
            server.queuePair.postSend(new SendWorkRequest().id(DEPTH).send()
                    .add(server.region, 0, 100).set(SendFlag.SIGNALED));
            server.awaitSuccess(DEPTH);
            assertThat(server.queuePair.state()).isEqualTo(QueuePairState.RTS);
        }
    }
}
