// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;
import java.util.function.IntSupplier;

/**
 * Objects under identifiers of 24 bits. Those that it gives itself others cannot guess.
 *
 * <p>Open addressing. One writer at a time; readers need no lock and see an object before or after a
 * change, never a mixture.
 *
 * @param <T> the objects
 */
public final class IdTable<T> {
    private static final int BITS = 24;
    private static final int SMALLEST = 64;

    private record Slot<T>(int id, @Nullable T value) {}

    private final IntSupplier random;
    private volatile AtomicReferenceArray<@Nullable Slot<T>> slots = new AtomicReferenceArray<>(
            SMALLEST);
    private int used;
    private int size;

    /** Of objects whose identifiers others choose. */
    public IdTable() {
        this(() -> {
            throw new IllegalStateException("this table gives no identifiers");
        });
    }

    /** @param random numbers that others cannot guess */
    public IdTable(IntSupplier random) {
        this.random = random;
    }

    /** {@return how many objects it holds} */
    public int size() {
        return size;
    }

    /** {@return an identifier that is free, at least {@code lowest}} */
    public int newId(int lowest) {
        int id;
        do {
            id = random.getAsInt() & (1 << BITS) - 1;
        } while (id < lowest || find(id) != null);
        return id;
    }

    /** {@return the object of an identifier, or null} */
    public @Nullable T find(int id) {
        AtomicReferenceArray<@Nullable Slot<T>> now = slots;
        int mask = now.length() - 1;
        for (int i = home(id) & mask;; i = i + 1 & mask) {
            Slot<T> slot = now.getAcquire(i);
            if (slot == null) {
                return null;
            }
            if (slot.id == id) {
                return slot.value;
            }
        }
    }

    /** Adds an object, in place of another of the same identifier. */
    public void put(int id, T value) {
        if (find(id) == null) {
            size++;
        }
        if (2 * (used + 1) > slots.length()) {
            rebuild();
        }
        used += store(slots, new Slot<>(id, value)) ? 1 : 0;
    }

    /** Removes an object. */
    public void remove(int id) {
        if (find(id) != null) {
            size--;
            // The slot stays occupied, because the probe sequence of others may pass it.
            store(slots, new Slot<>(id, null));
        }
    }

    /** Applies something to every object. */
    public void forEach(Consumer<T> action) {
        AtomicReferenceArray<@Nullable Slot<T>> now = slots;
        for (int i = 0; i < now.length(); i++) {
            Slot<T> slot = now.getAcquire(i);
            T value = slot == null ? null : slot.value;
            if (value != null) {
                action.accept(value);
            }
        }
    }

    private void rebuild() {
        int length = SMALLEST;
        while (length < 4 * (size + 1)) {
            length *= 2;
        }
        AtomicReferenceArray<@Nullable Slot<T>> larger = new AtomicReferenceArray<>(length);
        used = 0;
        for (int i = 0; i < slots.length(); i++) {
            Slot<T> slot = slots.get(i);
            if (slot != null && slot.value != null) {
                used += store(larger, slot) ? 1 : 0;
            }
        }
        slots = larger;
    }

    /** {@return whether a free slot was used} */
    private static <T> boolean store(AtomicReferenceArray<@Nullable Slot<T>> into, Slot<T> slot) {
        int mask = into.length() - 1;
        for (int i = home(slot.id) & mask;; i = i + 1 & mask) {
            Slot<T> there = into.get(i);
            if (there == null || there.id == slot.id) {
                into.setRelease(i, slot);
                return there == null;
            }
        }
    }

    private static int home(int id) {
        int spread = id * 0x9e37_79b9;
        return spread ^ spread >>> 15;
    }
}
