// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.junit.jupiter.api.Test;

import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Queue;

import static org.assertj.core.api.Assertions.assertThat;

/** When a thread that waits to write is woken: not for each few bytes. */
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
        stream.write(count, out);
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
    void blockOfTransferToIsOneMessage() {
        RsocketStream stream = stream(1 << 20);
        stream.startWrite();
        assertThat(stream.writable(8192)).isEqualTo(8192);
    }
}
