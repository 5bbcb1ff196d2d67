// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;

/** Options of the C programs that make no sense here, and values that make none. */
public final class Refusal {
    private Refusal() {}

    /** Ends a command with status 2 and one line that names the option. */
    public static void when(CommandSpec spec, boolean isWrong, String reason) {
        if (isWrong) {
            throw new ParameterException(spec.commandLine(), reason);
        }
    }
}
