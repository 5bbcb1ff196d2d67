// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import picocli.CommandLine.Command;

/**
 * Latency of RDMA READ.
 *
 * <p>C: {@code ib_read_lat} of perftest.
 */
@Command(name = "ib_read_lat", sortOptions = false,
        description = "Latency of RDMA READ, with a C or Java ib_read_lat.")
public final class IbReadLat extends Measurement {
    /** Called by the command line. */
    public IbReadLat() {
        super(new LatencyOptions(), Verb.READ);
    }
}
