// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.timing;

import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Finds out whether the JVM still compiles. Its compilers share the cores with polling threads, so after each round
 * the test pauses until they have finished.
 */
final class JitActivity {
    /** Of messages, without any compilation: then all is compiled. */
    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final Duration LOOK = Duration.ofMillis(10);

    private final LongSupplier clock;
    private final LongSupplier compilation;
    private final long endNs;
    private long compiledMs;
    private long quietNs;

    /**
     * @param clock the time in ns
     * @param compilation for how many ms the compilers have worked since the JVM's start
     */
    JitActivity(LongSupplier clock, LongSupplier compilation) {
        this.clock = clock;
        this.compilation = compilation;
        endNs = clock.getAsLong() + WarmUpRounds.LONGEST.toNanos();
        compiledMs = compilation.getAsLong();
    }

    /** {@return that of this JVM} */
    static JitActivity ofThisJvm() {
        CompilationMXBean jit = ManagementFactory.getCompilationMXBean();
        boolean isKnown = jit != null && jit.isCompilationTimeMonitoringSupported();
        return new JitActivity(System::nanoTime, isKnown ? jit::getTotalCompilationTime : () -> 0);
    }

    /**
     * Waits for what is being compiled.
     *
     * @param messagesNs how long there were messages since the last call
     * @return whether more are needed
     */
    boolean isMoreNeeded(long messagesNs) throws IOException {
        boolean hasCompiled = false;
        long now = compilation.getAsLong();
        while (now != compiledMs && isTimeLeft()) {
            hasCompiled = true;
            compiledMs = now;
            Pause.of(LOOK);
            now = compilation.getAsLong();
        }
        quietNs = hasCompiled ? 0 : quietNs + messagesNs;
        return quietNs < QUIET_NS && isTimeLeft();
    }

    private boolean isTimeLeft() {
        return clock.getAsLong() - endNs < 0;
    }
}
