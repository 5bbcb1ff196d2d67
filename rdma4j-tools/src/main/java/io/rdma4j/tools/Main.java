package io.rdma4j.tools;

import io.rdma4j.tools.basic.Client;
import io.rdma4j.tools.basic.Server;
import io.rdma4j.tools.cmtools.Cmtime;
import io.rdma4j.tools.cmtools.Mckey;
import io.rdma4j.tools.cmtools.Ucmatose;
import io.rdma4j.tools.cmtools.Udaddy;
import io.rdma4j.tools.demo.Demo;
import io.rdma4j.tools.demo.DemoSide;
import io.rdma4j.tools.devices.IbvAsyncwatch;
import io.rdma4j.tools.devices.IbvDevices;
import io.rdma4j.tools.devices.IbvDevinfo;
import io.rdma4j.tools.devices.ShowGids;
import io.rdma4j.tools.options.DeviceName;
import io.rdma4j.tools.output.OneLine;
import io.rdma4j.tools.perftest.IbAtomicBw;
import io.rdma4j.tools.perftest.IbAtomicLat;
import io.rdma4j.tools.perftest.IbReadBw;
import io.rdma4j.tools.perftest.IbReadLat;
import io.rdma4j.tools.perftest.IbSendBw;
import io.rdma4j.tools.perftest.IbSendLat;
import io.rdma4j.tools.perftest.IbWriteBw;
import io.rdma4j.tools.perftest.IbWriteLat;
import io.rdma4j.tools.pingpong.AtomicPingpong;
import io.rdma4j.tools.pingpong.IbvRcPingpong;
import io.rdma4j.tools.pingpong.IbvSrqPingpong;
import io.rdma4j.tools.pingpong.IbvUcPingpong;
import io.rdma4j.tools.pingpong.IbvUdPingpong;
import io.rdma4j.tools.rping.Rping;
import io.rdma4j.tools.stat.Stat;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;

import java.util.Locale;

/** The {@code rdma4j} command. */
@Command(name = "rdma4j", version = "rdma4j 0.1.0",
        description = "RDMA for Java, with or without the NIC.", sortOptions = false,
        usageHelpAutoWidth = true, exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:success", "1:something failed; standard error says what",
            "2:wrong options or arguments"},
        subcommands = {Demo.class, DemoSide.class, Server.class, Client.class, Rping.class,
            Ucmatose.class,
            Udaddy.class,
            Mckey.class,
            Cmtime.class,
            IbvDevices.class, IbvDevinfo.class, Stat.class,
            IbvAsyncwatch.class,
            ShowGids.class,
            IbvRcPingpong.class,
            IbvUcPingpong.class,
            IbvUdPingpong.class,
            IbvSrqPingpong.class,
            AtomicPingpong.class,
            IbWriteBw.class,
            IbReadBw.class,
            IbSendBw.class,
            IbAtomicBw.class,
            IbWriteLat.class,
            IbReadLat.class,
            IbSendLat.class,
            IbAtomicLat.class})
public final class Main implements Runnable {
    @Option(names = {"-h", "--help"}, usageHelp = true, scope = ScopeType.INHERIT,
            description = "Show this help and exit.")
    @SuppressWarnings("unused")
    private boolean isHelp;

    // Not inherited: rping has a -V of its own.
    @Option(names = {"-V", "--version"}, versionHelp = true,
            description = "Show the version and exit.")
    @SuppressWarnings("unused")
    private boolean isVersion;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private Main() {}

    /** Runs a command and exits with its status. */
    public static void main(String[] arguments) {
        // Programs read this output as they read the originals': digits are ASCII in every locale.
        Locale.setDefault(Locale.ROOT);
        System.exit(commandLine().execute(arguments));
    }

    static CommandLine commandLine() {
        return new CommandLine(new Main()).setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(oneLineForWrongArguments())
                .setExecutionExceptionHandler(oneLineForFailures());
    }

    private static IParameterExceptionHandler oneLineForWrongArguments() {
        return (e, arguments) -> {
            CommandLine command = e.getCommandLine();
            command.getErr().printf("%s: %s; '%s --help' lists what is possible%n",
                    command.getCommandName(), OneLine.of(e),
                    command.getCommandSpec().qualifiedName());
            return command.getCommandSpec().exitCodeOnInvalidInput();
        };
    }

    private static IExecutionExceptionHandler oneLineForFailures() {
        return (e, command, parsed) -> {
            command.getErr().printf("%s: %s%s%n", command.getCommandName(), OneLine.of(e),
                    DeviceName.wayOut(e, command.getCommandSpec()));
            return command.getCommandSpec().exitCodeOnExecutionException();
        };
    }

    @Override
    public void run() {
        spec.commandLine().usage(spec.commandLine().getOut());
    }
}
