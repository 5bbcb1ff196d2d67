// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import io.rdma4j.sockets.protocol.SimulatedPair.Side;
import org.junit.jupiter.api.Test;

import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Queue;

import static org.assertj.core.api.Assertions.assertThat;

/** Bytes of small writes become one message while others are on their way, and wait for no more than that. */
class GatheringTest {
    private static final int FEW = StreamSender.FEW;
    private static final int BUFFER = 1 << 18;
    private static final long PEER = 8 << 20;
    private static final int PIECE = 1000;
    private static final int USUAL = StreamSender.USUAL;

    private final Transmission out = new Transmission();
    private final Queue<Long> onTheirWay = new ArrayDeque<>();

    private static RsocketStream stream(int credits, int half) {
        return new RsocketStream(new StreamSettings(64, 64, 64, BUFFER, 8192, 1, true),
                new RemoteRange(1 << 20, 5, 8192), new ConnectionData(ByteOrder.LITTLE_ENDIAN,
                        credits, 1, new RemoteRange(0, 1, 2), new RemoteRange(PEER, 2, half)));
    }

    /** {@return a stream on whose way are so many messages that it gathers, and nothing else is due} */
    private RsocketStream busy(int credits, int half) {
        RsocketStream stream = stream(credits, half);
        assertThat(stream.pollTransmit(out)).as("the credits of the second half").isTrue();
        stream.onSent(out.id());
        for (int i = 0; i < FEW; i++) {
            assertThat(write(stream, PIECE)).isTrue();
        }
        return stream;
    }

    /** {@return whether they have left} */
    private boolean write(RsocketStream stream, int count) {
        stream.startWrite();
        assertThat(stream.writable(count)).isEqualTo(count);
        boolean hasLeft = stream.write(count, stream.isInline(count), out);
        if (hasLeft) {
            onTheirWay.add(out.id());
        }
        return hasLeft;
    }

    private void assertMessage(int length, long place) {
        assertThat(out.content()).isEqualTo(Transmission.Content.BUFFER);
        assertThat(out.word()).isEqualTo(Message.of(Message.DATA, length));
        assertThat(out.length()).isEqualTo(length);
        assertThat(out.offset()).isEqualTo((int) (place % BUFFER));
        assertThat(out.remoteAddress()).isEqualTo(PEER + place);
    }

    @Test
    void firstWritesLeaveAtOnce() {
        RsocketStream stream = busy(64, 1 << 20);
        assertThat(stream.isAboutToGather()).isTrue();
        assertThat(write(stream, PIECE)).isFalse();
        assertThat(stream.isGathering()).isTrue();
        assertThat(stream.isAboutToGather()).isFalse();
    }

    @Test
    void whatIsGatheredLeavesAsOneMessageWhenOneHasCompleted() {
        RsocketStream stream = busy(64, 1 << 20);
        for (int i = 0; i < 5; i++) {
            assertThat(stream.isInline(1)).isFalse();
            assertThat(write(stream, 1)).isFalse();
            assertThat(stream.pollTransmit(out)).isFalse();
        }
        assertThat(stream.figures().unacknowledged()).isEqualTo(FEW * PIECE + 5);
        stream.onSent(onTheirWay.remove());
        assertThat(stream.pollTransmit(out)).isTrue();
        assertMessage(5, FEW * PIECE);
        assertThat(stream.pollTransmit(out)).isFalse();
        assertThat(stream.figures().sentBytes()).isEqualTo(FEW * PIECE + 5);
        stream.onSent(out.id());
        stream.onSent(onTheirWay.remove());
        assertThat(stream.figures().unacknowledged()).isEqualTo((FEW - 2) * PIECE);
    }

    @Test
    void aWholeMessageWaitsForNothing() {
        RsocketStream stream = busy(64, 1 << 20);
        int gathered = 0;
        while (!write(stream, Math.min(8192, USUAL - gathered))) {
            gathered += 8192;
        }
        assertMessage(USUAL, FEW * PIECE);
        assertThat(stream.isGathering()).isFalse();
    }

    @Test
    void partOfALargeWriteWaitsForNothing() {
        RsocketStream stream = busy(64, 1 << 20);
        assertThat(write(stream, PIECE)).isFalse();
        assertThat(write(stream, 16384)).isTrue();
        assertMessage(PIECE + 16384, FEW * PIECE);
    }

    @Test
    void messageEndsWhereThePeersHalfEnds() {
        RsocketStream stream = busy(64, FEW * PIECE + 150);
        assertThat(write(stream, 100)).isFalse();
        assertThat(stream.writable(100)).isEqualTo(50);
        assertThat(write(stream, 50)).isTrue();
        assertMessage(150, FEW * PIECE);
    }

    @Test
    void whatTakesTheLastCreditLeavesAtOnce() {
        RsocketStream stream = busy(FEW + 2, 1 << 20);
        for (int gathered = 0; gathered < USUAL - 8192; gathered += 8192) {
            assertThat(write(stream, 8192)).isFalse();
        }
        assertThat(write(stream, 8192)).isTrue();
        assertThat(write(stream, PIECE)).isTrue();
        assertThat(stream.writable(1)).isZero();
    }

    @Test
    void whatFillsTheSendBufferLeavesAtOnce() {
        RsocketStream stream = busy(64, 1 << 20);
        int left = BUFFER - FEW * PIECE;
        while (left > 16384) {
            write(stream, 16384);
            left -= 16384;
        }
        assertThat(write(stream, left - 100)).isTrue();
        assertThat(stream.writable(1)).isZero();
    }

