// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicReference;

/**
 * The keys whose channels may be ready: those that were ready when they were looked at last, and those that have become ready
 * since. To look costs nothing for any other key. Any thread marks; the selecting thread does the rest.
 */
final class MarkedKeys {
    /** A stack, the newest first. */
    private final AtomicReference<@Nullable RdmaSelectionKey> newest = new AtomicReference<>();
    private final Queue<RdmaSelectionKey> candidates = new ArrayDeque<>();
    private final List<RdmaSelectionKey> taken = new ArrayList<>();
    /** The last one that was ready: more is to be expected there, or on its device. */
    private @Nullable RdmaSelectionKey lastReady;

    /** {@return whether the key was not marked before} */
    boolean mark(RdmaSelectionKey key) {
        if (!key.mark()) {
            return false;
        }
        RdmaSelectionKey first = newest.get();
        while (true) {
            key.nextMarked = first;
            RdmaSelectionKey seen = newest.compareAndExchange(first, key);
            if (seen == first) {
                return true;
            }
            first = seen;
        }
    }

    /** {@return whether keys have been marked since the last look} */
    boolean hasNew() {
        return newest.get() != null;
    }

    /** Lets the calling thread run the device of the channel that was ready last. */
    void poll() {
        RdmaSelectionKey last = lastReady;
        if (last == null) {
            return;
        }
        if (last.isValid()) {
            last.readiness().poll();
        } else {
            lastReady = null;
        }
    }

    /** {@return whether any key is ready} Those that are have their operations, and come again the next time. */
    boolean look(List<RdmaSelectionKey> ready) {
        int before = ready.size();
        for (int i = candidates.size(); i > 0; i--) {
            look(candidates.remove(), ready);
        }
        lookAtNew(ready);
        return ready.size() > before;
    }

    /** Looks at those that were marked since the last look, in that order. */
    void lookAtNew(List<RdmaSelectionKey> ready) {
        if (!hasNew()) {
            return;
        }
        for (RdmaSelectionKey key = newest.getAndSet(null); key != null;) {
            taken.add(key);
            RdmaSelectionKey next = key.nextMarked;
            key.nextMarked = null;
            key = next;
        }
        for (int i = taken.size(); i > 0; i--) {
            look(taken.get(i - 1), ready);
        }
        taken.clear();
    }

    private void look(RdmaSelectionKey key, List<RdmaSelectionKey> ready) {
        // What comes from here on marks it again.
        key.unmark();
        int found = key.isValid() ? key.look() : 0;
        if (found == 0) {
            return;
        }
        key.addTo(ready, found);
        lastReady = key;
        if (key.mark()) {
            candidates.add(key);
        }
    }
}
