// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import picocli.CommandLine.Command;

/**
 * Latency of atomic operations.
 *
 * <p>C: {@code ib_atomic_lat} of perftest.
 */
@Command(name = "ib_atomic_lat", sortOptions = false,
        description = "Latency of atomic operations, with a C or Java ib_atomic_lat.")
public final class IbAtomicLat extends Measurement {
    /** Called by the command line. */
    public IbAtomicLat() {
        super(new LatencyOptions(), Verb.ATOMIC);
    }
}
