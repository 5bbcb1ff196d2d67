package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.event.EventLoop;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Ends the registration of memory whose arena was closed: the pages stay locked, and what a peer writes to them would be in
 * whatever the process has put there since. Nothing tells that an arena is closed, so it is looked for, while there is a
 * region that this can happen to.
 */
final class RegionWatch {
    private static final int PERIOD_MS = 100;

    private final EventLoop loop;
    private final Set<NativeMemoryRegion> regions = new HashSet<>();

    RegionWatch(EventLoop loop) {
        this.loop = loop;
    }

    synchronized void add(NativeMemoryRegion region) {
        regions.add(region);
        if (regions.size() == 1) {
            loop.every(PERIOD_MS, this::look);
        }
    }

    synchronized void remove(NativeMemoryRegion region) {
        if (regions.remove(region) && regions.isEmpty()) {
            loop.rest();
        }
    }

    private void look() {
        for (NativeMemoryRegion region : all()) {
            // What cannot be ended now, as a request with it is being posted, may be the next time.
            if (!region.isAlive() && region.endAccess()) {
                remove(region);
            }
        }
    }

    private synchronized List<NativeMemoryRegion> all() {
        return List.copyOf(regions);
    }
}
