// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Protects the interrupt status of a thread that drives the engine against the closing of arenas of other threads.
 *
 * <p>When a shared arena is closed, the JVM throws an exception into each platform thread that is accessing it at this
 * moment, and sets its interrupt status to wake it if it waits. The thread that drives the engine may be accessing memory
 * of other threads. {@link Thread#interrupt} differs in one point: it also notifies the object that the thread is blocked
 * on, such as a selector. So a status that was set without a notification is cleared again. Alternatives: ADR 34.
 */
final class InterruptStatus {
    private static final ThreadLocal<InterruptStatus> OF_THREAD = ThreadLocal
            .withInitial(InterruptStatus::new);

    /** No notification of an interruption since the thread was protected last. */
    private static final int NOT_NOTIFIED = 0;
    private static final int NOTIFIED = 1;
    /** No notification, and the status was cleared; a thread may have set it and still be about to notify. */
    private static final int TAKEN_BACK = 2;

    /** A thread that has set the status notifies within this time, even on a busy machine. */
    private static final long NOTIFYING_NS = 1_000_000_000;

    private final Thread thread = Thread.currentThread();
    private final InterruptHook hook = new InterruptHook(this::onInterrupt);
    private final AtomicInteger state = new AtomicInteger(NOT_NOTIFIED);
    private volatile @Nullable Runnable whenInterrupted;
    private volatile long takenBackNs;
    private boolean isProtected;

    private InterruptStatus() {}

    /** {@return that of the calling thread, which is no virtual one} */
    static InterruptStatus ofCurrentThread() {
        return OF_THREAD.get();
    }

    boolean isOf(Thread other) {
        return thread.equals(other);
    }

    /** Must be called before memory of other threads is accessed. */
    void protect() {
        // {@link #TAKEN_BACK} stays: a thread that was about to notify may still do so.
        if (state.get() == NOTIFIED) {
            state.set(NOT_NOTIFIED);
        }
        hook.watch();
        // Checked last: a thread whose notification was dropped above had set the status before.
        isProtected = !thread.isInterrupted();
    }

    /** Ends the protection; the status is then as other threads have set it. */
    void restore() {
        if (!isProtected || !thread.isInterrupted()) {
            return;
        }
        int before = state.get();
        if (before == NOTIFIED) {
            return;
        }
        takenBackNs = System.nanoTime();
        Thread.interrupted();
        if (!state.compareAndSet(before, TAKEN_BACK)) {
            thread.interrupt();
        }
    }

    /** Calls a function when the thread is interrupted, perhaps twice, and at once if it is interrupted already. */
    void watch(Runnable onInterrupt) {
        whenInterrupted = onInterrupt;
        hook.watch();
    }

    /** Calls no function any more. The hook stays in place, because a notification may still come. */
    void unwatch() {
        whenInterrupted = null;
    }

    /** Runs in the interrupting thread, after it has set the status, or in the interrupted thread. */
    private void onInterrupt() {
        if (state.getAndSet(NOTIFIED) == TAKEN_BACK
                && System.nanoTime() - takenBackNs < NOTIFYING_NS) {
            // Even if the status is set: the JVM may have set it, and it would be cleared.
            thread.interrupt();
        }
        Runnable action = whenInterrupted;
        if (action != null) {
            action.run();
        }
    }
}
