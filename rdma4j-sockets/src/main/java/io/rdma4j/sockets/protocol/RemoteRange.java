// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

/**
 * Memory of the peer that may be written. C: {@code struct rs_sge}.
 *
 * @param address where it begins, for the peer
 * @param key the peer's key for it
 * @param length in bytes, or in entries for an array; from 0 to 2^32 - 1
 */
public record RemoteRange(long address, int key, long length) {
    /** How many bytes it takes in memory, where the peer writes it: address, key and length, in the order of its owner. */
    public static final int BYTES = 16;
    private static final long MASK = 0xffff_ffffL;

    /** Checks the length. */
    public RemoteRange {
        if ((length & MASK) != length) {
            throw new IllegalArgumentException("a length has 32 bits, unlike " + length);
        }
    }
}
