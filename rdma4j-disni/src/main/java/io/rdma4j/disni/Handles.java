// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.verbs.RdmaClosedException;
import org.jspecify.annotations.Nullable;

import java.util.Arrays;

/**
 * The objects that DiSNI knows by a number. A number is positive and never given to a second object, because DiSNI keeps the numbers of
 * ids for ever. Thread safe; a look-up takes no lock and allocates nothing.
 */
public final class Handles {
    /** What DiSNI takes for "there is none". */
    static final long NONE = -1;
    private static final int INDEX_BITS = 32;
    private static final int FIRST_SIZE = 64;

    private record Entry(long handle, Object object) {}

    /** Changes under the lock; a new array, or the same written again, makes the change visible. */
    private volatile @Nullable Entry[] entries = new Entry[FIRST_SIZE];
    private long given;
    /** No place before it is free. */
    private int free;

    /** {@return the number of an object from now on} */
    synchronized long add(Object object) {
        @Nullable
        Entry[] present = entries;
        while (free < present.length && present[free] != null) {
            free++;
        }
        if (free == present.length) {
            present = Arrays.copyOf(present, 2 * free);
        }
        given++;
        long handle = given << INDEX_BITS | free;
        present[free] = new Entry(handle, object);
        entries = present;
        return handle;
    }

    /**
     * {@return the object with a number}
     *
     * @param name what it is, for the error
     * @throws RdmaClosedException EBADF if there is none, as when it was destroyed
     */
    <T> T find(long handle, Class<T> type, String name) throws RdmaClosedException {
        Entry entry = at(handle);
        if (entry == null || !type.isInstance(entry.object)) {
            throw RdmaClosedException.of(name);
        }
        return type.cast(entry.object);
    }

    /** {@return the object that had the number until now} Fails as {@link #find} does. */
    synchronized <T> T remove(long handle, Class<T> type, String name) throws RdmaClosedException {
        T object = find(handle, type, name);
        @Nullable
        Entry[] present = entries;
        int index = (int) handle;
        present[index] = null;
        free = Math.min(free, index);
        entries = present;
        return object;
    }

    private @Nullable Entry at(long handle) {
        @Nullable
        Entry[] present = entries;
        int index = (int) handle;
        if (index < 0 || index >= present.length) {
            return null;
        }
        Entry entry = present[index];
        return entry != null && entry.handle == handle ? entry : null;
    }
}
