// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.iwarp.wire.MpaFrame;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** How connections end: what arrives of what was sent, and that no peer puts the end off. */
class ConnectionEndTest extends IwarpStage {
    /** As much as is given to the system at once. */
    private static final int MESSAGE = 1 << 20;
    private static final int PATIENCE_MS = 20_000;
    /** A WRITE of no bytes. */
    static final byte[] EMPTY_WRITE = {0, 14, (byte) 0xc1, 0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0};
    private static final int SEND = 3;

    private int flushed;
    private boolean isClosed;

    ConnectionEndTest() throws Exception {}

    @AfterEach
    @Override
    void close() throws RdmaException {
        if (!isClosed) {
            isClosed = true;
            super.close();
        }
    }

    /** {@return an initiator that has read the reply and nothing more} */
    private Socket established() throws Exception {
        Socket initiator = askAsInitiatorOfRevisionOne(listen());
        server.connected().accept(new ConnectionParameters(), server.queuePair.number());
        assertThat(initiator.getInputStream().readNBytes(MpaFrame.HEADER_LENGTH)).hasSize(20);
        initiator.getOutputStream().write(EMPTY_WRITE);
        server.awaitWord("established");
        initiator.setSoTimeout(PATIENCE_MS);
        return initiator;
    }

    /** Sends more than this side's system and the peer's take. {@return how many messages have completed so far} */
    private int sendUntilFull() throws Exception {
        for (int i = 0; i < DEPTH; i++) {
            server.queuePair.postSend(new SendWorkRequest().id(i).send()
                    .add(server.region, 0, MESSAGE).set(SendFlag.SIGNALED));
        }
        server.await();
        int completed = 1 + successes();
        assertThat(completed).isLessThan(DEPTH);
        return completed;
    }

    /** {@return how many more have completed with success} Others are flushed, and counted as well. */
    private int successes() throws RdmaException {
        int successes = 0;
        while (server.completions.poll(server.completion)) {
            if (server.completion.status() == WorkCompletionStatus.SUCCESS) {
                successes++;
            } else {
                assertThat(server.completion.status())
                        .isEqualTo(WorkCompletionStatus.WORK_REQUEST_FLUSHED);
                flushed++;
            }
        }
        return successes;
    }

    /** {@return how many whole SENDs arrive} The stream ends behind a whole unit. */
    private static int messagesOf(Socket peer) throws IOException {
        DataInputStream units = new DataInputStream(peer.getInputStream());
        int messages = 0;
        while (true) {
            int length;
            try {
                length = units.readUnsignedShort();
            } catch (EOFException end) {
                return messages;
            }
            byte[] rest = units.readNBytes((length + 2 + 3) / 4 * 4 - 2 + 4);
            assertThat(rest).hasSize((length + 2 + 3) / 4 * 4 - 2 + 4);
            boolean isLast = (rest[0] & 0x40) != 0;
            if (isLast && (rest[1] & 0xf) == SEND) {
                messages++;
            }
        }
    }

    private static void move(Side side, QueuePairState state) throws RdmaException {
        side.queuePair.modify(new QueuePairAttributes().state(state));
    }

    // ---------------------------------------------------------------- peers that do not read

    /** As an id does that is disconnected. */
    @Test
    void aQueuePairThatFailsEndsThoughThePeerDoesNotRead() throws Exception {
        try (Socket initiator = established()) {
            int completed = sendUntilFull();
            move(server, QueuePairState.ERR);
            server.awaitWord("over");
            assertThat(server.heard).endsWith("disconnected", "over");
            completed += successes();
            assertThat(flushed).isPositive().isEqualTo(DEPTH - completed);
            assertThat(messagesOf(initiator)).isEqualTo(completed);
        }
    }

    // ---------------------------------------------------------------- what was sent arrives

    @Test
    void whatHasCompletedArrivesThoughTheQueuePairIsClosed() throws Exception {
        try (Socket initiator = established()) {
            int completed = sendUntilFull();
            server.queuePair.close();
            // A connection with bytes that nobody reads any more is reset by a system that is let go of it.
            initiator.getOutputStream().write(EMPTY_WRITE);
            assertThat(messagesOf(initiator)).isBetween(completed, DEPTH - 1);
        }
        assertThat(server.heard).endsWith("disconnected", "over");
    }

    @Test
    void whatHasCompletedArrivesThoughTheDeviceIsClosed() throws Exception {
        closeWhileSending(false);
    }

    /** As of an executor that is shut down. */
    @Test
    void whatHasCompletedArrivesThoughAnInterruptedThreadClosesTheDevice() throws Exception {
        closeWhileSending(true);
    }

    private void closeWhileSending(boolean isInterrupted) throws Exception {
        try (Socket initiator = established()) {
            int completed = sendUntilFull();
            CompletableFuture<Integer> arrived = CompletableFuture.supplyAsync(() -> {
                try (initiator) {
                    initiator.getOutputStream().write(EMPTY_WRITE);
                    return messagesOf(initiator);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
            close();
            assertThat(Thread.interrupted()).isEqualTo(isInterrupted);
            assertThat(arrived.get(PATIENCE_MS, TimeUnit.MILLISECONDS)).isGreaterThanOrEqualTo(
                    completed);
        }
    }

    // ---------------------------------------------------------------- a queue pair that is used again

    @Test
    void aQueuePairThatIsResetLetsGoOfItsConnection() throws Exception {
        connect();
        server.receive(7, MESSAGE);
        client.receive(8, MESSAGE);
        client.queuePair.postSend(new SendWorkRequest().id(1).send()
                .add(client.region, 0, MESSAGE).set(SendFlag.SIGNALED));
        client.awaitSuccess(1);
        move(client, QueuePairState.RESET);
        assertThat(client.queuePair.query().state()).isEqualTo(QueuePairState.RESET);
        server.awaitSuccess(7);
        server.awaitWord("over");
        assertThat(client.heard).containsExactly("established", "disconnected", "over");
        // What was outstanding is forgotten, as verbs have it.
        assertThat(client.completions.poll(client.completion)).isFalse();
    }

    @Test
    void aQueuePairThatWasResetCanBeConnectedAgain() throws Exception {
        connect();
        for (Side side : new Side[]{client, server}) {
            move(side, QueuePairState.RESET);
            side.awaitWord("over");
            context.bringUp(ADDRESS).applyTo(side.queuePair);
            side.heard.clear();
        }
        connectAgain();
        server.receive(7, 100);
        client.queuePair.postSend(new SendWorkRequest().id(2).send().add(client.region, 0, 100)
                .set(SendFlag.SIGNALED));
        client.awaitSuccess(2);
        server.awaitSuccess(7);
    }

    private void connectAgain() throws Exception {
        Objects.requireNonNull(listener).close();
        connect();
    }

    /** Requests that the peer has no room for do not come to it later, nor do they complete. */
    @Test
    void aResetForgetsWhatHasNotBeenSent() throws Exception {
        try (Socket initiator = established()) {
            int completed = sendUntilFull();
            move(server, QueuePairState.RESET);
            server.awaitWord("over");
            completed += successes();
            assertThat(flushed).isZero();
            assertThat(messagesOf(initiator)).isBetween(completed, DEPTH - 1);
        }
    }
}
