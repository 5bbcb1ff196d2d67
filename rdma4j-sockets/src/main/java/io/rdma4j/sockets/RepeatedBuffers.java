// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.BitSet;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;

/**
 * Arrays of buffers that have a buffer more than once, such as a separator between others. Like the JDK's channels, ours take what it had
 * when the call began each time that it occurs: each occurrence is a view, with a position of its own.
 */
final class RepeatedBuffers {
    /** Among so few, comparing each with each takes less than a set. */
    private static final int FEW = 16;

    /** Reads into buffers, or writes from them; they move on. */
    @FunctionalInterface
    interface Transfer {
        long run(ByteBuffer[] buffers, int first, int length) throws IOException;
    }

    private RepeatedBuffers() {}

    /** {@return what a transfer returns, by buffers of which none occurs twice} */
    static long run(ByteBuffer[] buffers, int first, int length, Transfer transfer)
            throws IOException {
        if (!areIn(buffers, first, length)) {
            return transfer.run(buffers, first, length);
        }
        ByteBuffer[] views = views(buffers, first, length);
        try {
            return transfer.run(views, 0, length);
        } finally {
            follow(buffers, first, views);
        }
    }

    @SuppressWarnings("ReferenceEquality")
    private static boolean areIn(ByteBuffer[] buffers, int first, int length) {
        if (length > FEW) {
            return !isEachNew(buffers, first, length);
        }
        for (int i = first + 1; i < first + length; i++) {
            for (int j = first; j < i; j++) {
                if (buffers[i] == buffers[j]) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isEachNew(ByteBuffer[] buffers, int first, int length) {
        Set<ByteBuffer> seen = Collections.newSetFromMap(new IdentityHashMap<>(length));
        boolean isNew = true;
        for (int i = first; isNew && i < first + length; i++) {
            isNew = seen.add(buffers[i]);
        }
        return isNew;
    }

    private static ByteBuffer[] views(ByteBuffer[] buffers, int first, int length) {
        ByteBuffer[] views = new ByteBuffer[length];
        for (int i = 0; i < length; i++) {
            views[i] = buffers[first + i].duplicate();
        }
        return views;
    }

    /** Each buffer moves to where the last of its views is that has moved. */
    private static void follow(ByteBuffer[] buffers, int first, ByteBuffer[] views) {
        BitSet moved = new BitSet();
        for (int i = 0; i < views.length; i++) {
            moved.set(i, views[i].position() != buffers[first + i].position());
        }
        moved.stream().forEach(i -> buffers[first + i].position(views[i].position()));
    }
}
