// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import org.jspecify.annotations.Nullable;

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
    /**
     * Read and written without any order, which costs least: a thread that sees a slot sees what was in it from the beginning,
     * because its fields are final, and one that was told of an identifier sees its slot.
     */
    private volatile @Nullable Slot<T>[] slots = newSlots(SMALLEST);
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
        @Nullable
        Slot<T>[] now = slots;
        int mask = now.length - 1;
        for (int i = home(id) & mask;; i = i + 1 & mask) {
            Slot<T> slot = now[i];
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
        if (2 * (used + 1) > slots.length) {
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
        for (Slot<T> slot : slots) {
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
        @Nullable
        Slot<T>[] larger = newSlots(length);
        used = 0;
        for (Slot<T> slot : slots) {
            if (slot != null && slot.value != null) {
                used += store(larger, slot) ? 1 : 0;
            }
        }
        slots = larger;
    }

    /** {@return whether a free slot was used} */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static <T> @Nullable Slot<T>[] newSlots(int count) {
        return new Slot[count];
    }

    private static <T> boolean store(@Nullable Slot<T>[] into, Slot<T> slot) {
        int mask = into.length - 1;
        for (int i = home(slot.id) & mask;; i = i + 1 & mask) {
            Slot<T> there = into[i];
            if (there == null || there.id == slot.id) {
                into[i] = slot;
                return there == null;
            }
        }
    }

    private static int home(int id) {
        int spread = id * 0x9e37_79b9;
        return spread ^ spread >>> 15;
    }
}
