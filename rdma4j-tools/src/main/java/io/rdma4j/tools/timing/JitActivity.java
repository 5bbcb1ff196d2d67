package io.rdma4j.tools.timing;

import java.io.IOException;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Finds out whether the JVM still compiles. Its compilers share the cores with polling threads, so after each round
 * the test pauses until they have finished.
 */
final class JitActivity {
    /** Of messages, without any compilation: then all is compiled. */
    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long MOST_NS = WarmUpRounds.LONGEST.toNanos();
    private static final Duration LOOK = Duration.ofMillis(10);

    private final CompilationMXBean jit = ManagementFactory.getCompilationMXBean();
    private final long startNs = System.nanoTime();
    private long compiledMs = compiledMs();
    private long roundNs;
    private long quietNs;

    private long compiledMs() {
        return jit == null || !jit.isCompilationTimeMonitoringSupported()
                ? 0
                : jit.getTotalCompilationTime();
    }

    /** Messages are about to be sent. */
    void beginRound() {
        roundNs = System.nanoTime();
    }

    /** {@return whether to send more} Waits for what is being compiled. */
    boolean endRound() throws IOException {
        long nowNs = System.nanoTime();
        boolean hasCompiled = false;
        for (long now = compiledMs(); now != compiledMs && isTimeLeft(); now = compiledMs()) {
            hasCompiled = true;
            compiledMs = now;
            Pause.of(LOOK);
        }
        quietNs = hasCompiled ? 0 : quietNs + nowNs - roundNs;
        return quietNs < QUIET_NS && isTimeLeft();
    }

    private boolean isTimeLeft() {
        return System.nanoTime() - startNs < MOST_NS;
    }
}
