// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

/**
 * The result of a bandwidth test.
 *
 * @param size bytes of a message
 * @param messages how many were counted
 * @param peak the bandwidth of the best stretch, in the unit of this side; 0 if it was not looked for
 * @param average the bandwidth, in the unit of this side
 * @param rate messages per second, in millions
 */
record BandwidthResult(long size, long messages, double peak, double average, double rate) {
    /** The result of a side that has measured nothing. */
    static final BandwidthResult NONE = new BandwidthResult(0, 0, 0, 0, 0);

    BandwidthResult plus(BandwidthResult other) {
        return new BandwidthResult(size, messages, peak + other.peak, average + other.average,
                rate + other.rate);
    }
}
