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

    private static final int EXIT_BITS = 0xff;

    private ExitStatus() {}

    /** {@return the exit status: 0, or the lowest 8 bits of the status of what failed} */
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
        int visible = status & EXIT_BITS;
        return status != 0 && visible == 0 ? 1 : visible;
    }
}
