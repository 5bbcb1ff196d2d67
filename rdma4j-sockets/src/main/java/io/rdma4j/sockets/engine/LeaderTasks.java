// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import java.time.Duration;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** What the leader is to run, soon or after a time. Any thread asks for it; who asks sees to it that somebody leads. */
final class LeaderTasks {
    /** No time at all. */
    static final long NEVER_NS = Long.MAX_VALUE;

    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicLong numbers = new AtomicLong();
    /** Of the leader alone. */
    private final TreeSet<Timer> timers = new TreeSet<>();
    /** When the first of them is due. Written by the leader. */
    private volatile long timerNs = NEVER_NS;

    /** What is due at a time. */
    static final class Timer implements Comparable<Timer> {
        private final long atNs;
        /** Tells those apart that are due at the same time. */
        private final long number;
        private final Runnable task;
        private volatile boolean isCancelled;

        private Timer(long atNs, long number, Runnable task) {
            this.atNs = atNs;
            this.number = number;
            this.task = task;
        }

        @Override
        public int compareTo(Timer other) {
            int order = Long.signum(atNs - other.atNs);
            return order == 0 ? Long.compare(number, other.number) : order;
        }
    }

    /** Has something run soon. */
    void add(Runnable task) {
        tasks.add(task);
    }

    /** Has something run after a time. {@return what {@link #cancel} takes} */
    Timer add(Duration delay, Runnable task) {
        Timer timer = new Timer(System.nanoTime() + delay.toNanos(), numbers.getAndIncrement(),
                task);
        add(() -> begin(timer));
        return timer;
    }

    private void begin(Timer timer) {
        if (!timer.isCancelled) {
            timers.add(timer);
        }
    }

    /** Forgets what is due later, unless it has run. It holds what it would have needed no longer. */
    void cancel(Timer timer) {
        timer.isCancelled = true;
        add(() -> timers.remove(timer));
    }

    /** {@return whether nothing is to be run soon} */
    boolean isEmpty() {
        return tasks.isEmpty();
    }

    /** {@return whether something is to be run now} */
    boolean isDue() {
        long atNs = timerNs;
        return !isEmpty() || (atNs != NEVER_NS && atNs - System.nanoTime() <= 0);
    }

    /** Runs what is due. For the leader. {@return how long until something else is, in nanoseconds} */
    long run() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            boolean _ = Defects.contain(task);
        }
        return runTimers();
    }

    private long runTimers() {
        while (!timers.isEmpty()) {
            Timer next = timers.first();
            long leftNs = next.atNs - System.nanoTime();
            if (leftNs > 0) {
                timerNs = next.atNs;
                return leftNs;
            }
            timers.remove(next);
            boolean _ = Defects.contain(next.task);
        }
        timerNs = NEVER_NS;
        return NEVER_NS;
    }
}
