// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.time.Duration;

/**
 * How long the tools wait for a peer that says nothing; the C programs wait for ever.
 *
 * <p>A server waits for its first client without end.
 */
public final class Patience {
    private static final int LONGEST_S = 1_000_000;

    @Option(names = "--patience", paramLabel = "SECONDS", defaultValue = "10",
            converter = WholeNumber.class,
            description = "Give up when nothing comes from the peer for so long; a server waits for"
                    + " its first client without end (default: ${DEFAULT-VALUE}).")
    private long seconds;

    /** Called by the command line. */
    public Patience() {}

    /** Refuses values that make no sense. */
    public void check(CommandSpec spec) {
        WholeNumber.requireRange(spec, "--patience", seconds, 1, LONGEST_S);
    }

    /** {@return how long} */
    public Duration duration() {
        return Duration.ofSeconds(seconds);
    }
}
