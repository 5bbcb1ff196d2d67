// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.softnic.ContainedDefects;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** Peers that send nothing or nonsense, or do not read: they cost little, and do not affect other connections. */
class HostileStreamsTest extends IwarpStage {
    private static final int MORE_THAN_ARE_KEPT = IwarpLink.MOST_ASKING + 100;
    private static final int PATIENCE_MS = 20_000;

    HostileStreamsTest() throws Exception {}

    private static void awaitEnd(Socket socket) throws IOException {
        socket.setSoTimeout(PATIENCE_MS);
        try {
            socket.getInputStream().readAllBytes();
        } catch (IOException reset) {
            assertThat(reset).hasMessageContaining("reset");
        }
    }

    private static void close(List<Socket> sockets) throws IOException {
        for (Socket each : sockets) {
            each.close();
        }
    }

    @Test
    void silentConnectionsKeepNobodyOut() throws Exception {
        int port = listen();
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < MORE_THAN_ARE_KEPT; i++) {
                silent.add(new Socket(ADDRESS, port));
            }
            // The first of them made room for the last.
            awaitEnd(silent.getFirst());
            ask(port);
            server.awaitWord("request");
        } finally {
            close(silent);
        }
    }

    // [RFC 5044 7.1.2-2]
    @Test
    void whatIsNoRequestEndsItsOwnConnection() throws Exception {
        int port = listen();
        Random random = new Random(1);
        byte[] beginning = "MPA ID Req Frame".getBytes(StandardCharsets.US_ASCII);
        for (int i = 0; i < 200; i++) {
            byte[] bytes = new byte[beginning.length + random.nextInt(2000)];
            random.nextBytes(bytes);
            // Some begin as a request does, and go on with more private data than there can be.
            int like = random.nextInt(beginning.length + 1);
            System.arraycopy(beginning, 0, bytes, 0, like);
            if (bytes.length > 20) {
                bytes[18] = 0x7f;
            }
            try (Socket stranger = new Socket(ADDRESS, port)) {
                stranger.getOutputStream().write(bytes);
                stranger.shutdownOutput();
                awaitEnd(stranger);
            } catch (IOException reset) {
                assertThat(reset).hasMessageMatching("(?i).*(reset|broken pipe).*");
            }
        }
        assertThat(server.heard).isEmpty();
        ask(port);
        server.awaitWord("request");
    }

    @Test
    void aDefectEndsTheConnectionThatItBefallsAlone() throws Exception {
        connect();
        client.receive(1, 8);
        int port = listen((via, request, local, peer, parameters) -> {
            throw new IllegalStateException("a defect, on purpose");
        });
        ContainedDefects defects = ContainedDefects.listen();
        try (Socket peer = new Socket(ADDRESS, port)) {
            peer.getOutputStream().write(REVISION_ONE.bytes());
            awaitEnd(peer);
        } finally {
            defects.close();
        }
        assertThat(defects.isAny()).isTrue();
        server.queuePair.postSend(new SendWorkRequest().send().add(server.region, 0, 8));
        client.awaitSuccess(1);
    }

    private Socket established() throws Exception {
        Socket initiator = askAsInitiatorOfRevisionOne(listen());
        server.connected().accept(new ConnectionParameters(), server.queuePair.number());
        server.awaitWord("established");
        return initiator;
    }

    // [RFC 5040 6.1-1]
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void nonsenseOnAConnectionEndsIt(long seed) throws Exception {
        server.receive(1, 1000);
        try (Socket initiator = established()) {
            byte[] bytes = new byte[100_000];
            new Random(seed).nextBytes(bytes);
            initiator.getOutputStream().write(bytes);
            server.awaitWord("over");
        } catch (IOException reset) {
            assertThat(reset).hasMessageMatching("(?i).*(reset|broken pipe).*");
        }
        assertThat(server.await().status()).isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
    }

    /** What it is sent waits where it was posted. */
    @Test
    void aPeerThatDoesNotReadHoldsUpItsOwnConnection() throws Exception {
        int sent = 0;
        try (Socket initiator = established()) {
            for (int i = 0; i < DEPTH; i++) {
                server.queuePair.postSend(new SendWorkRequest().id(i).send()
                        .add(server.region, 0, SIZE).set(SendFlag.SIGNALED));
            }
            // The first fits into the system's buffers or does not; all of them never do.
            initiator.setReceiveBufferSize(1 << 16);
            Wait.until("the reply", () -> initiator.getInputStream().available() > 0);
            while (server.completions.poll(server.completion)) {
                sent++;
            }
            assertThat(sent).isLessThan(DEPTH);
        }
        server.awaitWord("over");
        int flushed = 0;
        while (sent + flushed < DEPTH) {
            if (server.await().status() == WorkCompletionStatus.SUCCESS) {
                sent++;
            } else {
                assertThat(server.completion.status())
                        .isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
                flushed++;
            }
        }
        assertThat(flushed).isPositive();
    }
}
