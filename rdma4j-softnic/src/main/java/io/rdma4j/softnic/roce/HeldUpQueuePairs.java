package io.rdma4j.softnic.roce;

import io.rdma4j.softnic.engine.Engine;

import java.util.ArrayList;
import java.util.List;

/**
 * Queue pairs that have something to send, and no room on their way: the process at the end of it does not read. For the
 * engine's owner.
 */
final class HeldUpQueuePairs {
    /** Who reads shared memory tells when there is room again, unless it has died. */
    private static final long LOOK_AFTER_NS = 50_000_000;
    /** A reader that goes on is waited for no longer than a full socket. */
    private static final long LOOK_AGAIN_NS = 1_000_000;

    private final Engine engine;
    private final List<RoceQueuePair> heldUp = new ArrayList<>();

    HeldUpQueuePairs(Engine engine) {
        this.engine = engine;
    }

    void add(RoceQueuePair queuePair) {
        if (!heldUp.contains(queuePair)) {
            heldUp.add(queuePair);
        }
    }

    /** It sends nothing more. */
    void remove(RoceQueuePair queuePair) {
        heldUp.remove(queuePair);
    }

    /** They go on to send where there is room again. */
    void goOn(long nowNs) {
        for (int i = heldUp.size() - 1; i >= 0; i--) {
            if (heldUp.get(i).hasRoom(nowNs)) {
                engine.touched(heldUp.remove(i));
            }
        }
    }

    /** {@return when to look after them, {@link Long#MAX_VALUE} for never} */
    long deadlineNs() {
        if (heldUp.isEmpty()) {
            return Long.MAX_VALUE;
        }
        return engine.timeNs() + (isAnyReaderStandingStill() ? LOOK_AFTER_NS : LOOK_AGAIN_NS);
    }

    private boolean isAnyReaderStandingStill() {
        for (int i = 0; i < heldUp.size(); i++) {
            if (heldUp.get(i).isReaderStandingStill()) {
                return true;
            }
        }
        return false;
    }
}
