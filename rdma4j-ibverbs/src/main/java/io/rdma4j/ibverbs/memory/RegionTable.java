// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.memory;

import org.jspecify.annotations.Nullable;

/**
 * The regions of a protection domain by their lkey, which the driver chose. Each request looks up a region, so a look-up
 * allocates nothing. Any thread may read; one at a time may change it, under the context's lock. A reader that has not
 * synchronized with the thread that registered the region may miss it.
 *
 * <p>Open addressing: an entry is in the first free slot from that of its key on. A removed entry leaves a mark, so that
 * later entries are still found; marks disappear when the table is rebuilt.
 */
public final class RegionTable {
    private static final int SMALLEST = 16;
    /** 2^32 over the golden ratio, odd: the upper bits of a product with it differ for neighbouring keys. */
    private static final int SPREAD = 0x9e37_79b1;
    private static final Entry TAKEN_AWAY = new Entry(0, null);

    private volatile @Nullable Entry[] slots = new Entry[SMALLEST];
    /** Entries and marks. */
    private int used;

    /** Without a region, a mark. */
    private record Entry(int lkey, @Nullable NativeMemoryRegion region) {}

    /** {@return the region of a key, null if there is none} */
    @Nullable
    public NativeMemoryRegion find(int lkey) {
        @Nullable
        Entry[] known = slots;
        int mask = known.length - 1;
        for (int slot = first(lkey, mask);; slot = (slot + 1) & mask) {
            Entry entry = known[slot];
            if (entry == null) {
                return null;
            }
            if (entry.lkey == lkey && entry.region != null) {
                return entry.region;
            }
        }
    }

    private static int first(int lkey, int mask) {
        return (lkey * SPREAD) >>> Integer.numberOfLeadingZeros(mask);
    }

    /** {@return the slot of a key, or the free one where it would be} At least one is free. */
    private static int slot(@Nullable Entry[] known, int lkey) {
        int mask = known.length - 1;
        int slot = first(lkey, mask);
        while (true) {
            Entry entry = known[slot];
            if (entry == null || (entry.lkey == lkey && entry.region != null)) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    /** A region has a key now. */
    public void put(int lkey, NativeMemoryRegion region) {
        if (2 * (used + 1) > slots.length) {
            layOut();
        }
        int slot = slot(slots, lkey);
        if (slots[slot] == null) {
            used++;
        }
        slots[slot] = new Entry(lkey, region);
    }

    /** A region does not have a key any more. */
    public void remove(int lkey, NativeMemoryRegion region) {
        int slot = slot(slots, lkey);
        Entry entry = slots[slot];
        if (entry != null && entry.region == region) {
            slots[slot] = TAKEN_AWAY;
        }
    }

    /** Lays the entries out anew, in slots of which a quarter at most is used. */
    private void layOut() {
        @Nullable
        Entry[] known = slots;
        int entries = 0;
        for (int i = 0; i < known.length; i++) {
            Entry entry = known[i];
            entries += entry != null && entry.region != null ? 1 : 0;
        }
        int length = Math.max(SMALLEST, Integer.highestOneBit(entries + 1) * 8);
        @Nullable
        Entry[] next = new Entry[length];
        for (int i = 0; i < known.length; i++) {
            Entry entry = known[i];
            if (entry != null && entry.region != null) {
                next[slot(next, entry.lkey)] = entry;
            }
        }
        used = entries;
        slots = next;
    }
}
