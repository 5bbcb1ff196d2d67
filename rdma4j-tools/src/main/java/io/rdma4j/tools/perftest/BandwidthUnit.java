// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

/** The unit of bandwidth. */
enum BandwidthUnit {
    /** 2<sup>20</sup> bytes a second. */
    MEBIBYTES("MB/sec", 1 << 20),
    /** 10<sup>9</sup> bits a second. */
    GIGABITS("Gb/sec", 125_000_000);

    private static final double NS_PER_SECOND = 1e9;
    private static final double MILLION = 1e6;

    private final String text;
    private final double bytes;

    BandwidthUnit(String text, double bytes) {
        this.text = text;
        this.bytes = bytes;
    }

    String text() {
        return text;
    }

    /**
     * {@return a result}
     *
     * @param shortestNs the time of a message in the best stretch, 0 if unknown
     */
    BandwidthResult result(long size, long messages, long elapsedNs, double shortestNs) {
        double seconds = Math.max(1, elapsedNs) / NS_PER_SECOND;
        double peak = shortestNs == 0 ? 0 : size * NS_PER_SECOND / shortestNs / bytes;
        return new BandwidthResult(size, messages, peak, size * messages / seconds / bytes,
                messages / seconds / MILLION);
    }
}
