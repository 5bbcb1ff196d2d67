// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.WorkCompletion;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

import java.io.IOException;
import java.net.InetAddress;
import java.util.EnumSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** The exchange of a ping-pong, with a peer that leaves. */
class PingPongLoopTest {
    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    private static final Traffic ONE_CONNECTION = new Traffic(QueuePairType.RC, 1, false, 64,
            Mtu.MTU_1024,
            EnumSet.noneOf(Feature.class));

    /** Sleeps: until the retries are over it takes seconds. */
    private final PingPongOptions options = CommandLine.populateCommand(new PingPongOptions(),
            "-n", "1", "-e", "-d", "roce_lo");
    private final PingPongOptions three = CommandLine.populateCommand(new PingPongOptions(), "-n",
            "3", "-d", "roce_lo", "--patience", "60");

    private CompletableFuture<String> play(PingPongSide side, boolean isClient) throws IOException {
        return play(side, isClient, options);
    }

    private static CompletableFuture<String> play(PingPongSide side, boolean isClient,
            PingPongOptions options) throws IOException {
        PingPongLoop loop = new PingPongLoop(side, ONE_CONNECTION, options, new ReceiveTimes(0));
        loop.prepare();
        return CompletableFuture.supplyAsync(() -> {
            try {
                loop.play(isClient, options.iterations());
                return "played";
            } catch (IOException e) {
                return String.valueOf(e.getMessage());
            }
        });
    }

    private static PingPongSide side(DeviceContext context, PingPongOptions options)
            throws IOException {
        return new PingPongSide(options.localPort(context, LOOPBACK), options, ONE_CONNECTION);
    }

    private static void awaitSent(PingPongSide side) throws IOException {
        WorkCompletion[] batch = WorkCompletion.array(1);
        Wait.until("the message is sent", () -> side.completions().poll(batch) > 0);
        Completions.requireSuccess(batch[0]);
    }

    /** It sends its message, and is gone before it can acknowledge the answer. */
    @Test
    void serverWhosePeerLeavesBeforeItsLastAcknowledgementSaysSo() throws Exception {
        try (DeviceContext context = options.open(LOOPBACK);
                PingPongSide server = side(context, options)) {
            CompletableFuture<String> said;
            try (PingPongSide client = side(context, options)) {
                client.connect(server.addresses());
                server.connect(client.addresses());
                said = play(server, false);
                client.postSend(0);
                awaitSent(client);
            }
            assertThat(said.get(60, TimeUnit.SECONDS))
                    .startsWith("all 1 messages came, but the last"
                            + " of this side was not acknowledged: the peer has left");
        }
    }

    /** To the client it looks as if the acknowledgement of its only message were lost: the answer has come. */
    @Test
    void clientWhoseAnswersHaveAllComeHasFinished() throws Exception {
        try (DeviceContext context = options.open(LOOPBACK);
                PingPongSide client = side(context, options)) {
            CompletableFuture<String> said;
            try (PingPongSide server = side(context, options)) {
                client.connect(server.addresses());
                server.connect(client.addresses());
                // No receive is posted here: the client's message is not acknowledged.
                server.postSend(0);
                said = play(client, true);
                awaitSent(server);
            }
            assertThat(said.get(60, TimeUnit.SECONDS)).isEqualTo("played");
        }
    }

    @Test
    void clientOfAPeerThatTalksWithoutListeningHasNotFinished() throws Exception {
        try (DeviceContext context = options.open(LOOPBACK);
                PingPongSide client = side(context, three)) {
            CompletableFuture<String> said;
            try (PingPongSide server = side(context, options)) {
                client.connect(server.addresses());
                server.connect(client.addresses());
                said = play(client, true, three);
                for (int i = 0; i < 3; i++) {
                    server.postSend(0);
                    awaitSent(server);
                }
            }
            assertThat(said.get(60, TimeUnit.SECONDS)).startsWith("all 3 messages came, but");
        }
    }
}
