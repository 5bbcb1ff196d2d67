// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import picocli.CommandLine.Command;

/**
 * Bandwidth of RDMA WRITE.
 *
 * <p>C: {@code ib_write_bw} of perftest.
 */
@Command(name = "ib_write_bw", sortOptions = false,
        description = "Bandwidth of RDMA WRITE, with a C or Java ib_write_bw.")
public final class IbWriteBw extends Measurement {
    /** Called by the command line. */
    public IbWriteBw() {
        super(new BandwidthOptions(), Verb.WRITE);
    }
}
