// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.tools.basic.Client;
import io.rdma4j.tools.basic.CourseLesson;
import io.rdma4j.tools.basic.Jshell;
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
import io.rdma4j.tools.doctor.Doctor;
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
import io.rdma4j.tools.rsocket.Rcopy;
import io.rdma4j.tools.rsocket.Riostream;
import io.rdma4j.tools.rsocket.Rstream;
import io.rdma4j.tools.rsocket.Udpong;
import io.rdma4j.tools.stat.Stat;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The {@code rdma4j} command. */
@Command(name = "rdma4j", versionProvider = Version.class,
        description = "RDMA for Java, with or without the NIC.", sortOptions = false,
        usageHelpAutoWidth = true,
        footer = "%nrdma4j run [RULES] -- COMMAND runs unchanged Java programs over RDMA: rdma4j run --help",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:success", "1:something failed; standard error says what",
            "2:wrong options or arguments"})
public final class Main implements Runnable {
    /** How many names are suggested at most instead of a wrong one. */
    private static final int ALIKE = 2;
    /** In the order of the help. */
    private static final Map<String, Class<?>> COMMANDS = new LinkedHashMap<>();

    static {
        COMMANDS.put("demo", Demo.class);
        COMMANDS.put("demo-side", DemoSide.class);
        COMMANDS.put("lesson", CourseLesson.class);
        COMMANDS.put("jshell", Jshell.class);
        COMMANDS.put("server", Server.class);
        COMMANDS.put("client", Client.class);
        COMMANDS.put("rping", Rping.class);
        COMMANDS.put("ucmatose", Ucmatose.class);
        COMMANDS.put("udaddy", Udaddy.class);
        COMMANDS.put("mckey", Mckey.class);
        COMMANDS.put("cmtime", Cmtime.class);
        COMMANDS.put("rstream", Rstream.class);
        COMMANDS.put("riostream", Riostream.class);
        COMMANDS.put("udpong", Udpong.class);
        COMMANDS.put("rcopy", Rcopy.class);
        COMMANDS.put("ibv_devices", IbvDevices.class);
        COMMANDS.put("ibv_devinfo", IbvDevinfo.class);
        COMMANDS.put("doctor", Doctor.class);
        COMMANDS.put("stat", Stat.class);
        COMMANDS.put("ibv_asyncwatch", IbvAsyncwatch.class);
        COMMANDS.put("show_gids", ShowGids.class);
        COMMANDS.put("ibv_rc_pingpong", IbvRcPingpong.class);
        COMMANDS.put("ibv_uc_pingpong", IbvUcPingpong.class);
        COMMANDS.put("ibv_ud_pingpong", IbvUdPingpong.class);
        COMMANDS.put("ibv_srq_pingpong", IbvSrqPingpong.class);
        COMMANDS.put("atomic_pingpong", AtomicPingpong.class);
        COMMANDS.put("ib_write_bw", IbWriteBw.class);
        COMMANDS.put("ib_read_bw", IbReadBw.class);
        COMMANDS.put("ib_send_bw", IbSendBw.class);
        COMMANDS.put("ib_atomic_bw", IbAtomicBw.class);
        COMMANDS.put("ib_write_lat", IbWriteLat.class);
        COMMANDS.put("ib_read_lat", IbReadLat.class);
        COMMANDS.put("ib_send_lat", IbSendLat.class);
        COMMANDS.put("ib_atomic_lat", IbAtomicLat.class);
    }

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
        int status;
        try {
            status = commandLine(arguments).execute(arguments);
        } catch (LinkageError e) {
            // A class could not be initialized, for example because the process may open no more files.
            Throwable cause = e;
            while (cause.getCause() != null) {
                cause = cause.getCause();
            }
            System.err.println("rdma4j: " + OneLine.of(cause));
            status = 1;
        }
        System.exit(status);
    }

    /**
     * {@return what runs a command with these arguments} The options of a command are found by reflection, which takes a
     * tenth of a second for all of them: so the others have no more than their names and what the help says of them.
     */
    static CommandLine commandLine(String[] arguments) {
        CommandLine line = new CommandLine(new Main());
        COMMANDS.forEach((name, type) -> line.addSubcommand(
                arguments.length > 0 && arguments[0].equals(name)
                        ? new CommandLine(type)
                        : new CommandLine(described(name, type))));
        return line.setCaseInsensitiveEnumValuesAllowed(true)
                .setParameterExceptionHandler(oneLineForWrongArguments())
                .setExecutionExceptionHandler(oneLineForFailures());
    }

    private static CommandSpec described(String name, Class<?> type) {
        Command command = type.getAnnotation(Command.class);
        CommandSpec spec = CommandSpec.create().name(name);
        spec.usageMessage().description(command.description()).hidden(command.hidden());
        return spec;
    }

    private static IParameterExceptionHandler oneLineForWrongArguments() {
        return (e, arguments) -> {
            CommandLine command = e.getCommandLine();
            command.getErr().printf("%s: %s; '%s --help' lists what is possible%n",
                    command.getCommandName(), whatIsWrong(e),
                    command.getCommandSpec().qualifiedName());
            return command.getCommandSpec().exitCodeOnInvalidInput();
        };
    }

    /** {@return what is wrong with arguments, and what was probably meant} */
    private static String whatIsWrong(ParameterException e) {
        if (!(e instanceof UnmatchedArgumentException unmatched)) {
            return OneLine.of(e);
        }
        boolean isCommand = unmatched.getCommandLine().getParent() == null
                && !unmatched.isUnknownOption();
        String what = isCommand
                ? "there is no command '" + unmatched.getUnmatched().getFirst() + "'"
                : OneLine.of(e);
        List<String> alike = unmatched.getSuggestions().stream().distinct().limit(ALIKE).toList();
        return alike.isEmpty() ? what : what + "; did you mean " + String.join(" or ", alike) + "?";
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
