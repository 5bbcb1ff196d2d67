// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import picocli.CommandLine.Model.CommandSpec;

import java.io.IOException;
import java.io.PrintWriter;

/** The last two lines of a tool and its exit status, as the C programs make them. */
final class ExitStatus {
    /** What a tool does. */
    @FunctionalInterface
    interface Work {
        void run() throws IOException;
    }

    private ExitStatus() {}

    /**
     * {@return the exit status: 0, or 1 as of every command here} The line that it prints has the status of what failed, as with
     * the original, whose exit status is the lowest 8 bits of it.
     */
    static int of(CommandSpec spec, Work work) {
        PrintWriter out = spec.commandLine().getOut();
        int status = 0;
        try {
            work.run();
        } catch (IOException e) {
            status = e instanceof Failure failure ? failure.status() : -1;
            spec.commandLine().getErr().printf("%s: %s%n", spec.name(), e.getMessage());
            spec.commandLine().getErr().flush();
        }
        out.println("test complete");
        out.println("return status " + status);
        out.flush();
        return status == 0 ? 0 : 1;
    }
}
