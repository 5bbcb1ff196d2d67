// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Peers that speak the connection manager and the verbs, and are no honest rsockets. */
class HostilePeerTest {
    @ParameterizedTest
    @CsvSource({"ROCE, 0x60000000, no message 60000000",
        "ROCE, 0x80000000, gives credits up to message 0",
        "ROCE, 0x00200000, has written 2097152 bytes where it was given",
        "ROCE, 0xe0000009, no control message 9",
        "ROCE, 0xc0000000, mapping 0 where there is room for 0",
        "IWARP, 0x60000000, no message 60000000",
        "IWARP, 0x80000000, gives credits up to message 0",
        "IWARP, 0x00200000, has written 2097152 bytes where it was given",
        "IWARP, 0xe0000009, no control message 9",
        "IWARP, 0xc0000000, mapping 0 where there is room for 0"})
    void lieIsAnExceptionAndNoEnd(Transport over, String word, String said) throws Exception {
        try (ServerSocketChannel listener = over.listen();
                HandMadePeer peer = HandMadePeer.connect(over, listener, HandMadePeer.honest());
                RdmaSocketChannel channel = (RdmaSocketChannel) listener.accept()) {
            peer.say(Integer.parseUnsignedInt(word.substring(2), 16));
            assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(10)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("the peer broke the rsocket protocol: ")
                    .hasMessageContaining(said);
            assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(10)))
                    .isInstanceOf(IOException.class).hasMessageContaining(said);
        }
    }

    /** Its memory holds a page, and it has said that it holds more: RoCE refuses a WRITE beyond it, iWARP ends the stream. */
    @ParameterizedTest
    @CsvSource({"ROCE, Connection lost", "IWARP, Connection reset"})
    void bufferThatThePeerDoesNotHaveIsAnException(Transport over, String said)
            throws Exception {
        byte[] data = HandMadePeer.honest();
        ByteBuffer.wrap(data).putInt(36, 1 << 20);
        try (ServerSocketChannel listener = over.listen();
                HandMadePeer _ = HandMadePeer.connect(over, listener, data);
                RdmaSocketChannel channel = (RdmaSocketChannel) listener.accept()) {
            assertThatThrownBy(() -> Wait.until("a write fails",
                    () -> channel.write(ByteBuffer.allocate(10_000)) < 0))
                    .isInstanceOf(IOException.class).hasMessageContaining(said);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void whatIsNoRsocketIsRejectedAndOthersAreAccepted(Transport over) throws Exception {
        try (ServerSocketChannel listener = over.listen()) {
            for (byte[] data : new byte[][]{new byte[0], new byte[40]}) {
                assertThatThrownBy(() -> HandMadePeer.connect(over, listener, data))
                        .isInstanceOf(IOException.class).hasMessageContaining("rejected");
            }
            try (Connected pair = Connected.with(over, listener)) {
                pair.peer().write(ByteBuffer.allocate(3));
                assertThat(pair.channel().read(ByteBuffer.allocate(10))).isEqualTo(3);
            }
        }
    }

    /** It neither reads nor closes; the other side can still close. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void peerThatNeverReadsDoesNotHoldUpClosing(Transport over) throws Exception {
        try (Connected pair = Connected.over(over)) {
            pair.channel().configureBlocking(false);
            ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
            Wait.until("the peer's buffer is full", () -> pair.channel().write(buffer) == 0
                    && buffer.position() >= 1 << 17);
            pair.channel().configureBlocking(true);
            long startNs = System.nanoTime();
            pair.channel().close();
            assertThat(Duration.ofNanos(System.nanoTime() - startNs))
                    .isLessThan(Duration.ofSeconds(5));
        }
    }

    /** It has said that it neither sends nor receives more, and reads later what it has got. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void peerThatNeverClosesDoesNotHoldUpClosing(Transport over) throws Exception {
        try (Connected pair = Connected.over(over)) {
            pair.channel().write(ByteBuffer.allocate(7));
            pair.channel().shutdownOutput();
            pair.peer().shutdownOutput();
            assertThat(pair.channel().read(ByteBuffer.allocate(9))).isEqualTo(-1);
            long startNs = System.nanoTime();
            pair.channel().close();
            assertThat(Duration.ofNanos(System.nanoTime() - startNs))
                    .isLessThan(Duration.ofSeconds(2));
            assertThat(pair.peer().read(ByteBuffer.allocate(9))).isEqualTo(7);
            assertThat(pair.peer().read(ByteBuffer.allocate(9))).isEqualTo(-1);
        }
    }
}
