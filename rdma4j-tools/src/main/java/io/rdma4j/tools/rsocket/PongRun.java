// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

/**
 * One test of {@code udpong}.
 *
 * @param name as it is printed
 * @param size bytes of a datagram
 * @param count how many are sent
 * @param hasEcho whether each is sent back
 */
record PongRun(String name, int size, int count, boolean hasEcho) {
    private static final int LATENCY_PART = 10;

    static PongRun latency(int size) {
        return new PongRun(StreamRun.sizeText(size) + "_lat", size,
                StreamRun.usualCount(size) / LATENCY_PART, true);
    }

    static PongRun bandwidth(int size) {
        return new PongRun(StreamRun.sizeText(size) + "_bw", size, StreamRun.usualCount(size),
                false);
    }

    /**
     * {@return the line of its result}
     *
     * @param arrived how many datagrams the server has counted
     */
    String line(long elapsedNs, long arrived) {
        double us = elapsedNs / 1000.0;
        long transfers = hasEcho ? 2L * count : arrived;
        long bytes = transfers * size;
        return String.format("%-10s%-8s%-8s%-8s%8.2fs%10.2f%11.2f", name, StreamRun.sizeText(size),
                StreamRun.countText(transfers), StreamRun.sizeText(bytes), us / 1e6,
                bytes * 8 / (1000 * us), us / transfers);
    }
}
