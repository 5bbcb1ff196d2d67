// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import picocli.CommandLine.Command;

/**
 * Bandwidth of SEND.
 *
 * <p>C: {@code ib_send_bw} of perftest.
 */
@Command(name = "ib_send_bw", sortOptions = false,
        description = "Bandwidth of SEND, with a C or Java ib_send_bw.")
public final class IbSendBw extends Measurement {
    /** Called by the command line. */
    public IbSendBw() {
        super(new BandwidthOptions(), Verb.SEND);
    }
}
