package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.event.EventLoop;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Ends the registration of memory whose arena was closed: its pages stay locked, and a peer could overwrite memory that the
 * process has mapped there since. There is no notification of a closed arena, so it is checked periodically, while there is
 * a region whose arena can be closed.
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
            // A registration that cannot be ended now, because a request with it is being posted, is tried again next
            // time.
            if (!region.isAlive() && region.endAccess()) {
                remove(region);
            }
        }
    }

    private synchronized List<NativeMemoryRegion> all() {
        return List.copyOf(regions);
    }
}
