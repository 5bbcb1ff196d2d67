// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.options.WholeNumber;
import io.rdma4j.verbs.Mtu;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

/** The options that the ping-pong tools over connections have. */
final class ConnectionOptions {
    @Option(names = {"-s", "--size"}, paramLabel = "SIZE", defaultValue = "4096",
            converter = WholeNumber.class,
            description = "Bytes of a message (default: ${DEFAULT-VALUE}).")
    private long size;

    @Option(names = {"-m", "--mtu"}, paramLabel = "SIZE", defaultValue = "1024",
            converter = MtuBytes.class, description = "Path MTU (default: ${DEFAULT-VALUE}).")
    private Mtu mtu = Mtu.MTU_1024;

    /** {@return bytes of a message} Refuses a value that makes no sense. */
    long size(CommandSpec spec, long lowest) {
        WholeNumber.requireRange(spec, "-s", size, lowest, Traffic.LONGEST);
        return size;
    }

    Mtu mtu() {
        return mtu;
    }
}
