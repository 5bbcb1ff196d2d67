// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.testkit.Wait;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Threads that do something at once: the first failure of any ends all, and a thread that waits in vain reports where
 * everybody stands.
 *
 * <p>{@code -Drdma4j.test.stress.seconds} says how long a test goes on; without it, for a moment.
 */
public final class Race {
    /** How long a test goes on. */
    public static final long DURATION_NS = (long) (Double
            .parseDouble(System.getProperty("rdma4j.test.stress.seconds", "0.7")) * 1e9);
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final List<Thread> threads = new ArrayList<>();
    /** The time is that of the threads: what is made before them may take long in a JVM that has just started. */
    private volatile long endNs;

    /** What a thread does. */
    @FunctionalInterface
    public interface Course {
        /** Does it. */
        void run() throws Exception;
    }

    /** Adds a thread that does something once. */
    public Race once(String name, Course course) {
        threads.add(Thread.ofPlatform().daemon().name("race-" + name).unstarted(() -> {
            try {
                course.run();
            } catch (Throwable e) {
                if (failure.compareAndSet(null, e)) {
                    threads.forEach(Thread::interrupt);
                }
            }
        }));
        return this;
    }

    /** Adds a thread that does something again and again until the time is over. */
    public Race repeatedly(String name, Course course) {
        return once(name, () -> {
            while (!isOver()) {
                course.run();
            }
        });
    }

    /** {@return whether the time is over, or a thread has failed} */
    public boolean isOver() {
        return failure.get() != null || System.nanoTime() - endNs >= 0;
    }

    /** {@return whether a thread has failed} */
    public boolean hasFailed() {
        return failure.get() != null;
    }

    /** Starts all threads and waits for their end. */
    public void run() throws InterruptedException {
        endNs = System.nanoTime() + DURATION_NS;
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            long leftNs = DURATION_NS + PATIENCE_NS;
            if (!thread.join(Duration.ofNanos(leftNs))) {
                Throwable first = failure.get();
                throw new AssertionError(thread.getName() + " does not end\n" + Wait.allThreads(),
                        first);
            }
        }
        Throwable first = failure.get();
        if (first != null) {
            throw new AssertionError(first);
        }
    }
}
