// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

/** Bytes through channels that block, on each software device. */
class StreamTest {
    private static final int BYTES = 20_000_000;

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void echoOfSmallMessages(Transport transport) throws Exception {
        try (Connected pair = Connected.over(transport)) {
            ByteBuffer buffer = ByteBuffer.allocateDirect(64);
            for (int i = 0; i < 2000; i++) {
                buffer.clear().putInt(0, i);
                assertThat(pair.channel().write(buffer)).isEqualTo(64);
                receive(pair.peer(), buffer.clear());
                assertThat(buffer.getInt(0)).isEqualTo(i);
                pair.peer().write(buffer.flip());
                receive(pair.channel(), buffer.clear());
            }
        }
    }

    private static void receive(SocketChannel from, ByteBuffer into) throws IOException {
        while (into.hasRemaining()) {
            assertThat(from.read(into)).isPositive();
        }
    }

    /** Such as a separator. */
    @ParameterizedTest
    @EnumSource
    void aBufferIsSentAsOftenAsItOccurs(Transport transport) throws Exception {
        try (Connected pair = Connected.over(transport)) {
            ByteBuffer comma = ByteBuffer.wrap(new byte[]{','});
            ByteBuffer[] words = {ByteBuffer.wrap(new byte[]{'a', 'b'}), comma,
                ByteBuffer.wrap(new byte[]{'c'}), comma, comma};
            assertThat(pair.channel().write(words)).isEqualTo(6);
            assertThat(words).noneMatch(ByteBuffer::hasRemaining);
            ByteBuffer received = ByteBuffer.allocate(6);
            receive(pair.peer(), received);
            assertThat(new String(received.array(), US_ASCII)).isEqualTo("ab,c,,");
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP", "RULED_TCP", "RULED_FALLBACK"})
    void bothDirectionsAtOnce(Transport transport) throws Exception {
        try (Connected pair = Connected.over(transport);
                ExecutorService threads = Executors.newCachedThreadPool()) {
            Future<?> first = threads.submit(() -> send(pair.channel(), 1));
            Future<?> second = threads.submit(() -> send(pair.peer(), 2));
            Future<?> third = threads.submit(() -> check(pair.peer(), 1));
            check(pair.channel(), 2);
            first.get();
            second.get();
            third.get();
        }
    }

    private static Void send(SocketChannel to, int seed) throws IOException {
        Random random = new Random(seed);
        byte[] bytes = new byte[100_000];
        int left = BYTES;
        while (left > 0) {
            int count = Math.min(left, 1 + random.nextInt(bytes.length));
            for (int i = 0; i < count; i++) {
                bytes[i] = (byte) (left - i);
            }
            assertThat(to.write(ByteBuffer.wrap(bytes, 0, count))).isEqualTo(count);
            left -= count;
        }
        to.shutdownOutput();
        return null;
    }

    private static Void check(SocketChannel from, int seed) throws IOException {
        Random random = new Random(-seed);
        byte[] bytes = new byte[200_000];
        int left = BYTES;
        while (true) {
            int count = from.read(ByteBuffer.wrap(bytes, 0, 1 + random.nextInt(bytes.length)));
            if (count < 0) {
                break;
            }
            for (int i = 0; i < count; i++) {
                if (bytes[i] != (byte) left--) {
                    throw new AssertionError("another byte, with " + left + " left");
                }
            }
        }
        assertThat(left).isZero();
        return null;
    }
}
