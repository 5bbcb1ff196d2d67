// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import java.util.Arrays;
import java.util.List;

/**
 * What repetitions gave.
 *
 * @param values in the order they were measured
 */
record Samples(List<Double> values) {
    Samples {
        values = List.copyOf(values);
        if (values.isEmpty()) {
            throw new IllegalArgumentException("a sample has at least one value");
        }
    }

    /** {@return the value in the middle, or between the two there} */
    double median() {
        double[] sorted = sorted();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle]
                : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    double least() {
        return sorted()[0];
    }

    double most() {
        return sorted()[values.size() - 1];
    }

    private double[] sorted() {
        double[] sorted = values.stream().mapToDouble(Double::doubleValue).toArray();
        Arrays.sort(sorted);
        return sorted;
    }
}
