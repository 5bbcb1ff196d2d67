package io.rdma4j.testkit;

import io.rdma4j.verbs.ForkStatus;
import io.rdma4j.verbs.RdmaDevices;

import static org.assertj.core.api.Assertions.assertThat;

/** What becomes of registered memory when the process forks. */
public abstract class ForkConformance extends Conformance {
    /** Called by subclasses. */
    protected ForkConformance() {}

    @ConformanceCase(file = "test_fork", name = "is_fork_initialized")
    void registeredMemorySurvivesChildProcesses() {
        assertThat(RdmaDevices.forkStatus()).isIn(ForkStatus.ENABLED, ForkStatus.UNNEEDED);
    }
}
