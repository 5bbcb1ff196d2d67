// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import java.nio.ByteBuffer;
import java.util.List;

/** The bytes of a fuzzer's input as choices. Behind its end every choice is 0. */
public final class FuzzChoices {
    private final ByteBuffer bytes;

    public FuzzChoices(byte[] input) {
        bytes = ByteBuffer.wrap(input);
    }

    public boolean isOver() {
        return !bytes.hasRemaining();
    }

    /** {@return 0 to 255} */
    public int u8() {
        return bytes.hasRemaining() ? bytes.get() & 0xff : 0;
    }

    /** {@return -128 to 127} */
    public int s8() {
        return (byte) u8();
    }

    public int u16() {
        return u8() << 8 | u8();
    }

    public int i32() {
        return u16() << 16 | u16();
    }

    public long i64() {
        return (long) i32() << 32 | (i32() & 0xffff_ffffL);
    }

    public boolean flag() {
        return (u8() & 1) != 0;
    }

    /** {@return 0 to one less than {@code bound}, which is at most 256} */
    public int below(int bound) {
        return u8() % bound;
    }

    public <T> T of(List<T> values) {
        return values.get(below(values.size()));
    }
}
