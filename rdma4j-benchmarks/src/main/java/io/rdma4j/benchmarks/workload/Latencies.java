// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.workload;

import org.HdrHistogram.Histogram;

import java.util.concurrent.TimeUnit;

/** Times of operations, each exact to four digits. One thread; adding allocates nothing. */
public final class Latencies {
    private static final long LONGEST_NS = TimeUnit.MINUTES.toNanos(10);
    private static final int DIGITS = 4;

    private final Histogram times = new Histogram(LONGEST_NS, DIGITS);

    /** Creates an empty record. */
    public Latencies() {}

    /** Adds a time. */
    public void add(long timeNs) {
        times.recordValue(Math.min(timeNs, LONGEST_NS));
    }

    /** {@return how many times were added} */
    public long count() {
        return times.getTotalCount();
    }

    /**
     * {@return median and 99th percentile of a part of each operation}
     *
     * @param part 0.5 for half of a round trip
     */
    public Figures figures(double part) {
        if (count() == 0) {
            throw new IllegalStateException("nothing came back while it counted");
        }
        return new Figures().with(Quantity.LATENCY_NS, part * times.getValueAtPercentile(50))
                .with(Quantity.LATENCY_99_NS, part * times.getValueAtPercentile(99));
    }
}
