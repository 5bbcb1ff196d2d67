// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.junit.jupiter.api.Test;

import java.nio.ByteOrder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Each number that a peer can lie about. */
class LyingPeerTest {
    private static final int HALF = 4096;
    private static final RemoteRange NONE = new RemoteRange(0, 0, 0);
    private static final RemoteRange MORE = new RemoteRange(9 << 20, 3, HALF);

    private final StreamSettings settings = new StreamSettings(64, 16, 64, 1 << 16, 2 * HALF, 1,
            true);
    private final RsocketStream stream = new RsocketStream(settings,
            new RemoteRange(1 << 20, 5, 2 * HALF),
            new ConnectionData(ByteOrder.LITTLE_ENDIAN, 16, 0, new RemoteRange(0, 1, 2),
                    new RemoteRange(8 << 20, 2, HALF)));
    private final Transmission out = new Transmission();

    private static int data(int count) {
        return Message.of(Message.DATA, count);
    }

    private static int credits(int upTo) {
        return Message.of(Message.CREDITS, upTo);
    }

    @Test
    void bytesBeyondTheHalfThatWasGiven() throws RsocketException {
        stream.onMessage(data(HALF - 1));
        assertRefused(data(2), "has written 2 bytes where it was given 1");
    }

    @Test
    void bytesInAHalfThatWasNotGivenYet() throws RsocketException {
        stream.onMessage(data(HALF));
        assertRefused(data(1), "has written 1 bytes where it was given 0");
    }

    @Test
    void bytesInBothHalvesAreWelcomeOnceItWasGiven() throws RsocketException {
        assertThat(stream.pollTransmit(out)).isTrue();
        assertThat(out.range()).isEqualTo(new RemoteRange((1 << 20) + HALF, 5, HALF));
        stream.onMessage(data(HALF));
        stream.onMessage(data(HALF));
        assertThat(stream.readable()).isEqualTo(2 * HALF);
        assertRefused(data(1), "where it was given 0");
    }

    @Test
    void moreMessagesThanItHadCreditsFor() throws RsocketException {
        for (int i = 0; i < 16; i++) {
            stream.onMessage(data(1));
        }
        assertRefused(data(1), "more messages than the 16");
    }

    @Test
    void creditsThatGoBack() throws RsocketException {
        write(3);
        stream.onCredits(credits(18), NONE);
        assertRefusedCredits(17, NONE, "credits up to message 17 after 18");
    }

    @Test
    void moreCreditsThanItHasReceives() {
        write(3);
        assertRefusedCredits(20, NONE, "it has 16 receives");
    }

    @Test
    void halfBeforeTheOneBeforeIsUsed() throws RsocketException {
        stream.onCredits(credits(16), MORE);
        assertRefusedCredits(16, MORE, "another half of its buffer before 4096 bytes");
    }

    @Test
    void bytesAfterTheEndOfItsOutput() throws RsocketException {
        stream.onMessage(Message.of(Message.CONTROL, Message.SHUTDOWN));
        assertRefused(data(1), "bytes after the end");
    }

    @Test
    void bytesAfterItsDisconnect() throws RsocketException {
        stream.onMessage(Message.of(Message.CONTROL, Message.DISCONNECT));
        assertRefused(data(1), "bytes after the end");
    }

    @Test
    void messagesThatDoNotExist() {
        assertRefused(Message.of(Message.CONTROL, 3), "no control message 3");
        for (int type : new int[]{1, 2, 3, 5}) {
            assertRefused(Message.of(type, 0), "no message");
        }
    }

    @Test
    void mappingWithoutRoom() {
        assertThatThrownBy(() -> stream.onMapping(1, index -> new Mapping(index, MORE)))
                .isInstanceOf(RsocketException.class)
                .hasMessageContaining("mapping 1 where there is room for 1");
    }

    @Test
    void creditsPassSixteenBits() throws RsocketException {
        for (int sequence = 0; sequence < 70_000; sequence++) {
            write(1);
            boolean isHalf = sequence % HALF == 0;
            stream.onCredits(credits(sequence + 17 & 0xffff), isHalf ? MORE : NONE);
        }
        assertThat(stream.writable(1)).isEqualTo(1);
    }

    private void write(int times) {
        for (int i = 0; i < times; i++) {
            assertThat(stream.writable(1)).isEqualTo(1);
            assertThat(stream.write(1, stream.isInline(1), out)).isTrue();
            stream.onSent(out.id());
        }
    }

    private void assertRefused(int word, String said) {
        assertThatThrownBy(() -> stream.onMessage(word)).isInstanceOf(RsocketException.class)
                .hasMessageContaining(said);
    }

    private void assertRefusedCredits(int upTo, RemoteRange range, String said) {
        assertThatThrownBy(() -> stream.onCredits(credits(upTo), range))
                .isInstanceOf(RsocketException.class).hasMessageContaining(said);
    }
}
