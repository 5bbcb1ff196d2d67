// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits of tests for other threads and processes. Each wait is bounded: a condition that does not hold in time
 * is a failure that names the condition and has the stacks of all threads. JUnit's time-outs do not end polling
 * loops. Who waits for more than a moment leaves the processor to whom it waits for, and to other tests.
 */
public final class Wait {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);
    /** What comes sooner is noticed at once. */
    private static final long MOMENT_NS = 50_000;
    /** Of a wait that has taken so many times as long as a rest. */
    private static final int WAITED_RESTS = 10;
    private static final long LONGEST_REST_NS = 1_000_000;

    private Wait() {}

    /** What is waited for. */
    @FunctionalInterface
    public interface Condition<E extends Exception> {
        /** {@return whether it is so} */
        boolean holds() throws E;
    }

    /** What a test does while it waits. */
    @FunctionalInterface
    public interface Step<E extends Exception> {
        /** Does it once. */
        void run() throws E;
    }

    /**
     * Waits until a condition holds.
     *
     * @param what the condition in a few words
     * @throws AssertionError if it does not hold within a minute
     */
    public static <E extends Exception> void until(String what, Condition<E> condition) throws E {
        long startNs = System.nanoTime();
        until(what, condition, () -> rest(System.nanoTime() - startNs));
    }

    /** The longer it takes, the less it matters how soon the end is noticed. */
    private static void rest(long waitedNs) {
        if (waitedNs < MOMENT_NS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(Math.min(waitedNs / WAITED_RESTS, LONGEST_REST_NS));
        }
    }

    /**
     * Waits until a condition holds, and runs an action between any two checks.
     *
     * @param what the condition in a few words
     * @throws AssertionError if it does not hold within a minute
     */
    public static <E extends Exception> void until(String what, Condition<E> condition,
            Step<E> meanwhile) throws E {
        long startNs = System.nanoTime();
        while (!condition.holds()) {
            if (System.nanoTime() - startNs > PATIENCE_NS) {
                throw new AssertionError("waited in vain until " + what + '\n' + allThreads());
            }
            meanwhile.run();
        }
    }

    /** {@return the stacks of all threads, for a failure} */
    public static String allThreads() {
        StringBuilder text = new StringBuilder();
        for (Map.Entry<Thread, StackTraceElement[]> each : Thread.getAllStackTraces().entrySet()) {
            text.append(each.getKey()).append(' ').append(each.getKey().getState()).append('\n');
            for (StackTraceElement frame : each.getValue()) {
                text.append("    at ").append(frame).append('\n');
            }
        }
        return text.toString();
    }
}
