package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.AddressInfo;
import io.rdma4j.cm.PortSpace;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * Takes the time of each step of the connection manager.
 *
 * <p>C: {@code cmtime} of librdmacm as rdma-core has it up to version 44: the server has the well-known port
 * and serves until it is stopped. Later versions meet over a controller ({@code -C}), which is refused.
 */
@Command(name = "cmtime",
        description = "Time of each step of the connection manager, with a C or Java cmtime.")
public final class Cmtime implements Callable<Integer> {
    private static final int MOST_CONNECTIONS = 100_000;
    private static final int LONGEST_TIMEOUT_MS = 1_000_000_000;
    private static final int LONGEST_PATIENCE_S = 1_000_000;
    private static final int MOST_RETRIES = 7;

    @Option(names = "-s", paramLabel = "ADDR",
            description = "Connect to this server (default: be the server).")
    private @Nullable String server;

    @Option(names = "-b", paramLabel = "ADDR", description = "Local address (default: all).")
    private @Nullable String local;

    @Option(names = "-c", paramLabel = "COUNT", defaultValue = "100",
            converter = WholeNumber.class,
            description = "Connections of the client (default: ${DEFAULT-VALUE}).")
    private long connections;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7471",
            description = "Port, as a number or a service's name (default: ${DEFAULT-VALUE}).")
    private String port = "7471";

    @Option(names = "-r", paramLabel = "COUNT", defaultValue = "2", converter = WholeNumber.class,
            description = "Retries of resolving and of packets (default: ${DEFAULT-VALUE}).")
    private long retries;

    @Option(names = "-t", paramLabel = "MS", defaultValue = "2000", converter = WholeNumber.class,
            description = "Time-out of resolving (default: ${DEFAULT-VALUE}).")
    private long timeoutMs;

    @Option(names = "--patience", paramLabel = "SECONDS", defaultValue = "10",
            converter = WholeNumber.class,
            description = "Give up when nothing comes from the server for so long"
                    + " (default: ${DEFAULT-VALUE}).")
    private long patienceS;

    @Option(names = {"-C", "-P"}, paramLabel = "X", hidden = true)
    private @Nullable String controller;

    @Option(names = "-L", hidden = true)
    private boolean isListening;

    @Option(names = {"-q", "-m", "-n"}, paramLabel = "X", hidden = true)
    private @Nullable String simulation;

    @Option(names = "-S", hidden = true)
    private boolean isSocketTest;

    @Option(names = "-B", paramLabel = "IF", hidden = true)
    private @Nullable String localInterface;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws IOException {
        refuse(controller != null || isListening,
                "-C, -L and -P are not possible: this cmtime knows"
                        + " no controller; start one without -s, the other with -s");
        refuse(simulation != null,
                "-q, -m and -n are not possible: connections here have real queue pairs");
        refuse(isSocketTest, "-S is not possible: this cmtime has no test of sockets");
        refuse(localInterface != null,
                "-B is not possible: give the interface's address with -b");
        int count = WholeNumber.checked(spec, "-c", connections, 1, MOST_CONNECTIONS);
        int tries = WholeNumber.checked(spec, "-r", retries, 0, MOST_RETRIES);
        WholeNumber.checked(spec, "-t", timeoutMs, 0, LONGEST_TIMEOUT_MS);
        WholeNumber.checked(spec, "--patience", patienceS, 1, LONGEST_PATIENCE_S);
        AddressInfo.Hints hints = new AddressInfo.Hints().portSpace(PortSpace.TCP);
        AddressInfo.Hints toBind = new AddressInfo.Hints(hints).set(AddressInfo.Flag.PASSIVE);
        if (server == null) {
            new CmtimeServer(spec.commandLine().getOut(), spec.commandLine().getErr())
                    .serve(AddressInfo.resolve(local, port, toBind).getFirst());
            return 0;
        }
        if (local != null) {
            AddressInfo bound = AddressInfo.resolve(local, "0", toBind).getFirst();
            if (bound.source() != null) {
                hints.source(bound.source());
            }
        }
        new CmtimeClient(spec.commandLine().getOut(), count, tries, Duration.ofMillis(timeoutMs),
                Duration.ofSeconds(patienceS))
                .run(AddressInfo.resolve(server, port, hints).getFirst());
        return 0;
    }

    private void refuse(boolean isWrong, String message) {
        if (isWrong) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}
