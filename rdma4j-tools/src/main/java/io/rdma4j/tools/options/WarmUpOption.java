// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import picocli.CommandLine.Option;

/** Whether a tool that measures warms the JVM up before. */
public final class WarmUpOption {
    @Option(names = "--perform_warm_up", negatable = true, defaultValue = "true",
            fallbackValue = "true",
            description = "Do for some seconds what is measured before it counts, unless the peer"
                    + " takes no part in it (default: yes).")
    private boolean isWanted = true;

    /** Called by the command line. */
    public WarmUpOption() {}

    /** {@return whether messages go before those that count} */
    public boolean isWanted() {
        return isWanted;
    }
}
