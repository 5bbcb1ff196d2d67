// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Waits of tests for other threads and processes. Each wait is bounded: a condition that does not hold in time
 * is a failure that names the condition and has the stacks of all threads. JUnit's time-outs do not end polling
 * loops.
 */
public final class Wait {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

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
        until(what, condition, Thread::onSpinWait);
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
