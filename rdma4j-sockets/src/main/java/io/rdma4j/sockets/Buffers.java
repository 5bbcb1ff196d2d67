// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.nio.ByteBuffer;

/** What an array of buffers has room for, and what is left in it. */
final class Buffers {
    private Buffers() {}

    /** {@return how many bytes can be put into them} */
    static long room(ByteBuffer[] buffers, int offset, int length) {
        for (int i = offset; i < offset + length; i++) {
            if (buffers[i].isReadOnly()) {
                throw new IllegalArgumentException("Read-only buffer");
            }
        }
        return remaining(buffers, offset, length);
    }

    static long remaining(ByteBuffer[] buffers, int offset, int length) {
        long sum = 0;
        for (int i = offset; i < offset + length; i++) {
            sum += buffers[i].remaining();
        }
        return sum;
    }
}
