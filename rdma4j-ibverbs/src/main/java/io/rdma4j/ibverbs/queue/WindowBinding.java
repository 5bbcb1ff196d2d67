// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.device.ObjectKind;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.memory.NativeMemoryRegion;
import io.rdma4j.ibverbs.memory.NativeMemoryWindow;
import io.rdma4j.ibverbs.memory.StagedUse;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * A window that a request binds, and its region. The window gets its new key at once, because a polling thread may use
 * it before the posting call returns; if the request is refused, it gets the old key again.
 */
public final class WindowBinding implements StagedUse {
    private final NativeMemoryWindow window;
    private final NativeMemoryRegion region;
    private final @Nullable NativeMemoryRegion bound;
    private final @Nullable NativeMemoryRegion before;
    private final int keyBefore;

    private WindowBinding(NativeMemoryWindow window, NativeMemoryRegion region,
            @Nullable NativeMemoryRegion bound, int key) {
        this.window = window;
        this.region = region;
        this.bound = bound;
        before = window.boundTo();
        keyBefore = window.rkey();
        if (bound != null) {
            bound.children().add(ObjectKind.MEMORY_WINDOW);
        }
        // The previous region stays in use until the request is posted.
        window.put(bound, key);
    }

    /**
     * Begins the use of window and region by a request of a queue. Under the context's lock.
     *
     * @param bound the region, null if the request unbinds the window
     * @throws RdmaException EBUSY if another queue is posting one that binds the window
     */
    public static WindowBinding begin(NativeSendPosting queue, NativeMemoryWindow window,
            NativeMemoryRegion region, @Nullable NativeMemoryRegion bound, int key)
            throws RdmaException {
        region.beginUse();
        boolean isBegun = false;
        try {
            window.beginUse(queue);
            isBegun = true;
        } finally {
            if (!isBegun) {
                region.users().end();
            }
        }
        return new WindowBinding(window, region, bound, key);
    }

    @Override
    public void end(boolean isPosted) {
        ContextServices services = window.owner().owner();
        services.lock();
        try {
            NativeMemoryRegion free = isPosted ? before : bound;
            if (free != null) {
                free.children().remove(ObjectKind.MEMORY_WINDOW);
            }
            if (!isPosted) {
                window.put(before, keyBefore);
            }
            window.endUse();
            region.users().end();
        } finally {
            services.unlock();
        }
    }
}
