// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.junit.jupiter.api.Test;

import java.nio.ByteOrder;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages are longer where both sides have larger buffers than librdmacm, and as long as its own where one has not. */
class LongMessagesTest {
    private static final int LARGE = 1 << 20;
    private static final int USUAL = StreamSender.USUAL;
    private static final int LONGEST = StreamSender.LONGEST;

    private final Transmission out = new Transmission();

    private static RsocketStream stream(int sendBuffer, int peerHalf) {
        return new RsocketStream(new StreamSettings(384, 384, 64, sendBuffer, 8192, 0, true),
                new RemoteRange(1 << 20, 5, 8192),
                new ConnectionData(ByteOrder.LITTLE_ENDIAN, 384, 0, new RemoteRange(0, 1, 2),
                        new RemoteRange(8 << 20, 2, peerHalf)));
    }

    /** {@return the longest message of one large write, until it had no room} */
    private int longest(RsocketStream stream) {
        int longest = 0;
        stream.startWrite();
        while (stream.writable(1) > 0) {
            int count = stream.writable(Integer.MAX_VALUE);
            assertThat(stream.write(count, false, out)).isTrue();
            assertThat(out.length()).isEqualTo(count);
            longest = Math.max(longest, count);
        }
        return longest;
    }

    @Test
    void longBetweenLargeBuffers() {
        assertThat(longest(stream(LARGE, LARGE / 2))).isEqualTo(LONGEST);
        assertThat(longest(stream(8 * LARGE, 4 * LARGE))).isEqualTo(LONGEST);
        assertThat(longest(stream(LARGE / 2, LARGE / 4))).isEqualTo(LONGEST / 2);
    }

    @Test
    void usualWherePeerOffersWhatLibrdmacmDoes() {
        // It grows: 16, 32 KiB, and then the rest of the half.
        assertThat(longest(stream(LARGE, 1 << 16))).isEqualTo(USUAL / 2);
        assertThat(longest(stream(LARGE, 1 << 17))).isEqualTo(USUAL);
    }

    @Test
    void usualFromASendBufferOfUsualSize() {
        assertThat(longest(stream(1 << 17, LARGE))).isEqualTo(USUAL);
    }

    @Test
    void messagesBecomeLongWithTheBuffers() throws RsocketException {
        RsocketStream stream = stream(1 << 17, 1 << 16);
        assertThat(longest(stream)).isEqualTo(32768);
        stream.onCredits(Message.of(Message.CREDITS, 3 + 384), new RemoteRange(1L << 30, 3, LARGE));
        stream.enlargeOutput(LARGE);
        assertThat(longest(stream)).isEqualTo(LONGEST);
    }

    @Test
    void smallWritesAreGatheredToOneThatLong() {
        RsocketStream stream = stream(LARGE, LARGE);
        for (int i = 0; i < StreamSender.FEW; i++) {
            assertThat(stream.write(100, false, out)).isTrue();
        }
        int written = 0;
        do {
            stream.startWrite();
            int count = stream.writable(8192);
            assertThat(count).isPositive();
            written += count;
            if (stream.write(count, false, out)) {
                assertThat(out.length()).isEqualTo(written);
                break;
            }
        } while (written < LONGEST);
        assertThat(out.length()).isEqualTo(LONGEST);
    }

    /** No message gets longer then, and the one that is gathered leaves. */
    @Test
    void peerMayOfferLessWhileBytesAreGathered() throws RsocketException {
        RsocketStream stream = stream(LARGE, LARGE);
        for (int i = 0; i < StreamSender.FEW; i++) {
            assertThat(stream.write(100, false, out)).isTrue();
        }
        int written = 0;
        while (written < 2 * USUAL) {
            stream.startWrite();
            assertThat(stream.write(8192, false, out)).isFalse();
            written += 8192;
        }
        stream.onCredits(Message.of(Message.CREDITS, 386), new RemoteRange(1L << 30, 3, 1 << 16));
        assertThat(stream.writable(1)).isZero();
        while (stream.pollTransmit(out) && out.content() != Transmission.Content.BUFFER) {
            stream.onSent(out.id());
        }
        assertThat(out.length()).isEqualTo(written);
        assertThat(stream.writable(1)).isOne();
    }
}
