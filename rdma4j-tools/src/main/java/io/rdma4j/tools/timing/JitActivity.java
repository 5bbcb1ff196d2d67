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
    private static final Duration LOOK = Duration.ofMillis(10);

    private final CompilationMXBean jit = ManagementFactory.getCompilationMXBean();
    private final long endNs = System.nanoTime() + WarmUpRounds.LONGEST.toNanos();
    private long compiledMs = compiledMs();
    private long quietNs;

    private long compiledMs() {
        return jit == null || !jit.isCompilationTimeMonitoringSupported()
                ? 0
                : jit.getTotalCompilationTime();
    }

    /**
     * Waits for what is being compiled.
     *
     * @param messagesNs how long there were messages since the last call
     * @return whether more are needed
     */
    boolean isMoreNeeded(long messagesNs) throws IOException {
        boolean hasCompiled = false;
        for (long now = compiledMs(); now != compiledMs && isTimeLeft(); now = compiledMs()) {
            hasCompiled = true;
            compiledMs = now;
            Pause.of(LOOK);
        }
        quietNs = hasCompiled ? 0 : quietNs + messagesNs;
        return quietNs < QUIET_NS && isTimeLeft();
    }

    private boolean isTimeLeft() {
        return System.nanoTime() - endNs < 0;
    }
}
