// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

/**
 * One test of {@code rstream}.
 *
 * @param name as it is printed
 * @param size bytes of a transfer
 * @param transfers of an iteration, in each direction
 * @param iterations how many
 */
record StreamRun(String name, int size, int transfers, int iterations) {
    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;
    private static final int GIB = 1 << 30;

    static StreamRun latency(int size) {
        return new StreamRun(sizeText(size) + "_lat", size, 1, usualCount(size));
    }

    static StreamRun bandwidth(int size) {
        return new StreamRun(sizeText(size) + "_bw", size, usualCount(size), 1);
    }

    static int usualCount(int size) {
        if (size >= MIB) {
            return 100;
        }
        if (size >= 1 << 16) {
            return 1000;
        }
        return size >= KIB ? 10_000 : 100_000;
    }

    /** {@return the line of its result} */
    String line(long elapsedNs) {
        double us = elapsedNs / 1000.0;
        long bytes = 2L * iterations * transfers * size;
        return String.format("%-10s%-8s%-8s%-8s%-8s%8.2fs%10.2f%11.2f", name, sizeText(size),
                countText(transfers), countText(iterations), sizeText(bytes), us / 1e6,
                bytes * 8 / (1000 * us), us / iterations / (2.0 * transfers));
    }

    static String sizeText(long size) {
        long base = size >= GIB ? GIB : size >= MIB ? MIB : size >= KIB ? KIB : 1;
        String unit = size >= GIB ? "g" : size >= MIB ? "m" : size >= KIB ? "k" : "";
        long tenths = size / base < 10 ? size % base * 10 / base : 0;
        return size / base + (tenths == 0 ? "" : "." + tenths) + unit;
    }

    static String countText(long count) {
        if (count >= 1_000_000) {
            return count / 1_000_000 + "m";
        }
        return count >= 1000 ? count / 1000 + "k" : Long.toString(count);
    }
}
