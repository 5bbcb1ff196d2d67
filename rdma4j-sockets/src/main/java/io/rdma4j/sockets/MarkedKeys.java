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
    private boolean hasFoundCancelled;

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

    /**
     * {@return whether a look of this selection has found one that was cancelled meanwhile} Its channel was closed, or something has
     * come for it.
     */
    boolean hasFoundCancelled() {
        return hasFoundCancelled;
    }

    /** A selection begins, which has forgotten the keys that were cancelled before. */
    void begin() {
        hasFoundCancelled = false;
    }

    private void look(RdmaSelectionKey key, List<RdmaSelectionKey> ready) {
        // What comes from here on marks it again.
        key.unmark();
        if (!key.isValid() || !key.channel().isOpen()) {
            // Of a channel that is being closed, the key is cancelled in a moment.
            hasFoundCancelled |= !key.isForgotten();
            return;
        }
        int found = key.look();
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
