// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/** {@code struct msghdr} and {@code struct iovec}, with 64-bit addresses: recvmsg(2), writev(2). */
public final class MessageHeader {
    public static final long LENGTH = 56;
    public static final long IOVEC_LENGTH = 16;

    private static final long NAME = 0;
    private static final long NAME_LENGTH = 8;
    private static final long IOVECS = 16;
    private static final long IOVEC_COUNT = 24;
    private static final long CONTROL = 32;
    private static final long CONTROL_LENGTH = 40;

    private MessageHeader() {}

    public static void name(MemorySegment header, MemorySegment name) {
        header.set(ADDRESS, NAME, name);
    }

    public static void nameLength(MemorySegment header, int length) {
        header.set(JAVA_INT, NAME_LENGTH, length);
    }

    public static void iovecs(MemorySegment header, MemorySegment iovecs, int count) {
        header.set(ADDRESS, IOVECS, iovecs);
        header.set(JAVA_LONG, IOVEC_COUNT, count);
    }

    public static void iovec(MemorySegment iovecs, int index, long address, long length) {
        iovecs.set(JAVA_LONG, index * IOVEC_LENGTH, address);
        iovecs.set(JAVA_LONG, index * IOVEC_LENGTH + 8, length);
    }

    public static void control(MemorySegment header, MemorySegment control, long length) {
        header.set(ADDRESS, CONTROL, control);
        controlLength(header, length);
    }

    public static void controlLength(MemorySegment header, long length) {
        header.set(JAVA_LONG, CONTROL_LENGTH, length);
    }

    public static long controlLength(MemorySegment header) {
        return header.get(JAVA_LONG, CONTROL_LENGTH);
    }
}
