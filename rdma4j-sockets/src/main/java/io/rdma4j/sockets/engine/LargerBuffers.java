// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import java.util.concurrent.atomic.AtomicLong;

/** How much memory the buffers of all connections that have grown may have together: a quarter of the largest heap. Thread safe. */
final class LargerBuffers {
    private static final int PART_OF_HEAP = 4;

    private final AtomicLong left;

    LargerBuffers() {
        this(Runtime.getRuntime().maxMemory() / PART_OF_HEAP);
    }

    LargerBuffers(long bytes) {
        left = new AtomicLong(bytes);
    }

    /** {@return whether there were so many bytes left, which are taken then} */
    boolean take(int bytes) {
        if (left.addAndGet(-bytes) >= 0) {
            return true;
        }
        giveBack(bytes);
        return false;
    }

    void giveBack(int bytes) {
        long _ = left.addAndGet(bytes);
    }
}
