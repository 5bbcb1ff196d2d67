// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import java.io.IOException;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Threads that wait for the same in selectors of their own, which wake them. All but the selection is under a lock of the caller's. */
final class SelectingThreads {
    private final List<Selector> selectors = new ArrayList<>();

    /** The calling thread is about to {@link #select}. */
    void enter(Selector selector) {
        selectors.add(selector);
    }

    /** The calling thread selects no more. */
    void leave(Selector selector) {
        // One entry for each thread: two may take turns at a selector.
        selectors.remove(selector);
    }

    boolean isEmpty() {
        return selectors.isEmpty();
    }

    /** Ends the selection of the thread that has entered first, under way or next. */
    void wakeOne() {
        selectors.getFirst().wakeup();
    }

    /** Ends the selections of all. */
    void wakeAll() {
        // There is mostly none, and even an iterator would be garbage.
        for (int i = 0; i < selectors.size(); i++) {
            selectors.get(i).wakeup();
        }
    }

    /**
     * Waits in the selector, without the lock, and selects nothing: what is ready is still so at the next selection.
     *
     * @param timeoutNs {@link Long#MAX_VALUE} for no limit
     */
    static void select(Selector selector, long timeoutNs) throws IOException {
        long timeoutMs = timeoutNs == Long.MAX_VALUE
                ? 0
                : Math.max(1, TimeUnit.NANOSECONDS.toMillis(timeoutNs));
        selector.select(_ -> {}, timeoutMs);
    }
}
