// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/** {@code struct cmsghdr}, with 64-bit lengths: cmsg(3). */
public final class ControlMessage {
    /** The length of a message with a value of up to eight bytes. */
    public static final long SPACE = 24;

    private static final long HEADER = 16;
    private static final long LEVEL = 8;
    private static final long TYPE = 12;

    private ControlMessage() {}

    /** {@return the length of a message with a value of so many bytes} */
    public static long room(int valueLength) {
        return HEADER + ((valueLength + 7) & -8);
    }

    /** Begins a message whose value is zeros. {@return the offset of the value} */
    public static long begin(MemorySegment control, long at, int level, int type, int valueLength) {
        control.set(JAVA_LONG, at, HEADER + valueLength);
        control.set(JAVA_INT, at + LEVEL, level);
        control.set(JAVA_INT, at + TYPE, type);
        for (long each = HEADER; each < room(valueLength); each += Long.BYTES) {
            control.set(JAVA_LONG, at + each, 0);
        }
        return at + HEADER;
    }

    /** Writes a message with an {@code int}. {@return the offset of the next one} */
    public static long write(MemorySegment control, long at, int level, int type, int value) {
        control.set(JAVA_LONG, at, HEADER + 4);
        control.set(JAVA_INT, at + LEVEL, level);
        control.set(JAVA_INT, at + TYPE, type);
        control.set(JAVA_INT, at + HEADER, value);
        return at + SPACE;
    }

    /** Writes a message with an {@code unsigned short}. {@return the offset of the next one} */
    public static long writeShort(MemorySegment control, long at, int level, int type, int value) {
        control.set(JAVA_LONG, at, HEADER + 2);
        control.set(JAVA_INT, at + LEVEL, level);
        control.set(JAVA_INT, at + TYPE, type);
        control.set(JAVA_SHORT, at + HEADER, (short) value);
        return at + SPACE;
    }

    /** {@return the length of the memory for a message with numbers} */
    static long space(int numbers) {
        return HEADER + ((4L * numbers + 7) & -8);
    }

    /** Writes the only message, with several numbers. */
    public static void write(MemorySegment control, int level, int type, int... numbers) {
        control.set(JAVA_LONG, 0, HEADER + 4L * numbers.length);
        control.set(JAVA_INT, LEVEL, level);
        control.set(JAVA_INT, TYPE, type);
        for (int i = 0; i < numbers.length; i++) {
            control.set(JAVA_INT, HEADER + 4L * i, numbers[i]);
        }
    }

    /** {@return the numbers of the first message, none if it is of another kind} */
    static int[] numbers(MemorySegment control, long controlLength, int level, int type) {
        if (controlLength < HEADER || control.get(JAVA_INT, LEVEL) != level
                || control.get(JAVA_INT, TYPE) != type) {
            return new int[0];
        }
        long length = Math.min(control.get(JAVA_LONG, 0), controlLength);
        int[] numbers = new int[(int) (length - HEADER) / Integer.BYTES];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = control.get(JAVA_INT, HEADER + 4L * i);
        }
        return numbers;
    }

    /** {@return the {@code int} of the first one of a kind, or -1} */
    public static int find(MemorySegment control, long controlLength, int level, int type) {
        long at = value(control, controlLength, level, type);
        return at < 0 ? -1 : control.get(JAVA_INT, at);
    }

    /** {@return where the value of the first one of a kind begins, or -1} */
    public static long value(MemorySegment control, long controlLength, int level, int type) {
        long at = 0;
        while (at + HEADER + 4 <= controlLength) {
            if (control.get(JAVA_INT, at + LEVEL) == level
                    && control.get(JAVA_INT, at + TYPE) == type) {
                return at + HEADER;
            }
            at += (Math.max(HEADER, control.get(JAVA_LONG, at)) + 7) & -8;
        }
        return -1;
    }

    /** {@return the error number of a {@code struct sock_extended_err}} */
    public static int extendedError(MemorySegment control, long at) {
        return control.get(JAVA_INT, at);
    }

    /** {@return who has reported it} */
    public static int extendedErrorOrigin(MemorySegment control, long at) {
        return control.get(JAVA_BYTE, at + 4);
    }
}
