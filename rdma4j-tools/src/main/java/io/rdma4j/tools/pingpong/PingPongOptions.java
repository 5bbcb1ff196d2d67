package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.options.Patience;
import io.rdma4j.tools.options.SideOptions;
import io.rdma4j.tools.options.WholeNumber;
import io.rdma4j.verbs.DeviceContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.time.Duration;

/** The options that all the ping-pong tools have. */
final class PingPongOptions {
    @Parameters(arity = "0..1", paramLabel = "HOST",
            description = "The server to play with (default: be the server and wait).")
    private @Nullable String host;

    @Mixin
    private SideOptions side = new SideOptions();

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

    @Mixin
    private Patience patience = new Patience();

    /** Refuses values that make no sense. */
    void check(CommandSpec spec) {
        side.check(spec, host == null);
        WholeNumber.requireRange(spec, "-r", receiveDepth, 1, Integer.MAX_VALUE);
        WholeNumber.requireRange(spec, "-n", iterations, 1, Integer.MAX_VALUE);
        WholeNumber.requireRange(spec, "-l", serviceLevel, 0, 15);
        patience.check(spec);
        SideOptions.checkGidIndex(spec, "-g", gidIndex);
    }

    /** {@return the server's name; null makes this the server} */
    @Nullable
    String host() {
        return host;
    }

    int port() {
        return side.port();
    }

    int devicePort() {
        return side.devicePort();
    }

    int receiveDepth() {
        return (int) receiveDepth;
    }

    int iterations() {
        return (int) iterations;
    }

    boolean usesEvents() {
        return usesEvents;
    }

    boolean isChecking() {
        return isChecking;
    }

    Duration patience() {
        return patience.duration();
    }

    DeviceContext open() throws IOException {
        return side.open();
    }

    /** {@return where this side's queue pairs are connected from} */
    LocalPort localPort(DeviceContext context) throws IOException {
        LocalPort.requireByHand(context,
                "use rping, or a tool of perftest such as ib_send_lat with -R");
        return new LocalPort(context, side.devicePort(), side.gidIndex(context, gidIndex),
                (int) serviceLevel, "-g");
    }
}
