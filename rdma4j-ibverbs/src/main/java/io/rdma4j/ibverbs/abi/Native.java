// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.abi;

import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

/** Reads and writes fields of structures, at offsets in bytes. Numbers have the processor's byte order unless named so. */
public final class Native {
    private Native() {}

    /**
     * {@return the structure at an address that a library has returned}
     *
     * @throws IllegalStateException if the address is 0: reading there would end the JVM
     */
    public static MemorySegment at(long address, long byteSize) {
        if (address == 0) {
            throw new IllegalStateException("a native library gave a null pointer");
        }
        return MemorySegment.ofAddress(address).reinterpret(byteSize);
    }

    public static int getByte(MemorySegment structure, long offset) {
        return structure.get(JAVA_BYTE, offset) & 0xff;
    }

    public static int getShort(MemorySegment structure, long offset) {
        return structure.get(JAVA_SHORT_UNALIGNED, offset) & 0xffff;
    }

    public static int getInt(MemorySegment structure, long offset) {
        return structure.get(JAVA_INT_UNALIGNED, offset);
    }

    public static long getLong(MemorySegment structure, long offset) {
        return structure.get(JAVA_LONG_UNALIGNED, offset);
    }

    public static void putByte(MemorySegment structure, long offset, int value) {
        structure.set(JAVA_BYTE, offset, (byte) value);
    }

    public static void putShort(MemorySegment structure, long offset, int value) {
        structure.set(JAVA_SHORT_UNALIGNED, offset, (short) value);
    }

    public static void putInt(MemorySegment structure, long offset, int value) {
        structure.set(JAVA_INT_UNALIGNED, offset, value);
    }

    public static void putLong(MemorySegment structure, long offset, long value) {
        structure.set(JAVA_LONG_UNALIGNED, offset, value);
    }

    /** {@return a number that stands in network byte order} */
    public static int bigEndian(int value) {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? value
                : Integer.reverseBytes(value);
    }

    /** {@return a number that stands in network byte order} */
    public static long bigEndian(long value) {
        return ByteOrder.nativeOrder() == ByteOrder.BIG_ENDIAN ? value : Long.reverseBytes(value);
    }

    /** {@return the text of a field, up to its zero byte} */
    public static String text(MemorySegment structure, long offset, int length) {
        byte[] bytes = structure.asSlice(offset, length)
                .toArray(JAVA_BYTE);
        int end = 0;
        while (end < bytes.length && bytes[end] != 0) {
            end++;
        }
        return new String(bytes, 0, end, StandardCharsets.UTF_8);
    }
}
