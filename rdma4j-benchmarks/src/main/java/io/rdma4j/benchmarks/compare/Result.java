// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Figures;

/**
 * What a trial gave once.
 *
 * @param beforeNs how far apart the processors were when it began
 * @param afterNs and when it had ended; between the two they may have been moved
 */
record Result(Figures figures, double beforeNs, double afterNs) {
    boolean isNear() {
        return Math.max(beforeNs, afterNs) < CoreDistance.NEAR_NS;
    }

    boolean isFar() {
        return Math.min(beforeNs, afterNs) >= CoreDistance.NEAR_NS;
    }
}
