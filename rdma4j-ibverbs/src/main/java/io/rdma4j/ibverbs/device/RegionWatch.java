// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.ibverbs.event.EventLoop;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Ends the registration of memory whose arena was closed: its pages stay locked, and a peer could overwrite memory that the
 * process has mapped there since. There is no notification of a closed arena, so it is checked periodically, while there is
 * a region whose arena can be closed.
 */
public final class RegionWatch {
    private static final int PERIOD_MS = 100;

    private final EventLoop loop;
    /** Many regions are often of one arena, which is looked at once. */
    private final Map<MemorySegment.Scope, Set<WatchedRegion>> regions = new HashMap<>();
    private final Map<WatchedRegion, MemorySegment.Scope> scopes = new HashMap<>();
    /** Those to be ended though their arenas are not closed. */
    private final Set<WatchedRegion> ending = new HashSet<>();

    RegionWatch(EventLoop loop) {
        this.loop = loop;
    }

    /** Watches the arena of a region's present memory. */
    public synchronized void add(WatchedRegion region, MemorySegment.Scope scope) {
        boolean isFirst = isIdle();
        forget(region);
        scopes.put(region, scope);
        regions.computeIfAbsent(scope, _ -> new HashSet<>()).add(region);
        begin(isFirst);
    }

    /** Ends a registration as soon as that is possible. */
    public synchronized void addEnding(WatchedRegion region) {
        boolean isFirst = isIdle();
        ending.add(region);
        begin(isFirst);
    }

    private boolean isIdle() {
        return scopes.isEmpty() && ending.isEmpty();
    }

    private void begin(boolean isFirst) {
        if (isFirst) {
            loop.every(PERIOD_MS, this::look);
        }
    }

    public synchronized void remove(WatchedRegion region) {
        boolean wasIdle = isIdle();
        forget(region);
        ending.remove(region);
        if (!wasIdle && isIdle()) {
            loop.rest();
        }
    }

    private void forget(WatchedRegion region) {
        MemorySegment.Scope scope = scopes.remove(region);
        if (scope == null) {
            return;
        }
        Set<WatchedRegion> others = regions.get(scope);
        if (others != null && others.remove(region) && others.isEmpty()) {
            regions.remove(scope);
        }
    }

    private void look() {
        for (WatchedRegion region : due()) {
            // A registration that cannot be ended now, because a request with it is being posted, is tried again next
            // time.
            if (!region.isAlive() && region.endAccess()) {
                remove(region);
            }
        }
    }

    private synchronized List<WatchedRegion> due() {
        List<WatchedRegion> due = new ArrayList<>(ending);
        regions.forEach((scope, ofScope) -> {
            if (!scope.isAlive()) {
                due.addAll(ofScope);
            }
        });
        return due;
    }
}