    @Test
    void whatIsGatheredLeavesBeforeTheEnd() {
        RsocketStream stream = busy(64, 1 << 20);
        write(stream, PIECE);
        stream.shutdownOutput();
        assertThat(stream.isDrained()).isFalse();
        assertThat(stream.pollTransmit(out)).isTrue();
        assertMessage(PIECE, FEW * PIECE);
        assertThat(stream.pollTransmit(out)).isTrue();
        assertThat(out.word()).isEqualTo(Message.of(Message.CONTROL, Message.SHUTDOWN));
    }

    @Test
    void whatIsGatheredLeavesBeforeDisconnect() {
        RsocketStream stream = busy(64, 1 << 20);
        write(stream, PIECE);
        stream.disconnect();
        assertThat(stream.pollTransmit(out)).isTrue();
        assertMessage(PIECE, FEW * PIECE);
        assertThat(stream.pollTransmit(out)).isTrue();
        assertThat(out.word()).isEqualTo(Message.of(Message.CONTROL, Message.DISCONNECT));
    }

    @Test
    void whatIsGatheredIsDroppedWhenThePeerHasGone() throws RsocketException {
        RsocketStream stream = busy(64, 1 << 20);
        write(stream, PIECE);
        stream.onMessage(Message.of(Message.CONTROL, Message.DISCONNECT));
        assertThat(stream.pollTransmit(out)).isFalse();
        while (!onTheirWay.isEmpty()) {
            stream.onSent(onTheirWay.remove());
        }
        assertThat(stream.isDrained()).isTrue();
    }

    @Test
    void whatIsGatheredLeavesBeforeWritesToMappings() throws RsocketException {
        RsocketStream stream = busy(64, 1 << 20);
        Mapping to = new Mapping(0, new RemoteRange(1, 3, 4096));
        stream.onMapping(0, index -> to);
        write(stream, PIECE);
        assertThat(stream.mappedWritable(to, 0, 10)).isZero();
        stream.flush();
        assertThat(stream.writable(1)).isZero();
        assertThat(stream.pollTransmit(out)).isTrue();
        assertMessage(PIECE, FEW * PIECE);
        assertThat(stream.mappedWritable(to, 0, 10)).isEqualTo(10);
    }

    @Test
    void whatIsGatheredLeavesBeforeAMapping() {
        RsocketStream stream = busy(64, 1 << 20);
        write(stream, PIECE);
        stream.map(new Mapping(0, new RemoteRange(1, 3, 4096)));
        assertThat(stream.pollTransmit(out)).isTrue();
        assertMessage(PIECE, FEW * PIECE);
        assertThat(stream.pollTransmit(out)).isTrue();
        assertThat(out.content()).isEqualTo(Transmission.Content.MAPPING);
    }

    /** Another thread maps while the bytes are copied that were to be sent inline. */
    @Test
    void mappingThatTakesTheLastCreditLetsInlineBytesBeGathered() throws RsocketException {
        RsocketStream stream = stream(1, 1 << 20);
        assertThat(stream.pollTransmit(out)).as("the credits of the second half").isTrue();
        assertThat(stream.writable(10)).isEqualTo(10);
        assertThat(stream.isInline(10)).isTrue();
        stream.map(new Mapping(0, new RemoteRange(1, 3, 4096)));
        assertThat(stream.pollTransmit(out)).isTrue();
        assertThat(out.content()).isEqualTo(Transmission.Content.MAPPING);
        assertThat(stream.isInline(10)).isFalse();
        assertThat(stream.write(10, false, out)).isFalse();
        assertThat(stream.pollTransmit(out)).isFalse();
        assertThat(stream.figures().sendCredits()).isZero();
        stream.onCredits(Message.of(Message.CREDITS, 2), new RemoteRange(0, 0, 0));
        assertThat(stream.pollTransmit(out)).isTrue();
        assertMessage(10, 0);
    }

    /** The buffer that it is gathered in has to be sent from first. */
    @Test
    void bufferGrowsWhenNothingIsGathered() {
        RsocketStream stream = busy(384, 1 << 24);
        Queue<Long> all = onTheirWay;
        for (int times = 0; times < 8; times++) {
            while (stream.writable(1) > 0) {
                stream.startWrite();
                write(stream, stream.writable(16384));
            }
            assertThat(stream.isGathering()).isFalse();
            while (all.size() > (times < 7 ? 0 : FEW)) {
                stream.onSent(all.remove());
            }
        }
        assertThat(stream.wantsLargerOutput()).isTrue();
        assertThat(write(stream, PIECE)).isFalse();
        assertThat(stream.wantsLargerOutput()).isFalse();
    }

    /** A reader sees as many bytes as before, in far fewer messages. */
    @Test
    void manySmallWritesAreFewMessages() throws RsocketException {
        StreamSettings settings = new StreamSettings(384, 384, 64, 1 << 17, 1 << 17, 0, true);
        SimulatedPair pair = new SimulatedPair(settings, settings);
        Side writer = pair.first;
        int written = 0;
        for (int i = 0; i < 600; i++) {
            int count = writer.write(100);
            written += count;
        }
        pair.settle(true);
        assertThat(pair.second.bytesRead).isEqualTo(written).isEqualTo(60_000);
        assertThat(writer.messagesSent).isEqualTo(FEW + 1);
    }
}
