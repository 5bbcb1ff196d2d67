// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;

import java.net.ServerSocket;
import java.net.Socket;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

/** Peers that keep a device waiting, by one that does not wait long. */
class PatienceTest extends IwarpStage {
    private static final long SHORT_NS = 50_000_000;
    /** A request that is sent at once is in time on a busy machine, too. */
    private static final long REQUEST_NS = 1_000_000_000;
    private static final int LONG_MS = 10_000;

    PatienceTest() throws Exception {
        super(new IwarpFamily(new IwarpPatience(REQUEST_NS, SHORT_NS, SHORT_NS,
                IwarpPatience.USUAL.progressNs(), SHORT_NS, SHORT_NS)));
    }

    // [RFC 5044 7.1.2-4]
    @Test
    void whoDoesNotAskIsLetGo() throws Exception {
        try (Socket silent = new Socket(ADDRESS, listen())) {
            assertThatItIsReset(silent);
        }
        assertThat(server.heard).isEmpty();
    }

    private static void assertThatItIsReset(Socket peer) throws Exception {
        peer.setSoTimeout(LONG_MS);
        assertThatIOException().isThrownBy(() -> peer.getInputStream().readAllBytes())
                .withMessageContaining("reset");
    }

    @Test
    void whoDoesNotReplyIsUnreachable() throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, ADDRESS)) {
            ask(silent.getLocalPort());
            client.awaitWord("unreachable ETIMEDOUT");
        }
    }

    @Test
    void whoPromisesToSpeakFirstAndDoesNotIsUnreachable() throws Exception {
        server.receive(1, 100);
        try (Socket silent = askAsInitiator(listen(), FIRST_BY_WRITE)) {
            server.connected().accept(new ConnectionParameters(), server.queuePair.number());
            server.awaitWord("unreachable ETIMEDOUT");
            assertThatItIsReset(silent);
        }
        assertThat(server.heard).containsExactly("request", "unreachable ETIMEDOUT");
        assertThat(server.await().status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
    }

    /** What was posted before it leaves first, but is not waited for without end. */
    @Test
    void whoDoesNotReadIsDisconnectedAllTheSame() throws Exception {
        endWhileThePeerDoesNotRead(() -> server.connected().disconnect());
    }

    /** On iWARP the queue pair then ends its connection as by a disconnect: there is no way back. */
    @Test
    void whoDoesNotReadDoesNotKeepAQueuePairInSqd() throws Exception {
        endWhileThePeerDoesNotRead(() -> server.queuePair
                .modify(new QueuePairAttributes().state(QueuePairState.SQD)));
    }

    private interface End {
        void run() throws Exception;
    }

    private void endWhileThePeerDoesNotRead(End end) throws Exception {
        try (Socket deaf = askAsInitiatorOfRevisionOne(listen())) {
            server.connected().accept(new ConnectionParameters(), server.queuePair.number());
            server.awaitWord("established");
            deaf.getOutputStream().write(ConnectionEndTest.EMPTY_WRITE);
            for (int i = 0; i < DEPTH; i++) {
                server.queuePair.postSend(new SendWorkRequest().id(i).send()
                        .add(server.region, 0, SIZE).set(SendFlag.SIGNALED));
            }
            end.run();
            server.awaitWord("over");
            assertThat(server.heard).containsExactly("request", "established", "disconnected",
                    "over");
            assertThatItIsReset(deaf);
        }
        int flushed = 0;
        while (server.completions.poll(server.completion)) {
            if (server.completion.status() != WorkCompletionStatus.SUCCESS) {
                flushed++;
            }
        }
        assertThat(flushed).isPositive();
    }
}
