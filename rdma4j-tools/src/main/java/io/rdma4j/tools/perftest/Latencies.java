// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleConsumer;

/** The times between the starts of successive messages, and the latency of one direction. */
final class Latencies {
    private static final long LONGEST_NS = TimeUnit.HOURS.toNanos(1);
    private static final int DIGITS = 4;
    private static final double NS_PER_US = 1e3;
    private static final double NS_PER_SECOND = 1e9;

    private final Histogram histogram = new Histogram(LONGEST_NS, DIGITS);
    private final TimeWindow window;
    private final double usPerNs;
    private final long[] inOrderNs;
    private int kept;
    private double meanNs;
    /** The sum of the squares of all distances from the mean. */
    private double squaresNs2;
    private long lastNs;
    private long messages;

    /**
     * None yet.
     *
     * @param trips the number of trips of a message between two starts
     * @param ordered how many to remember in their order
     */
    Latencies(TimeWindow window, int trips, int ordered) {
        this.window = window;
        usPerNs = 1 / NS_PER_US / trips;
        inOrderNs = new long[ordered];
    }

    /** A message is about to be posted. */
    void onStart() {
        messages++;
        if (window.isTimed()) {
            return;
        }
        long nowNs = System.nanoTime();
        if (messages > 1) {
            record(nowNs - lastNs);
        }
        lastNs = nowNs;
    }

    /** Adds the time between the starts of two messages. */
    void record(long ns) {
        histogram.recordValue(Math.min(ns, LONGEST_NS));
        // Welford's method. The histogram would go through all its hundred thousands of counters for each of them.
        double fromOldMean = ns - meanNs;
        meanNs += fromOldMean / histogram.getTotalCount();
        squaresNs2 += fromOldMean * (ns - meanNs);
        if (kept < inOrderNs.length) {
            inOrderNs[kept] = ns;
            kept++;
        }
    }

    /** A message has made all its trips. */
    void onEnd() {
        if (window.isTimed()) {
            window.tick();
            window.count(1);
        }
    }

    long messages() {
        return window.isTimed() ? window.counted() : messages;
    }

    double shortestUs() {
        return histogram.getMinValue() * usPerNs;
    }

    double longestUs() {
        return histogram.getMaxValue() * usPerNs;
    }

    double percentileUs(double percentile) {
        return histogram.getValueAtPercentile(percentile) * usPerNs;
    }

    double averageUs() {
        return window.isTimed()
                ? window.countedNs() * usPerNs / Math.max(1, window.counted())
                : meanNs * usPerNs;
    }

    double deviationUs() {
        return Math.sqrt(squaresNs2 / Math.max(1, histogram.getTotalCount())) * usPerNs;
    }

    /** {@return messages a second of a timed test} */
    double perSecond() {
        return window.counted() * NS_PER_SECOND / window.countedNs();
    }

    /** Tells all times in their order, as far as they were kept. */
    void eachInOrderUs(DoubleConsumer to) {
        Arrays.stream(inOrderNs, 0, kept).forEach(ns -> to.accept(ns * usPerNs));
    }

    /** Tells all times, the shortest first. */
    void eachSortedUs(DoubleConsumer to) {
        for (HistogramIterationValue value : histogram.recordedValues()) {
            for (long i = 0; i < value.getCountAtValueIteratedTo(); i++) {
                to.accept(value.getValueIteratedTo() * usPerNs);
            }
        }
    }
}
