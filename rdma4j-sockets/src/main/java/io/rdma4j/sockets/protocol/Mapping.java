// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

/**
 * Memory that one side lets the other write at any time, under an offset of its choice. C: {@code struct rs_iomap}.
 *
 * @param offset by which the writer names it
 * @param range the memory
 */
public record Mapping(long offset, RemoteRange range) {
    /** How many bytes it takes in memory, where the peer writes it: offset, address, key and length. */
    public static final int BYTES = 8 + RemoteRange.BYTES;

    /** {@return whether the range holds the byte at an offset} */
    boolean holds(long at) {
        return Long.compareUnsigned(at - offset, range.length()) < 0;
    }
}
