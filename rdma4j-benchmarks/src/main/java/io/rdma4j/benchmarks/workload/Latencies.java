package io.rdma4j.benchmarks.workload;

import java.util.Arrays;

/** Times of operations, exact; the newest replace the oldest when there are too many. One thread. */
public final class Latencies {
    private static final int KEPT = 1 << 20;

    private final long[] timesNs = new long[KEPT];
    private long count;

    /** Creates an empty record. */
    public Latencies() {}

    /** Adds a time. */
    public void add(long timeNs) {
        timesNs[(int) (count & KEPT - 1)] = timeNs;
        count++;
    }

    /** {@return how many times were added} */
    public long count() {
        return count;
    }

    /**
     * {@return median and 99th percentile of a part of each operation}
     *
     * @param part 0.5 for half of a round trip
     */
    public Figures figures(double part) {
        int kept = (int) Math.min(count, KEPT);
        if (kept == 0) {
            throw new IllegalStateException("nothing came back while it counted");
        }
        long[] sorted = Arrays.copyOf(timesNs, kept);
        Arrays.sort(sorted);
        return new Figures().with(Quantity.LATENCY_NS, part * sorted[kept / 2])
                .with(Quantity.LATENCY_99_NS, part * sorted[(int) (kept * 0.99)]);
    }
}
