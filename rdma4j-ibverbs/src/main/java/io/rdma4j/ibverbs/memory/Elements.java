// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.memory;

import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.verbs.ScatterGatherList;

import java.lang.foreign.MemorySegment;

/** Elements in {@code struct ibv_sge}. */
public final class Elements {
    /** The maximum of a 32-bit length. */
    static final long LONGEST = 0xffff_ffffL;

    private Elements() {}

    public static void write(MemorySegment target, long offset, long address, long length,
            int lkey) {
        Native.putLong(target, offset + Layout.Element.ADDR, address);
        Native.putInt(target, offset + Layout.Element.LENGTH, (int) length);
        Native.putInt(target, offset + Layout.Element.LKEY, lkey);
    }

    /** Writes the first elements of a list, of which each length fits. */
    public static void write(MemorySegment target, long offset, ScatterGatherList elements,
            int count) {
        for (int i = 0; i < count; i++) {
            write(target, offset + i * Layout.Element.SIZE, elements.address(i),
                    elements.length(i), elements.lkey(i));
        }
    }
}
