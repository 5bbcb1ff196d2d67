package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * A window that a request binds, and the region underneath. The window has its new key at once, for a thread that polls
 * may look for it before the call that posts is over; and the old one again if the request is refused.
 */
final class WindowBinding implements StagedUse {
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
            bound.dependents().add();
        }
        // What it was bound to before is, until the request is posted.
        window.put(bound, key);
    }

    /**
     * Names window and region in a request of a queue. Under the context's lock.
     *
     * @param bound the region, null if the request ends what the window was bound to
     * @throws RdmaException EBUSY if another queue is posting one that binds the window
     */
    static WindowBinding begin(SendPosting queue, NativeMemoryWindow window,
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
        NativeContext context = window.owner().owner();
        context.lock();
        try {
            NativeMemoryRegion free = isPosted ? before : bound;
            if (free != null) {
                free.dependents().remove();
            }
            if (!isPosted) {
                window.put(before, keyBefore);
            }
            window.endUse();
            region.users().end();
        } finally {
            context.unlock();
        }
    }
}
