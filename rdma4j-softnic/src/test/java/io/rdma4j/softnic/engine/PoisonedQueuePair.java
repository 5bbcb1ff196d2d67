// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

/** A queue pair that stops its engine: each round throws an error that nothing contains, and so does failing it. */
public final class PoisonedQueuePair extends QuietQueuePair {
    private PoisonedQueuePair(Engine engine) {
        super(engine);
    }

    /** Gives an engine such a queue pair. */
    public static void poison(EngineDriver driver) {
        driver.run(nowNs -> {
            PoisonedQueuePair poison = new PoisonedQueuePair(driver.engine());
            driver.engine().attach(poison);
            driver.engine().touched(poison);
        });
    }

    @Override
    public long deadlineNs() {
        return Long.MIN_VALUE + 1;
    }

    @Override
    public void onDeadline(long nowNs) {
        engine().touched(this);
        throw new AssertionError("poison");
    }

    @Override
    public void fail(long nowNs) {
        throw new AssertionError("poison");
    }
}
