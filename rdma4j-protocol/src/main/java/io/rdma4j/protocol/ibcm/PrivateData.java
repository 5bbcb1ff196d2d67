// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Bytes that a message carries for the applications, or as more about a reason. Immutable. */
final class PrivateData {
    static final PrivateData NONE = new PrivateData(new byte[0]);

    private final byte[] bytes;

    private PrivateData(byte[] bytes) {
        this.bytes = bytes;
    }

    static PrivateData of(byte[] bytes) {
        return new PrivateData(bytes.clone());
    }

    static PrivateData of(long number) {
        return new PrivateData(ByteBuffer.allocate(Long.BYTES).putLong(number).array());
    }

    static PrivateData decode(ByteBuffer in, int length) {
        byte[] bytes = new byte[length];
        in.get(bytes);
        return new PrivateData(bytes);
    }

    /** Checks that the bytes fit into a field of a message. */
    void requireAtMost(int room) {
        if (bytes.length > room) {
            throw new IllegalArgumentException(
                    "private data has " + bytes.length + " bytes; at most " + room + " fit");
        }
    }

    /** Writes the bytes, padded with zeros to a length. */
    void encode(ByteBuffer out, int length) {
        out.put(Arrays.copyOf(bytes, length));
    }

    int length() {
        return bytes.length;
    }

    byte[] bytes() {
        return bytes.clone();
    }

    /** {@return the bytes behind an offset} */
    byte[] from(int offset) {
        return Arrays.copyOfRange(bytes, offset, bytes.length);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof PrivateData that && Arrays.equals(bytes, that.bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    @Override
    public String toString() {
        return bytes.length + " bytes";
    }
}
