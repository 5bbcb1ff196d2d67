// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.testkit.Wait;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** What a channel can do when its peer has closed: as over TCP, it learns by its second write that nobody is there. */
@Timeout(60)
class ClosedPeerTest {
    private static final String WORDS = "idle, bye";

    private static Connected withClosedPeer(Transport transport) throws Exception {
        Connected pair = Connected.over(transport);
        pair.peer().write(ByteBuffer.wrap(WORDS.getBytes(StandardCharsets.US_ASCII)));
        pair.peer().close();
        return pair;
    }

    private static ByteBuffer message() {
        return ByteBuffer.allocate(100_000);
    }

    private static void failsInTheEnd(Connected pair) {
        assertThatThrownBy(() -> Wait.until("a write fails", () -> {
            pair.channel().write(ByteBuffer.allocate(1));
            return false;
        })).isInstanceOf(IOException.class).hasMessageContaining("Broken pipe");
    }

    private static String words(Connected pair) throws IOException {
        ByteBuffer into = ByteBuffer.allocate(WORDS.length());
        while (into.hasRemaining()) {
            assertThat(pair.channel().read(into)).isPositive();
        }
        return StandardCharsets.US_ASCII.decode(into.flip()).toString();
    }

    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP", "RULED_RDMA", "RULED_TCP"})
    void whoHasSeenTheEndWritesOnceInVain(Transport transport) throws Exception {
        try (Connected pair = withClosedPeer(transport)) {
            assertThat(words(pair)).isEqualTo(WORDS);
            assertThat(pair.channel().read(message())).isEqualTo(-1);
            assertThat(pair.channel().write(ByteBuffer.allocate(0))).isZero();
            ByteBuffer[] gathered = {ByteBuffer.allocate(3), message(), ByteBuffer.allocate(1)};
            assertThat(pair.channel().write(gathered, 1, 1)).isEqualTo(100_000);
            assertThat(gathered[0].remaining()).isEqualTo(3);
            assertThat(gathered[1].remaining()).isZero();
            assertThat(gathered[2].remaining()).isOne();
            failsInTheEnd(pair);
        }
    }

    /** What the peer has said is there after the failure. */
    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP", "RULED_RDMA", "RULED_TCP"})
    void whoWritesFirstReadsWhatThePeerHasSaid(Transport transport) throws Exception {
        try (Connected pair = withClosedPeer(transport)) {
            assertThat(pair.channel().write(ByteBuffer.allocate(5))).isEqualTo(5);
            failsInTheEnd(pair);
            assertThat(words(pair)).isEqualTo(WORDS);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"TCP", "ROCE", "IWARP", "RULED_RDMA", "RULED_TCP"})
    void whoHasEndedItsOutputWritesNothing(Transport transport) throws Exception {
        try (Connected pair = withClosedPeer(transport)) {
            assertThat(words(pair)).isEqualTo(WORDS);
            assertThat(pair.channel().read(message())).isEqualTo(-1);
            pair.channel().shutdownOutput();
            assertThatThrownBy(() -> pair.channel().write(message()))
                    .isInstanceOf(IOException.class);
        }
    }
}
