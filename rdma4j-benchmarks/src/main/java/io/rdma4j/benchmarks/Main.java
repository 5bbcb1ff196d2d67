// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks;

import io.rdma4j.benchmarks.compare.Compare;
import io.rdma4j.benchmarks.service.ServiceCommand;
import io.rdma4j.benchmarks.side.Side;
import picocli.CommandLine;

import java.util.Locale;

/** The program behind {@code benchmarks/compare}. */
public final class Main {
    private Main() {}

    /** Runs {@code compare}, or one side of a measurement, and exits with its status. */
    public static void main(String[] arguments) {
        Locale.setDefault(Locale.ROOT);
        CommandLine line = new CommandLine(new Compare()).addSubcommand(new Side())
                .addSubcommand(new ServiceCommand())
                .setCaseInsensitiveEnumValuesAllowed(true);
        line.setExecutionExceptionHandler((e, command, parsed) -> {
            command.getErr().println(command.getCommandName() + ": " + e);
            return 1;
        });
        System.exit(line.execute(arguments));
    }
}
