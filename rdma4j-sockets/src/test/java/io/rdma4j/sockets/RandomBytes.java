// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The bytes of one direction of a connection: the sender takes them in order, the receiver compares. One thread takes, one compares.
 */
final class RandomBytes {
    /** A prime, so that bytes that are shifted by the size of a buffer are others. */
    private static final int PERIOD = 65_521;
    private static final int MOST = 1 << 17;

    private final byte[] pattern = new byte[PERIOD + MOST];
    private final byte[] seen = new byte[MOST];
    private final AtomicLong sent = new AtomicLong();
    private final AtomicLong received = new AtomicLong();

    RandomBytes(long seed) {
        byte[] period = new byte[PERIOD];
        new Random(seed).nextBytes(period);
        for (int at = 0; at < pattern.length; at += PERIOD) {
            System.arraycopy(period, 0, pattern, at, Math.min(PERIOD, pattern.length - at));
        }
    }

    long sent() {
        return sent.get();
    }

    long received() {
        return received.get();
    }

    /** Fills the buffers with what comes next. */
    void fill(ByteBuffer[] buffers) {
        long at = sent.get();
        for (ByteBuffer each : buffers) {
            int count = each.remaining();
            each.put(each.position(), pattern, (int) (at % PERIOD), count);
            at += count;
        }
    }

    void onSent(int count) {
        sent.addAndGet(count);
    }

    /** Compares the bytes between the marked beginning of a buffer and its position. */
    void onReceived(ByteBuffer buffer, int beginning) {
        int count = buffer.position() - beginning;
        buffer.get(beginning, seen, 0, count);
        int from = (int) (received.get() % PERIOD);
        int differs = Arrays.mismatch(seen, 0, count, pattern, from, from + count);
        assertThat(differs).as("place of the first other byte among %s after %s", count, received())
                .isEqualTo(-1);
        received.addAndGet(count);
    }
}
