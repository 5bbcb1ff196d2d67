// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import picocli.CommandLine.Command;

/**
 * Latency of SEND.
 *
 * <p>C: {@code ib_send_lat} of perftest.
 */
@Command(name = "ib_send_lat", sortOptions = false,
        description = "Latency of SEND, with a C or Java ib_send_lat.")
public final class IbSendLat extends Measurement {
    /** Called by the command line. */
    public IbSendLat() {
        super(new LatencyOptions(), Verb.SEND);
    }
}
