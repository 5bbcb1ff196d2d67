// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.workload;

/** Something a process does to be measured. */
public interface Workload {
    /**
     * Plays the active side, or the only one.
     *
     * @param port where the passive side said it listens; 0 if there is none
     * @return what was measured
     */
    Figures drive(Settings settings, int port) throws Exception;
}
