// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.testkit.Wait;
import io.rdma4j.tools.endpoint.QueuePairAddress;
import io.rdma4j.tools.tcp.OutOfBandChannel;
import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** How the sides of a ping-pong part: with a peer that tells, one that hangs up as in C, one that is silent. */
class AddressExchangeTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final List<QueuePairAddress> OWN = List
            .of(new QueuePairAddress(0, 17, 5, Gid.of(InetAddress.ofLiteral("127.0.0.1"))));

    private interface Talk {
        boolean talk(AddressExchange channel) throws IOException;
    }

    /** {@return what comes of a talk over a channel of a server, and of a client} */
    private static CompletableFuture<Boolean> serve(ServerSocket listener, Duration patience,
            Talk talk) {
        return CompletableFuture.supplyAsync(() -> {
            try (AddressExchange channel = new AddressExchange(
                    OutOfBandChannel.accept(listener, patience), true)) {
                return talk.talk(channel);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static boolean exchangeAndPart(AddressExchange channel) throws IOException {
        channel.exchange(OWN, _ -> {});
        return channel.part();
    }

    @Test
    void sidesThatTellEachOtherPartAtOnce() throws Exception {
        try (ServerSocket listener = OutOfBandChannel.listen(0)) {
            int port = listener.getLocalPort();
            CompletableFuture<Boolean> server = serve(listener, LONG,
                    AddressExchangeTest::exchangeAndPart);
            try (AddressExchange client = new AddressExchange(
                    OutOfBandChannel.connect("127.0.0.1", port, LONG), true)) {
                assertThat(exchangeAndPart(client)).isTrue();
            }
            assertThat(server.get(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** As a C client: it tells its endpoint, reads that of the server, says done, and after something hangs up. */
    private static void talkAsInC(int port, Runnable then) throws IOException {
        talkAsInC(port, OWN.getFirst(), then);
    }

    private static void talkAsInC(int port, QueuePairAddress address, Runnable then)
            throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream().write(AddressText.bytes(address, false));
            socket.getInputStream().readNBytes(AddressText.LENGTH);
            socket.getOutputStream().write("done\0".getBytes(StandardCharsets.US_ASCII));
            then.run();
        }
    }

    /** Those of the C programs that are started without -g. */
    @Test
    void sideWithoutAGidIsRefusedBeforeItIsAnswered() throws Exception {
        try (ServerSocket listener = OutOfBandChannel.listen(0)) {
            int port = listener.getLocalPort();
            CompletableFuture<Boolean> server = serve(listener, LONG,
                    AddressExchangeTest::exchangeAndPart);
            QueuePairAddress address = new QueuePairAddress(0, 17, 5, Gid.ZERO);
            talkAsInC(port, address, () -> {});
            assertThatThrownBy(() -> server.get(60, TimeUnit.SECONDS)).hasMessageContaining(
                    "the peer told no GID, which RoCE needs; start it with -g of its address"
                            + " 127.0.0.1");
        }
    }

    @Test
    void onlySidesThatTellSoWarmUpTogether() throws Exception {
        for (boolean isClientReady : new boolean[]{true, false}) {
            try (ServerSocket listener = OutOfBandChannel.listen(0)) {
                int port = listener.getLocalPort();
                CompletableFuture<Boolean> server = serve(listener, LONG, channel -> {
                    channel.exchange(OWN, _ -> {});
                    return channel.isWarmUpAgreed();
                });
                try (AddressExchange client = new AddressExchange(
                        OutOfBandChannel.connect("127.0.0.1", port, LONG), isClientReady)) {
                    assertThat(client.exchange(OWN, _ -> {})).isEqualTo(OWN);
                    assertThat(client.isWarmUpAgreed()).isEqualTo(isClientReady);
                }
                assertThat(server.get(60, TimeUnit.SECONDS)).isEqualTo(isClientReady);
            }
        }
    }

    /** C reads the parts of an address as hexadecimal numbers that may have a sign. */
    @Test
    void markedAddressIsTheSameForAPeerThatKnowsNoMarks() throws Exception {
        QueuePairAddress own = new QueuePairAddress(0xc001, 0xfffffe, 0xfffff,
                OWN.getFirst().gid());
        byte[] marked = AddressText.bytes(own, true);
        byte[] plain = AddressText.bytes(own, false);
        assertThat(marked).hasSameSizeAs(plain).hasSize(AddressText.LENGTH);
        String[] parts = new String(marked, StandardCharsets.US_ASCII).split(":", -1);
        assertThat(parts).hasSize(4);
        assertThat(Integer.parseInt(parts[0], 16)).isEqualTo(own.lid());
        assertThat(Integer.parseInt(parts[1], 16)).isEqualTo(own.number());
        assertThat(Integer.parseInt(parts[2], 16)).isEqualTo(own.psn());
        assertThat(AddressText.isMarked(marked)).isTrue();
        assertThat(AddressText.isMarked(plain)).isFalse();
        assertThat(AddressText.parse(marked)).isEqualTo(own);
    }

    /** It may be compiling, for longer than this side's patience with others. */
    @Test
    void peerThatCompilesIsWaitedFor() throws Exception {
        Duration patience = Duration.ofSeconds(1);
        try (ServerSocket listener = OutOfBandChannel.listen(0)) {
            int port = listener.getLocalPort();
            CompletableFuture<Long> exchanged = new CompletableFuture<>();
            CompletableFuture<Boolean> server = serve(listener, patience, channel -> {
                channel.exchange(OWN, _ -> {});
                exchanged.complete(System.nanoTime());
                return channel.exchangeNumber(1) == 2;
            });
            try (AddressExchange client = new AddressExchange(
                    OutOfBandChannel.connect("127.0.0.1", port, LONG), true)) {
                client.exchange(OWN, _ -> {});
                long endNs = exchanged.get(60, TimeUnit.SECONDS)
                        + patience.multipliedBy(3).dividedBy(2).toNanos();
                Wait.until("the patience is over", () -> System.nanoTime() - endNs >= 0);
                assertThat(client.exchangeNumber(2)).isOne();
            }
            assertThat(server.get(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void sideOfAPeerThatHungUpIsToldSo() throws Exception {
        try (ServerSocket listener = OutOfBandChannel.listen(0)) {
            int port = listener.getLocalPort();
            CompletableFuture<Boolean> server = serve(listener, LONG,
                    AddressExchangeTest::exchangeAndPart);
            talkAsInC(port, () -> {});
            assertThat(server.get(60, TimeUnit.SECONDS)).isFalse();
        }
    }

    @Test
    void sideOfAPeerThatSaysNothingWaitsNoLongerThanItsPatience() throws Exception {
        try (ServerSocket listener = OutOfBandChannel.listen(0)) {
            int port = listener.getLocalPort();
            CompletableFuture<Boolean> server = serve(listener, Duration.ofMillis(300),
                    AddressExchangeTest::exchangeAndPart);
            talkAsInC(port, () -> assertThat(server.join()).isFalse());
        }
    }
}
