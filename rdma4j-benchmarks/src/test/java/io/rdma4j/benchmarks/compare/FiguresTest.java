// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Latencies;
import io.rdma4j.benchmarks.workload.Quantity;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** What processes tell each other, and how times become figures. */
class FiguresTest {
    @Test
    void linesOfOneProcessAreReadByAnother() {
        Figures written = new Figures().with(Quantity.BYTES_PER_SECOND, 1.25e9)
                .with(Quantity.LOST, 3);
        Figures read = new Figures();
        ("WARNING: something else\n" + written.toLines()).lines().forEach(read::read);
        assertThat(read.values()).isEqualTo(written.values());
    }

    @Test
    void latencyIsAPartOfTheMiddleRoundTrip() {
        Latencies latencies = new Latencies();
        for (int i = 100; i >= 1; i--) {
            latencies.add(10L * i);
        }
        Figures figures = latencies.figures(0.5);
        assertThat(figures.value(Quantity.LATENCY_NS)).hasValue(250.0);
        assertThat(figures.value(Quantity.LATENCY_99_NS)).hasValue(495.0);
    }
}
