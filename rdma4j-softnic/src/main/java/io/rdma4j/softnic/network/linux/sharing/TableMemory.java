// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.linux.calls.SharedPages;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The memory of the {@link SharedTable}, which all its processes have mapped. Its length is sealed ({@link SharedPages}), so
 * no access can fail, but its contents are what any of them writes. Thread safe.
 */
final class TableMemory {
    private static final VarHandle BYTE = ValueLayout.JAVA_BYTE.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();
    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private final MemorySegment memory;

    TableMemory(MemorySegment memory) {
        this.memory = memory;
    }

    /** {@return a number of 8 bits, without sign} */
    int byteAt(long at) {
        return (byte) BYTE.getAcquire(memory, at) & 0xff;
    }

    int intAt(long at) {
        return (int) INT.getAcquire(memory, at);
    }

    long longAt(long at) {
        return (long) LONG.getAcquire(memory, at);
    }

    void byteAt(long at, int value) {
        BYTE.setRelease(memory, at, (byte) value);
    }

    void intAt(long at, int value) {
        INT.setRelease(memory, at, value);
    }

    void longAt(long at, long value) {
        LONG.setRelease(memory, at, value);
    }

    /** Adds one to a number that several processes count. */
    void increase(long at) {
        int _ = (int) INT.getAndAdd(memory, at, 1);
    }

    /** Writes zeros from an offset to another one. */
    void clear(long from, long end) {
        memory.asSlice(from, end - from).fill((byte) 0);
    }

    /** {@return a copy, which is faster than single reads} */
    ByteBuffer copy(long from, int length) {
        byte[] copy = new byte[length];
        MemorySegment.copy(memory, ValueLayout.JAVA_BYTE, from, copy, 0, length);
        return ByteBuffer.wrap(copy).order(ByteOrder.nativeOrder());
    }
}
