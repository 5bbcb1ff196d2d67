// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.event;

import org.jspecify.annotations.Nullable;

import java.lang.ref.WeakReference;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Ends the waits of virtual threads when their time is up. The JVM wakes a thread of its own for each timed wait of a virtual
 * thread, and again when it ends early, as most do; here one timer serves the waits that follow as well, because they
 * end later. Under the lock of its {@link Waiters}.
 */
final class WaitTimer {
    /** Rings at least so often while virtual threads wait: a timer that is not needed any more holds nothing for longer. */
    private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(60);

    /** Made when the first virtual thread waits. */
    private static final class Clock {
        private static final ScheduledThreadPoolExecutor THREAD = new ScheduledThreadPoolExecutor(1,
                Thread.ofPlatform().daemon().name("rdma4j-wait-timer").factory());

        static {
            THREAD.setRemoveOnCancelPolicy(true);
        }
    }

    private final WeakReference<Waiters> waiters;
    private @Nullable Future<?> pending;
    private long ringsAtNs;

    WaitTimer(Waiters waiters) {
        this.waiters = new WeakReference<>(waiters);
    }

    /** Rings at a time at the latest, as {@link System#nanoTime}. */
    void ringBefore(long endNs) {
        Future<?> present = pending;
        if (present != null && ringsAtNs - endNs <= 0) {
            return;
        }
        stop();
        long nowNs = System.nanoTime();
        long delayNs = Math.clamp(endNs - nowNs, 0, LONGEST_NS);
        ringsAtNs = nowNs + delayNs;
        WeakReference<Waiters> whose = waiters;
        pending = Clock.THREAD.schedule(() -> {
            Waiters alive = whose.get();
            if (alive != null) {
                alive.onTimer();
            }
        }, delayNs, TimeUnit.NANOSECONDS);
    }

    void hasRung() {
        pending = null;
    }

    /** No thread waits any more. */
    void stop() {
        Future<?> present = pending;
        if (present != null) {
            present.cancel(false);
            pending = null;
        }
    }
}
