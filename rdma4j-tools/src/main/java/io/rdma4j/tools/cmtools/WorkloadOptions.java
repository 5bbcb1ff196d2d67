// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.tools.options.Patience;
import io.rdma4j.tools.options.WholeNumber;
import io.rdma4j.verbs.AddressHandle;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.time.Duration;

/** The options about how much is sent and how long is waited. */
final class WorkloadOptions {
    private static final int MOST_CONNECTIONS = 100_000;

    @Option(names = "-c", paramLabel = "COUNT", defaultValue = "1", converter = WholeNumber.class,
            description = "Connections (default: ${DEFAULT-VALUE}).")
    private long connections;

    @Option(names = "-C", paramLabel = "COUNT", defaultValue = "10", converter = WholeNumber.class,
            description = "Messages over each connection (default: ${DEFAULT-VALUE}).")
    private long messages;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "100", converter = WholeNumber.class,
            description = "Bytes of a message (default: ${DEFAULT-VALUE}).")
    private long size;

    @Mixin
    private Patience patience = new Patience();

    /** {@return the load} Refuses values that make no sense. */
    Workload workload(CommandSpec spec) {
        patience.check(spec);
        return new Workload(WholeNumber.checked(spec, "-c", connections, 1, MOST_CONNECTIONS),
                WholeNumber.checked(spec, "-C", messages, 0, Integer.MAX_VALUE),
                WholeNumber.checked(spec, "-S", size, 0,
                        Integer.MAX_VALUE - AddressHandle.GLOBAL_ROUTE_LENGTH));
    }

    Duration patience() {
        return patience.duration();
    }
}
