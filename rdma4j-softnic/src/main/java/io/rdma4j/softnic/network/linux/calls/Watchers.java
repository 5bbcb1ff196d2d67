// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * The watchers of the descriptors of an epoll set, each with a unique key: an event that was taken before its
 * descriptor was closed finds no watcher, even if the slot is used again.
 */
public final class Watchers {
    /** Is notified of the events of a descriptor. */
    public interface Watcher {
        /** @param bits of {@link EpollEvents} */
        void onEvents(int bits);
    }

    private static final int PLACE_BITS = 32;

    private final List<@Nullable Watcher> places = new ArrayList<>();
    /** The key of the present or last watcher of each slot. */
    private final List<Long> keys = new ArrayList<>();
    private final List<Integer> free = new ArrayList<>();

    /** {@return the number of a new one} */
    public long add(Watcher watcher) {
        if (free.isEmpty()) {
            free.add(places.size());
            places.add(null);
            keys.add((long) places.size() - 1);
        }
        int place = free.removeLast();
        long key = keys.get(place) + (1L << PLACE_BITS);
        keys.set(place, key);
        places.set(place, watcher);
        return key;
    }

    /** Removes a watcher. */
    public void remove(long key) {
        if (find(key) != null) {
            places.set((int) key, null);
            free.add((int) key);
        }
    }

    /** {@return the watcher with a key, null if it was removed} */
    @Nullable
    public Watcher find(long key) {
        int place = (int) key;
        return place < places.size() && keys.get(place) == key ? places.get(place) : null;
    }

    /** {@return all watchers} */
    public List<Watcher> all() {
        List<Watcher> present = new ArrayList<>();
        for (Watcher each : places) {
            if (each != null) {
                present.add(each);
            }
        }
        return present;
    }
}
