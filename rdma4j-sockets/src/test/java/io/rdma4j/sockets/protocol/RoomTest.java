// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.junit.jupiter.api.Test;

import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Queue;

import static org.assertj.core.api.Assertions.assertThat;

/** When a thread that waits to write is woken, not for each few bytes; and when more room would help. */
class RoomTest {
    private static final int CREDITS = 64;
    private static final int BUFFER = 1 << 16;

    private final Transmission out = new Transmission();
    private final Queue<Long> unacknowledged = new ArrayDeque<>();

    private static RsocketStream stream(int half) {
        return new RsocketStream(new StreamSettings(64, 64, 64, BUFFER, 8192, 0, true),
                new RemoteRange(1 << 20, 5, 8192),
                new ConnectionData(ByteOrder.LITTLE_ENDIAN, CREDITS, 0, new RemoteRange(0, 1, 2),
                        new RemoteRange(8 << 20, 2, half)));
    }

    private void write(RsocketStream stream, int count) {
        assertThat(stream.writable(count)).isEqualTo(count);
        if (!stream.write(count, stream.isInline(count), out)) {
            stream.flush();
            assertThat(stream.pollTransmit(out)).isTrue();
        }
        unacknowledged.add(out.id());
    }

    @Test
    void quarterOfTheSendBufferHasToBeFree() {
        RsocketStream stream = stream(1 << 20);
        assertThat(stream.isRoomy()).isTrue();
        for (int written = 0; written < BUFFER; written += 4096) {
            write(stream, 4096);
        }
        assertThat(stream.writable(1)).isZero();
        for (int acknowledged = 1; acknowledged <= 4; acknowledged++) {
            assertThat(stream.isRoomy()).isFalse();
            stream.onSent(unacknowledged.remove());
            assertThat(stream.writable(1)).isOne();
        }
        assertThat(stream.isRoomy()).isTrue();
    }

    @Test
    void quarterOfHalfThePeersBufferHasToBeThere() throws RsocketException {
        RsocketStream stream = stream(4096);
        write(stream, 3072);
        assertThat(stream.isRoomy()).isTrue();
        write(stream, 1);
        assertThat(stream.writable(1)).isOne();
        assertThat(stream.isRoomy()).isFalse();
        stream.onCredits(Message.of(Message.CREDITS, 1 + CREDITS),
                new RemoteRange(9 << 20, 3, 4096));
        assertThat(stream.isRoomy()).isTrue();
    }

    @Test
    void sendBufferThatIsFullAgainAndAgainIsTooSmall() throws RsocketException {
        RsocketStream stream = stream(1 << 20);
        for (int times = 0; times < 8; times++) {
            assertThat(stream.wantsLargerOutput()).isFalse();
            fillAndAcknowledge(stream);
            giveCredits(stream, times, new RemoteRange(0, 0, 0));
        }
        assertThat(stream.wantsLargerOutput()).isTrue();
        write(stream, 4096);
        stream.enlargeOutput(4 * BUFFER);
        assertThat(stream.wantsLargerOutput()).isFalse();
        assertThat(stream.isWritingLarger()).isTrue();
        assertThat(stream.writeOffset()).isZero();
        assertThat(stream.figures().unacknowledged()).isEqualTo(4096);
        // What was sent from the one before makes no room in the other.
        for (int written = 0; written < 4 * BUFFER; written += 1 << 14) {
            stream.startWrite();
            write(stream, 1 << 14);
            assertThat(out.isFromLarger()).isTrue();
        }
        stream.onSent(unacknowledged.remove());
        assertThat(stream.writable(1)).isZero();
        stream.onSent(unacknowledged.remove());
        assertThat(stream.writable(1)).isOne();
    }

    /** The peer would have no room for more. */
    @Test
    void fullSendBufferIsLargeEnoughForAFullPeer() throws RsocketException {
        RsocketStream stream = stream(BUFFER);
        for (int times = 0; times < 20; times++) {
            fillAndAcknowledge(stream);
            assertThat(stream.figures().sendRoom()).isZero();
            giveCredits(stream, times, new RemoteRange((long) times << 20, 3, BUFFER));
        }
        assertThat(stream.wantsLargerOutput()).isFalse();
    }

    private static void giveCredits(RsocketStream stream, int times, RemoteRange range)
            throws RsocketException {
        int read = (times + 1) * (BUFFER / 4096);
        stream.onCredits(Message.of(Message.CREDITS, read + CREDITS), range);
    }

    private void fillAndAcknowledge(RsocketStream stream) {
        for (int written = 0; written < BUFFER; written += 4096) {
            stream.startWrite();
            write(stream, 4096);
        }
        while (!unacknowledged.isEmpty()) {
            stream.onSent(unacknowledged.remove());
        }
    }

    private void receive(RsocketStream stream, int bytes) throws RsocketException {
        stream.onMessage(Message.of(Message.DATA, bytes));
        stream.read(bytes);
        while (stream.pollTransmit(out)) {
            stream.onSent(out.id());
        }
    }

    @Test
    void receiveBufferThatIsFullAndThenEmptyAgainAndAgainIsTooSmall() throws RsocketException {
        RsocketStream stream = stream(4096);
        assertThat(stream.pollTransmit(out)).isTrue();
        stream.onSent(out.id());
        for (int times = 0; times < 8; times++) {
            assertThat(stream.wantsLargerInput()).isFalse();
            receive(stream, 4000);
            receive(stream, 96);
            receive(stream, 4096);
            stream.onEmpty();
            stream.onEmpty();
        }
        assertThat(stream.wantsLargerInput()).isTrue();
    }

    @Test
    void requestsNeedNoLargerReceiveBuffer() throws RsocketException {
        RsocketStream stream = stream(4096);
        assertThat(stream.pollTransmit(out)).isTrue();
        stream.onSent(out.id());
        for (int times = 0; times < 20 * 16; times++) {
            receive(stream, 256);
            stream.onEmpty();
        }
        assertThat(stream.wantsLargerInput()).isFalse();
    }

    @Test
    void blockOfTransferToIsOneMessage() {
        RsocketStream stream = stream(1 << 20);
        stream.startWrite();
        assertThat(stream.writable(8192)).isEqualTo(8192);
    }
}
