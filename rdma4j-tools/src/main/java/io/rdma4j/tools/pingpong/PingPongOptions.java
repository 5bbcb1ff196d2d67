package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** The options that all the ping-pong tools have. */
final class PingPongOptions {
    private static final int LONGEST_PATIENCE_S = 1_000_000;

    @Parameters(arity = "0..1", paramLabel = "HOST",
            description = "The server to play with (default: be the server and wait).")
    private @Nullable String host;

    @Option(names = {"-p", "--port"}, paramLabel = "PORT", defaultValue = "18515",
            converter = WholeNumber.class,
            description = "TCP port to listen on or to connect to (default: ${DEFAULT-VALUE});"
                    + " 0 listens on a free one and prints it.")
    private long port;

    @Option(names = {"-d", "--ib-dev"}, paramLabel = "DEV",
            description = "Use this device (default: the first).")
    private @Nullable String deviceName;

    @Option(names = {"-i", "--ib-port"}, paramLabel = "PORT", defaultValue = "1",
            converter = WholeNumber.class,
            description = "Use this port of the device (default: ${DEFAULT-VALUE}).")
    private long devicePort;

    @Option(names = {"-r", "--rx-depth"}, paramLabel = "DEPTH", defaultValue = "500",
            converter = WholeNumber.class,
            description = "Receives to post at a time (default: ${DEFAULT-VALUE}).")
    private long receiveDepth;

    @Option(names = {"-n", "--iters"}, paramLabel = "COUNT", defaultValue = "1000",
            converter = WholeNumber.class,
            description = "Exchanges (default: ${DEFAULT-VALUE}).")
    private long iterations;

    @Option(names = {"-l", "--sl"}, paramLabel = "SL", defaultValue = "0",
            converter = WholeNumber.class,
            description = "Service level (default: ${DEFAULT-VALUE}).")
    private long serviceLevel;

    @Option(names = {"-e", "--events"},
            description = "Sleep until completions are announced (default: poll).")
    private boolean usesEvents;

    @Option(names = {"-g", "--gid-idx"}, paramLabel = "INDEX", converter = WholeNumber.class,
            description = "Local GID, by its index (default: the first of IPv4).")
    private @Nullable Long gidIndex;

    @Option(names = {"-c", "--chk"}, description = "Check what was received.")
    private boolean isChecking;

    @Option(names = "--patience", paramLabel = "SECONDS", defaultValue = "10",
            converter = WholeNumber.class,
            description = "Give up when nothing comes from the peer for so long"
                    + " (default: ${DEFAULT-VALUE}).")
    private long patienceS;

    /** Refuses values that make no sense. */
    void check(CommandSpec spec) {
        requireRange(spec, "-p", port, host == null ? 0 : 1, 65535);
        requireRange(spec, "-i", devicePort, 1, 255);
        requireRange(spec, "-r", receiveDepth, 1, Integer.MAX_VALUE);
        requireRange(spec, "-n", iterations, 1, Integer.MAX_VALUE);
        requireRange(spec, "-l", serviceLevel, 0, 15);
        requireRange(spec, "--patience", patienceS, 1, LONGEST_PATIENCE_S);
        if (gidIndex != null) {
            requireRange(spec, "-g", gidIndex, 0, 255 * 256);
        }
    }

    static void requireRange(CommandSpec spec, String option, long value, long lowest,
            long highest) {
        if (value < lowest || value > highest) {
            throw new ParameterException(spec.commandLine(), option + " must be from " + lowest
                    + " to " + highest + ", not " + value);
        }
    }

    /** {@return the server's name; null makes this the server} */
    @Nullable
    String host() {
        return host;
    }

    int port() {
        return (int) port;
    }

    int devicePort() {
        return (int) devicePort;
    }

    int receiveDepth() {
        return (int) receiveDepth;
    }

    int iterations() {
        return (int) iterations;
    }

    int serviceLevel() {
        return (int) serviceLevel;
    }

    boolean usesEvents() {
        return usesEvents;
    }

    boolean isChecking() {
        return isChecking;
    }

    Duration patience() {
        return Duration.ofSeconds(patienceS);
    }

    DeviceContext open() throws IOException {
        if (deviceName != null) {
            return RdmaDevices.find(deviceName).open();
        }
        List<RdmaDevice> devices = RdmaDevices.list();
        if (devices.isEmpty()) {
            throw new IOException("No IB devices found");
        }
        return devices.getFirst().open();
    }

    /** {@return the index of the local GID: RoCE has no address without one, so there is a default} */
    int gidIndex(DeviceContext context) throws IOException {
        context.queryPort(devicePort()); // Refuses a port there is not.
        Long chosen = gidIndex;
        if (chosen != null) {
            int index = chosen.intValue();
            Gid gid = context.queryGid(devicePort(), index);
            if (gid.isZero()) {
                throw new IOException("GID index " + index + " of " + context.device().name()
                        + " is empty; show_gids lists the others");
            }
            return index;
        }
        List<GidEntry> table = context.queryGidTable().stream()
                .filter(entry -> entry.port() == devicePort()).toList();
        return table.stream().filter(entry -> entry.gid().isIpv4()).findFirst()
                .or(() -> table.stream().findFirst())
                .orElseThrow(() -> new IOException(context.device().name() + " has no GID"))
                .index();
    }
}
