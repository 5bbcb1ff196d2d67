// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import picocli.CommandLine.Command;

/**
 * Bandwidth of RDMA READ.
 *
 * <p>C: {@code ib_read_bw} of perftest.
 */
@Command(name = "ib_read_bw", sortOptions = false,
        description = "Bandwidth of RDMA READ, with a C or Java ib_read_bw.")
public final class IbReadBw extends Measurement {
    /** Called by the command line. */
    public IbReadBw() {
        super(new BandwidthOptions(), Verb.READ);
    }
}
