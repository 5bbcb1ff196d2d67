// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import picocli.CommandLine.Command;

/**
 * Latency of RDMA WRITE.
 *
 * <p>C: {@code ib_write_lat} of perftest.
 */
@Command(name = "ib_write_lat", sortOptions = false,
        description = "Latency of RDMA WRITE, with a C or Java ib_write_lat.")
public final class IbWriteLat extends Measurement {
    /** Called by the command line. */
    public IbWriteLat() {
        super(new LatencyOptions(), Verb.WRITE);
    }
}
