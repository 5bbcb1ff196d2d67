// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.softnic.engine.Engine;

import java.util.ArrayList;
import java.util.List;

/**
 * Queue pairs that have packets to send but no room on their path through shared memory, because the process at its end
 * does not read. For the engine's owner.
 */
final class BlockedQueuePairs {
    /** A reader of shared memory reports when there is room again, unless it has died. */
    private static final long CHECK_STALLED_NS = 50_000_000;
    /** The wait for a reader that makes progress; the same as for a full socket. */
    private static final long CHECK_AGAIN_NS = 1_000_000;

    private final Engine engine;
    private final List<RoceQueuePair> blocked = new ArrayList<>();

    BlockedQueuePairs(Engine engine) {
        this.engine = engine;
    }

    void add(RoceQueuePair queuePair) {
        if (!blocked.contains(queuePair)) {
            blocked.add(queuePair);
        }
    }

    /** Removes a queue pair that sends nothing more. */
    void remove(RoceQueuePair queuePair) {
        blocked.remove(queuePair);
    }

    boolean isEmpty() {
        return blocked.isEmpty();
    }

    /** Lets the queue pairs whose path has room again continue to send. */
    void goOn(long nowNs) {
        for (int i = blocked.size() - 1; i >= 0; i--) {
            if (blocked.get(i).hasRoom(nowNs)) {
                engine.touched(blocked.remove(i));
            }
        }
    }

    /** {@return when to check them, {@link Long#MAX_VALUE} for never} */
    long deadlineNs() {
        if (blocked.isEmpty()) {
            return Long.MAX_VALUE;
        }
        return engine.timeNs() + (isAnyReaderStandingStill() ? CHECK_STALLED_NS : CHECK_AGAIN_NS);
    }

    private boolean isAnyReaderStandingStill() {
        for (int i = 0; i < blocked.size(); i++) {
            if (blocked.get(i).isReaderStandingStill()) {
                return true;
            }
        }
        return false;
    }
}
