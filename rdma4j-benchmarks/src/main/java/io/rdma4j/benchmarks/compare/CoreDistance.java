// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;

/**
 * How long a cache line takes from one processor to another and back. On a virtual machine that may change at any
 * moment: its host moves its processors between groups of cores that share a cache and cores that do not, which changes
 * everything that two processes hand each other by a factor of two and more.
 */
final class CoreDistance implements Session.Distance {
    /** Cores that share a cache need less, others more; nanoseconds. */
    static final double NEAR_NS = 150;

    private static final VarHandle TURN;
    private static final int STRETCHES = 8;
    private static final int ROUNDS = 2_000;
    /** How often to look for near processors. */
    private static final int LOOKS = 20;
    private static final long PAUSE_MS = 100;

    static {
        try {
            TURN = MethodHandles.lookup().findVarHandle(Line.class, "turn", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** What goes to and fro. */
    private static final class Line {
        @SuppressWarnings("unused") // Through TURN alone.
        private int turn;

        private void await(int value) {
            while ((int) TURN.getAcquire(this) != value) {
                Thread.onSpinWait();
            }
        }
    }

    /** There and back, the least of some stretches; 0 on a machine with one processor. */
    @Override
    public double measureNs() throws InterruptedException {
        if (Runtime.getRuntime().availableProcessors() < 2) {
            return 0;
        }
        Line line = new Line();
        int all = STRETCHES * ROUNDS;
        Thread echo = Thread.ofPlatform().daemon().start(() -> {
            for (int i = 0; i < all; i++) {
                line.await(2 * i + 1);
                TURN.setRelease(line, 2 * i + 2);
            }
        });
        double least = Double.MAX_VALUE;
        for (int stretch = 0; stretch < STRETCHES; stretch++) {
            long startNs = System.nanoTime();
            for (int i = stretch * ROUNDS; i < (stretch + 1) * ROUNDS; i++) {
                TURN.setRelease(line, 2 * i + 1);
                line.await(2 * i + 2);
            }
            least = Math.min(least, (double) (System.nanoTime() - startNs) / ROUNDS);
        }
        echo.join();
        return least;
    }

    @Override
    public double settleNs() throws InterruptedException {
        double distanceNs = measureNs();
        for (int look = 1; look < LOOKS && distanceNs >= NEAR_NS; look++) {
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
            distanceNs = measureNs();
        }
        return distanceNs;
    }
}
