// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.SendOpcode;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests registered memory when the process forks. */
public abstract class ForkConformance extends Conformance {
    /** A JVM takes that long to start on a machine that is emulated. */
    private static final long CHILD_SECONDS = 80;

    /** Called by subclasses. */
    protected ForkConformance() {}

    /**
     * Where a child takes the pages with it, what the device writes is never seen here. But the JVM makes children by
     * posix_spawn, which copies no page; and with {@code -Djdk.lang.Process.launchMechanism=FORK} the child leaves its copy
     * before a program can use the device. So this shows only that the device goes on.
     */
    @ConformanceCase(after = "test_fork.is_fork_initialized")
    void registeredMemorySurvivesChildProcesses() throws Exception {
        Players players = players();
        players.exchange(SendOpcode.SEND);
        Process child = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--version")
                .redirectErrorStream(true).redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
        try {
            players.exchange(SendOpcode.SEND);
            players.access(SendOpcode.RDMA_WRITE);
        } finally {
            assertThat(child.waitFor(CHILD_SECONDS, TimeUnit.SECONDS)).isTrue();
        }
        assertThat(child.exitValue()).isZero();
        players.exchange(SendOpcode.SEND);
        reportWithoutEffect("the JVM starts programs without a copy of its memory, so a device that"
                + " memory leaves at a fork is not found out");
    }
}
