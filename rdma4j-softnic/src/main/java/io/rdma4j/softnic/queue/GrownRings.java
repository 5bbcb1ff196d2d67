// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.queue;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * The rings of a device that have more slots than a quiet one needs. A burst makes a ring grow, and most connections are quiet most
 * of the time, so a ring that is empty and was not used between two looks gets back to its first size. Thread safe.
 */
public final class GrownRings {
    /** A ring with as many slots as this keeps them: it costs little, and most need that many again. */
    static final int KEPT_SLOTS = 8;

    private final Queue<Growing> rings = new ConcurrentLinkedQueue<>();

    /** What grows. */
    interface Growing {
        /** Gets back to its first size, if it is empty and nothing has passed it since the last call. {@return whether it did} */
        boolean shrinkIfUnused();
    }

    /** Adds one that has grown. It is forgotten when it has shrunk. */
    void add(Growing ring) {
        rings.add(ring);
    }

    /** {@return whether there is none} */
    public boolean isEmpty() {
        return rings.isEmpty();
    }

    /** Shrinks those that were not used since the last call. For the engine's owner. */
    public void shrinkUnused() {
        rings.removeIf(Growing::shrinkIfUnused);
    }
}
