package io.rdma4j.softnic.engine;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * The interrupt status of a thread that drives the engine, which must not tell of other people's memory.
 *
 * <p>When a shared arena is closed, the JVM throws an exception into each platform thread that is accessing it this moment,
 * and sets its interrupt status, to wake it if it waits. Here that thread may work for others. {@link Thread#interrupt}
 * differs in one thing: it tells whoever the thread is blocked on, as it does with selectors. So what sets the status
 * without telling is taken back. Why not otherwise: ADR 34.
 */
final class InterruptStatus {
    private static final ThreadLocal<InterruptStatus> OF_THREAD = ThreadLocal
            .withInitial(InterruptStatus::new);

    /** Nobody has interrupted the thread since it was protected last. */
    private static final int UNTOLD = 0;
    private static final int TOLD = 1;
    /** As the first, and the status was taken back, perhaps under the hands of somebody who was about to tell. */
    private static final int TAKEN_BACK = 2;

    /** Whoever has changed the status tells within that time, however busy the machine is. */
    private static final long TELLING_NS = 1_000_000_000;

    private final Thread thread = Thread.currentThread();
    private final InterruptHook hook = new InterruptHook(this::onInterrupt);
    private final AtomicInteger state = new AtomicInteger(UNTOLD);
    private volatile @Nullable Runnable whenInterrupted;
    private volatile long takenBackNs;
    private boolean isProtected;

    private InterruptStatus() {}

    /** {@return that of the calling thread, which is no virtual one} */
    static InterruptStatus ofCurrentThread() {
        return OF_THREAD.get();
    }

    /** Memory of others may be accessed from now on. */
    void protect() {
        // Taken back it stays: who was about to tell may still do so.
        if (state.get() == TOLD) {
            state.set(UNTOLD);
        }
        hook.watch();
        // Last: whose telling was forgotten above had set the status before.
        isProtected = !thread.isInterrupted();
    }

    /** No more; the status is what others have made it. */
    void restore() {
        if (!isProtected || !thread.isInterrupted()) {
            return;
        }
        int before = state.get();
        if (before == TOLD) {
            return;
        }
        takenBackNs = System.nanoTime();
        Thread.interrupted();
        if (!state.compareAndSet(before, TAKEN_BACK)) {
            thread.interrupt();
        }
    }

    /** Calls somebody when the thread is interrupted, perhaps twice, and at once if it is already. */
    void watch(Runnable onInterrupt) {
        whenInterrupted = onInterrupt;
        hook.watch();
    }

    /** Calls nobody any more. The hook stays where it is: who has not called yet finds it. */
    void unwatch() {
        whenInterrupted = null;
    }

    /** In the thread that interrupts, behind the change of the status, or in the interrupted one. */
    private void onInterrupt() {
        if (state.getAndSet(TOLD) == TAKEN_BACK
                && System.nanoTime() - takenBackNs < TELLING_NS) {
            // Even if it is set: it may be the JVM's, and about to be taken back as well.
            thread.interrupt();
        }
        Runnable action = whenInterrupted;
        if (action != null) {
            action.run();
        }
    }
}
