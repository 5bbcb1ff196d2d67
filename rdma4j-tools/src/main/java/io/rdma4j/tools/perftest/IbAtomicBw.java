// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import picocli.CommandLine.Command;

/**
 * Rate of atomic operations.
 *
 * <p>C: {@code ib_atomic_bw} of perftest.
 */
@Command(name = "ib_atomic_bw", sortOptions = false,
        description = "Rate of atomic operations, with a C or Java ib_atomic_bw.")
public final class IbAtomicBw extends Measurement {
    /** Called by the command line. */
    public IbAtomicBw() {
        super(new BandwidthOptions(), Verb.ATOMIC);
    }
}
