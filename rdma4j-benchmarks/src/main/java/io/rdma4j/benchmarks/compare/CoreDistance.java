package io.rdma4j.benchmarks.compare;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * How long a cache line takes from one processor to another and back. On a virtual machine that may change at any
 * moment: its host moves its processors between groups of cores that share a cache and cores that do not, which changes
 * everything that two processes hand each other by a factor of two and more.
 */
final class CoreDistance {
    /** Cores that share a cache need less, others more; nanoseconds. */
    static final double NEAR_NS = 150;

    private static final VarHandle TURN;
    private static final int STRETCHES = 8;
    private static final int ROUNDS = 2_000;

    static {
        try {
            TURN = MethodHandles.lookup().findVarHandle(CoreDistance.class, "turn", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // Through TURN alone.
    private int turn;

    private CoreDistance() {}

    /** {@return nanoseconds there and back, the least of some stretches; 0 on a machine with one processor} */
    static double measureNs() throws InterruptedException {
        if (Runtime.getRuntime().availableProcessors() < 2) {
            return 0;
        }
        CoreDistance line = new CoreDistance();
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

    private void await(int value) {
        while ((int) TURN.getAcquire(this) != value) {
            Thread.onSpinWait();
        }
    }
}
