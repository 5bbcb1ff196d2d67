// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.ConnectionData;
import io.rdma4j.sockets.protocol.RemoteRange;

import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;

/**
 * Where the peer's device writes the ranges that the peer gives, in turn; the message that tells of one follows. C: {@code target_sgl} of {@code struct
 * rsocket}.
 *
 * <p>Not thread safe, but the device writes at any time: perhaps the range of the next message, while one is handled that has none.
 */
final class RangeSlots {
    /** How many bytes they take. */
    static final int BYTES = ConnectionData.SLOTS * RemoteRange.BYTES;
    /** At which they begin in memory: a device writes aligned words as wholes. */
    static final int ALIGNMENT = RemoteRange.BYTES;

    private static final int KEY = Long.BYTES;
    private static final int LENGTH = KEY + Integer.BYTES;
    private static final RemoteRange NONE = new RemoteRange(0, 0, 0);

    private final ByteBuffer memory;
    private final int offset;

    /**
     * @param memory in the byte order of this machine
     * @param offset where they begin in it
     */
    RangeSlots(ByteBuffer memory, int offset) {
        this.memory = memory;
        this.offset = offset;
    }

    /** {@return what is in a slot, which is cleared; a range of length 0 if nothing is} */
    RemoteRange take(int index) {
        int at = offset + index * RemoteRange.BYTES;
        int length = memory.getInt(at + LENGTH);
        if (length == 0) {
            // It is not cleared again: a range that has come since would be lost.
            return NONE;
        }
        // The length is written last. What was read of the address before it could be older.
        VarHandle.acquireFence();
        RemoteRange range = range(memory, at);
        memory.putInt(at + LENGTH, 0);
        return range;
    }

    /** {@return the range at an offset of memory that the peer has written} */
    static RemoteRange range(ByteBuffer memory, int at) {
        return new RemoteRange(memory.getLong(at), memory.getInt(at + KEY),
                Integer.toUnsignedLong(memory.getInt(at + LENGTH)));
    }
}
