package io.rdma4j.ibverbs.verbs;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The regions of a protection domain by their lkey, which the driver chose. Looked at with each request, so it makes no
 * garbage; any thread reads, and one at a time changes it, under the context's lock.
 *
 * <p>Open addressing: an entry stands at the first free slot from that of its key on. One that is taken away leaves a mark,
 * so that those behind it are found; marks go when the slots are laid out anew.
 */
final class RegionTable {
    private static final int SMALLEST = 16;
    /** 2^32 over the golden ratio, odd: the upper bits of a product with it differ for neighbouring keys. */
    private static final int SPREAD = 0x9e37_79b1;
    private static final Entry TAKEN_AWAY = new Entry(0, null);

    private volatile AtomicReferenceArray<@Nullable Entry> slots = new AtomicReferenceArray<>(
            SMALLEST);
    /** Entries and marks. */
    private int used;

    /** Without a region, a mark. */
    private record Entry(int lkey, @Nullable NativeMemoryRegion region) {}

    /** {@return the region of a key, null if there is none} */
    @Nullable
    NativeMemoryRegion find(int lkey) {
        AtomicReferenceArray<@Nullable Entry> known = slots;
        Entry entry = known.get(slot(known, lkey));
        return entry == null ? null : entry.region;
    }

    /** {@return the slot of a key, or the free one where it would be} At least one is free. */
    private static int slot(AtomicReferenceArray<@Nullable Entry> known, int lkey) {
        int mask = known.length() - 1;
        int slot = (lkey * SPREAD) >>> Integer.numberOfLeadingZeros(mask);
        while (true) {
            Entry entry = known.get(slot);
            if (entry == null || (entry.lkey == lkey && entry.region != null)) {
                return slot;
            }
            slot = (slot + 1) & mask;
        }
    }

    /** A region has a key now. */
    void put(int lkey, NativeMemoryRegion region) {
        if (2 * (used + 1) > slots.length()) {
            layOut();
        }
        int slot = slot(slots, lkey);
        if (slots.get(slot) == null) {
            used++;
        }
        slots.set(slot, new Entry(lkey, region));
    }

    /** A region does not have a key any more. */
    void remove(int lkey, NativeMemoryRegion region) {
        int slot = slot(slots, lkey);
        Entry entry = slots.get(slot);
        if (entry != null && entry.region == region) {
            slots.set(slot, TAKEN_AWAY);
        }
    }

    /** Lays the entries out anew, in slots of which a quarter at most is used. */
    private void layOut() {
        AtomicReferenceArray<@Nullable Entry> known = slots;
        int entries = 0;
        for (int i = 0; i < known.length(); i++) {
            Entry entry = known.get(i);
            entries += entry != null && entry.region != null ? 1 : 0;
        }
        int length = Math.max(SMALLEST, Integer.highestOneBit(entries + 1) * 8);
        AtomicReferenceArray<@Nullable Entry> next = new AtomicReferenceArray<>(length);
        for (int i = 0; i < known.length(); i++) {
            Entry entry = known.get(i);
            if (entry != null && entry.region != null) {
                next.setPlain(slot(next, entry.lkey), entry);
            }
        }
        used = entries;
        slots = next;
    }
}
