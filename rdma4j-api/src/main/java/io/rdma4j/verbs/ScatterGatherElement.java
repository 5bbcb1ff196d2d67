// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Locale;

/**
 * A range of registered memory that a work request sends from or receives into.
 *
 * <p>C: {@code struct} {@index ibv_sge}.
 *
 * @param address its first byte, an address as {@link MemoryRegion#address()} counts ({@index addr of struct ibv_sge})
 * @param length its bytes ({@index length of struct ibv_sge})
 * @param lkey the local key of its region ({@index lkey of struct ibv_sge})
 * @since 0.1.0
 */
public record ScatterGatherElement(long address, long length, int lkey) {

    /**
     * {@return a range of a region; {@code offset} counts from the region's start}
     *
     * @param region where the bytes are
     * @param offset of the first byte
     * @param length in bytes
     */
    public static ScatterGatherElement of(MemoryRegion region, long offset, long length) {
        return new ScatterGatherElement(region.address() + offset, length, region.lkey());
    }

    /** {@return the range and its key, such as {@code 0x7f3500001000+64 lkey 0xcafef00d}} */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "0x%x+%d lkey 0x%08x", address, length, lkey);
    }
}
