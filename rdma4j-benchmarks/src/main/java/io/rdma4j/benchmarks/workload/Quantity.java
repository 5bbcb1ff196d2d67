// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.workload;

/** What can be measured, in base units, and how people read it. */
public enum Quantity {
    /** Payload that arrived. */
    BYTES_PER_SECOND("GB/s", 1e-9, 2),
    /** Messages that arrived. */
    MESSAGES_PER_SECOND("million/s", 1e-6, 2),
    /** The median of half a round trip, or of a whole operation where it has but one. */
    LATENCY_NS("µs", 1e-3, 2),
    /** The 99th percentile of the same. */
    LATENCY_99_NS("µs", 1e-3, 2),
    /** Connections set up and torn down. */
    CONNECTIONS_PER_SECOND("/s", 1, 0),
    /** Heap that an object holds. */
    HEAP_BYTES("KiB", 1.0 / 1024, 2),
    /** Time of a processor, as a share of one core. */
    CPU_SHARE("% of a core", 100, 2),
    /** Bytes that Java threads allocated for each operation. */
    ALLOCATED_BYTES("B/operation", 1, 3),
    /** Operations of all clients of a service in the first seconds, from the start of their processes. */
    FIRST_5_S_PER_SECOND("/s", 1, 0),
    /** The same. */
    FIRST_10_S_PER_SECOND("/s", 1, 0),
    /** The same. */
    FIRST_20_S_PER_SECOND("/s", 1, 0),
    /** Their operations in the last seconds. */
    WARM_PER_SECOND("/s", 1, 0),
    /** Those of clients that use TCP, beside others that use RDMA. */
    WARM_BESIDE_PER_SECOND("/s", 1, 0),
    /** Processor time of all processes of a service for an operation. */
    CPU_NS("µs of a processor", 1e-3, 1),
    /** Datagrams that did not arrive. */
    LOST("lost", 1, 0);

    private final String unit;
    private final double scale;
    private final int digits;

    Quantity(String unit, double scale, int digits) {
        this.unit = unit;
        this.scale = scale;
        this.digits = digits;
    }

    /** {@return the unit people read} */
    public String unit() {
        return unit;
    }

    /** {@return a value in that unit} */
    public double inUnits(double value) {
        return value * scale;
    }

    /** {@return how many digits behind the point mean something} */
    public int digits() {
        return digits;
    }
}
