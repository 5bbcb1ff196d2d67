// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.ChildCounts;
import io.rdma4j.softnic.queue.GrownRings;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/** The objects that all contexts of an open device have together in this process. */
public final class NicObjects {
    private final ChildCounts totals = new ChildCounts();
    private final Set<ListedQueuePair> queuePairs = ConcurrentHashMap.newKeySet();
    private final GrownRings grownRings = new GrownRings();
    private long deviceMemoryLeft = Limits.DEVICE_MEMORY;

    /** {@return how many there are, by kind} */
    public ChildCounts totals() {
        return totals;
    }

    /** {@return the queue pairs, for any thread} */
    public Set<ListedQueuePair> queuePairs() {
        return queuePairs;
    }

    /** {@return the rings of queues that have grown} */
    GrownRings grownRings() {
        return grownRings;
    }

    /** Gives back what queues have needed, and do not any more. As {@link GrownRings#shrinkUnused}. */
    public void giveBackUnused(Consumer<Runnable> asOwner) {
        grownRings.shrinkUnused(asOwner);
    }

    /**
     * Reserves device memory. For the engine's owner.
     *
     * @throws RdmaException ENOMEM if not enough is left
     */
    void takeDeviceMemory(long byteSize) throws RdmaException {
        if (byteSize > deviceMemoryLeft) {
            throw new RdmaException(Errno.ENOMEM, "allocate device memory",
                    byteSize + " bytes are more than the " + deviceMemoryLeft + " that are left");
        }
        deviceMemoryLeft -= byteSize;
    }

    /** Gives device memory back. For the engine's owner. */
    void releaseDeviceMemory(long byteSize) {
        deviceMemoryLeft += byteSize;
    }
}
