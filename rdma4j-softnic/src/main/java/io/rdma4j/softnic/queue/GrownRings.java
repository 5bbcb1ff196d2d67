// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The rings of a device that have more slots than a quiet one needs. A burst makes a ring grow, and most connections are quiet most
 * of the time, so a ring that is empty and was not used between two looks gets back to its first size. Thread safe.
 */
public final class GrownRings {
    /** A ring with as many slots as this keeps them: it costs little, and most need that many again. */
    static final int KEPT_SLOTS = 4;

    private final Set<Growing> rings = ConcurrentHashMap.newKeySet();

    /** What grows. */
    interface Growing {
        /**
         * Gets back to its first size and leaves the others, if it is empty and nothing has passed it since the last call. For one thread, which
         * must not own the engine: a thread that posts may hold the ring, and wait for the engine.
         *
         * @param asOwner runs something as the engine's owner
         */
        void shrinkIfUnused(Consumer<Runnable> asOwner);
    }

    /** Adds one that has grown. */
    void add(Growing ring) {
        rings.add(ring);
    }

    /** Forgets one that has shrunk, or is used no more. */
    void remove(Growing ring) {
        rings.remove(ring);
    }

    /** {@return whether there is none} */
    boolean isEmpty() {
        return rings.isEmpty();
    }

    /**
     * Shrinks those that were not used since the last call. For one thread, which must not own the engine. It takes the engine only if there is
     * something to shrink: a device that has nothing to do sleeps on.
     *
     * @param asOwner runs something as the engine's owner
     */
    public void shrinkUnused(Consumer<Runnable> asOwner) {
        rings.forEach(ring -> ring.shrinkIfUnused(asOwner));
    }
}
