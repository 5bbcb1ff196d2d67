package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Figures;

/**
 * What a trial gave once.
 *
 * @param coreDistanceNs how far apart the processors were when it ended; they are moved as processes start, and seldom
 *        afterwards
 */
record Result(Figures figures, double coreDistanceNs) {
    boolean isNear() {
        return coreDistanceNs < CoreDistance.NEAR_NS;
    }
}
