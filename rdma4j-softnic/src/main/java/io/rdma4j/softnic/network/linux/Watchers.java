package io.rdma4j.softnic.network.linux;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Who hears of which descriptor of an epoll set, by a number that no two ever have: an event that was taken before its
 * descriptor was closed finds nobody, also when its place is used again.
 */
final class Watchers {
    /** Hears what has happened to a descriptor. */
    interface Watcher {
        /** @param bits of {@link EpollEvents} */
        void onEvents(int bits);
    }

    private static final int PLACE_BITS = 32;

    private final List<@Nullable Watcher> places = new ArrayList<>();
    /** The number of whoever is there, or was last. */
    private final List<Long> keys = new ArrayList<>();
    private final List<Integer> free = new ArrayList<>();

    /** {@return the number of a new one} */
    long add(Watcher watcher) {
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

    /** It hears nothing more. */
    void remove(long key) {
        if (find(key) != null) {
            places.set((int) key, null);
            free.add((int) key);
        }
    }

    /** {@return who has a number, null if nobody has it any more} */
    @Nullable
    Watcher find(long key) {
        int place = (int) key;
        return place < places.size() && keys.get(place) == key ? places.get(place) : null;
    }

    /** {@return all who hear something} */
    List<Watcher> all() {
        List<Watcher> present = new ArrayList<>();
        for (Watcher each : places) {
            if (each != null) {
                present.add(each);
            }
        }
        return present;
    }
}
