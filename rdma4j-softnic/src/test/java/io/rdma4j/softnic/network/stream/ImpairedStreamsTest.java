// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.softnic.options.Impairment;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.ThrowingConsumer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.BiPredicate;

import static org.assertj.core.api.Assertions.assertThat;

/** Byte streams that are made worse. */
class ImpairedStreamsTest {
    private static final int LENGTH = 1000;

    private static StreamNetwork network(String impairment) throws RdmaException {
        return new ImpairedStreams(new PortableStreams(),
                Impairment.parse(impairment));
    }

    private static ByteBuffer numbered() {
        ByteBuffer bytes = ByteBuffer.allocate(LENGTH);
        while (bytes.hasRemaining()) {
            bytes.put((byte) bytes.position());
        }
        return bytes.flip();
    }

    @Nested
    class Delayed extends StreamContract {
        Delayed() throws RdmaException {
            super(network("delay=2ms,jitter=1ms,seed=1"));
        }

        @Test
        void bytesAreLateAndInOrder() throws Exception {
            StreamContract.End client = connected();
            StreamContract.End server = accepted.getFirst();
            long startNs = System.nanoTime();
            for (int i = 0; i < 20; i++) {
                client.send(numbered());
            }
            until("all bytes", () -> server.received == 20 * LENGTH);
            assertThat(System.nanoTime() - startNs).isGreaterThan(2_000_000);
            byte[] arrived = server.bytes.toByteArray();
            for (int i = 0; i < arrived.length; i++) {
                assertThat(arrived[i]).isEqualTo((byte) (i % LENGTH));
            }
        }

        @Test
        void whatWasWrittenLeavesThoughTheStreamIsClosed() throws Exception {
            StreamContract.End client = connected();
            client.send(numbered());
            client.stream().close();
            until("the end", () -> accepted.getFirst().hasEnded);
            assertThat(accepted.getFirst().received).isEqualTo(LENGTH);
        }

        @Test
        void aResetForgetsWhatWasWritten() throws Exception {
            StreamContract.End client = connected();
            client.send(numbered());
            client.stream().reset();
            until("the end", () -> accepted.getFirst().hasEnded);
            assertThat(accepted.getFirst().received).isZero();
        }
    }

    /** What is written leaves long after the stream was closed, and its peer is a plain socket. */
    @Nested
    class ClosedAndLate {
        private static final long DELAY_NS = 60_000_000_000L;

        private final byte[] words = "more".getBytes(StandardCharsets.US_ASCII);

        private void play(ThrowingConsumer<Socket> peerDoes, String what,
                BiPredicate<Pair, Socket> isDone) throws Throwable {
            InetAddress here = InetAddress.getLoopbackAddress();
            try (Pair pair = new Pair("delay=" + DELAY_NS / 1_000_000_000 + "s");
                    ServerSocket listener = new ServerSocket(0, 1, here)) {
                StreamContract.End client = pair
                        .connect(new InetSocketAddress(here, listener.getLocalPort()));
                pair.until("a connection", () -> client.isConnected);
                try (Socket peer = listener.accept()) {
                    client.send(numbered());
                    client.stream().close();
                    peerDoes.accept(peer);
                    long startNs = System.nanoTime();
                    Wait.until(what, () -> isDone.test(pair, peer));
                    assertThat(System.nanoTime() - startNs).isLessThan(DELAY_NS / 2);
                }
            }
        }

        /** It is not read any more, and must not be reported again and again. */
        @Test
        void whatArrivesIsTakenAway() throws Throwable {
            play(peer -> peer.getOutputStream().write(words), "rest",
                    (pair, peer) -> pair.network.poll() && !pair.network.poll());
        }

        @Test
        void theOtherSidesEndLetsAllLeaveAtOnce() throws Throwable {
            play(peer -> {
                peer.getOutputStream().write(words);
                peer.shutdownOutput();
            }, "all bytes", (pair, peer) -> {
                pair.network.poll();
                return available(peer) == LENGTH;
            });
        }

        private static int available(Socket peer) {
            try {
                return peer.getInputStream().available();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Nested
    class Stalled extends StreamContract {
        Stalled() throws RdmaException {
            super(network("stall=0.001,seed=1"));
        }

        @Test
        void aStreamStandsStillForAWhile() throws Exception {
            StreamContract.End client = connected();
            StreamContract.End server = accepted.getFirst();
            long longestNs = 0;
            long lastNs = System.nanoTime();
            // With this seed the stall is among them.
            for (int i = 1; i <= 3000; i++) {
                int sent = i;
                client.send(ByteBuffer.allocate(1));
                until("byte " + i, () -> server.received == sent);
                longestNs = Math.max(longestNs, System.nanoTime() - lastNs);
                lastNs = System.nanoTime();
            }
            assertThat(longestNs).isGreaterThanOrEqualTo(ImpairedStreams.STALL_NS);
        }
    }

    @Nested
    class Damaged {
        @Test
        void oneBitOfAWriteIsFlipped() throws Exception {
            try (Pair pair = new Pair("corrupt=1,seed=1")) {
                StreamContract.End client = pair.connected();
                StreamContract.End server = pair.accepted.getFirst();
                client.send(numbered());
                pair.until("all bytes", () -> server.received == LENGTH);
                byte[] arrived = server.bytes.toByteArray();
                int flipped = 0;
                for (int i = 0; i < LENGTH; i++) {
                    flipped += Integer.bitCount((arrived[i] ^ i) & 0xff);
                }
                assertThat(flipped).isEqualTo(1);
            }
        }
    }

    @Nested
    class Broken {
        @Test
        void aCutStreamEndsInTheMiddleOnBothSides() throws Exception {
            endsInTheMiddle("cut=1");
        }

        @Test
        void aResetStreamBreaksOnBothSides() throws Exception {
            endsInTheMiddle("reset=1");
        }

        private static void endsInTheMiddle(String impairment) throws Exception {
            try (Pair pair = new Pair(impairment)) {
                StreamContract.End client = pair.connected();
                StreamContract.End server = pair.accepted.getFirst();
                client.send(numbered());
                pair.until("both ends", () -> client.hasEnded && server.hasEnded);
                assertThat(server.received).isLessThanOrEqualTo(LENGTH / 2);
            }
        }
    }

    /** Two ends, without the tests of the contract, which such a network does not keep. */
    private static final class Pair extends StreamContract implements AutoCloseable {
        Pair(String impairment) throws RdmaException {
            super(network(impairment));
        }

        @Override
        public void close() {
            network.close();
        }
    }
}
