// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.endpoint.LocalPort;
import io.rdma4j.tools.options.GidChoice;
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
import java.net.InetAddress;
import java.time.Duration;

/** The options that all the ping-pong tools have. */
final class PingPongOptions {
    /** The option by which users choose a GID. */
    static final String GID_OPTION = "-g";

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

    @Option(names = {GID_OPTION, "--gid-idx"}, paramLabel = "INDEX", converter = WholeNumber.class,
            description = "Local GID, by its index (default: the address by which the sides reach"
                    + " each other).")
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

    /** {@return whether the user chose device and GID; else the peer decides them} */
    boolean isPortChosen() {
        return side.isDeviceChosen() && gidIndex != null;
    }

    /**
     * {@return the device that the user named, opened; null if none was named} The caller closes it.
     *
     * @throws IOException if it cannot be used, whoever the peer is
     */
    @Nullable
    DeviceContext openChosen() throws IOException {
        DeviceContext context = side.openChosen();
        if (context != null) {
            try {
                requireByHand(context);
                context.queryPort(side.devicePort());
            } catch (IOException | RuntimeException e) {
                context.close();
                throw e;
            }
        }
        return context;
    }

    /** {@return the device that the user named, or the one that has an address of this machine, opened} */
    DeviceContext open(InetAddress local) throws IOException {
        return side.open(local);
    }

    /** {@return where this side's queue pairs are connected from, by the user's choice} */
    LocalPort localPort(DeviceContext context) throws IOException {
        return localPort(context, side.devicePort(),
                GidChoice.index(context, side.devicePort(), gidIndex));
    }

    /**
     * {@return where this side's queue pairs are connected from}
     *
     * @param local by which address of this machine the peer is reached
     */
    LocalPort localPort(DeviceContext context, InetAddress local) throws IOException {
        requireByHand(context);
        int number = side.devicePort(context, local);
        return localPort(context, number,
                gidIndex == null
                        ? GidChoice.index(context, number, local)
                        : GidChoice.index(context, number, gidIndex));
    }

    private LocalPort localPort(DeviceContext context, int number, int index) {
        return new LocalPort(context, number, index, (int) serviceLevel, GID_OPTION);
    }

    private static void requireByHand(DeviceContext context) throws IOException {
        LocalPort.requireByHand(context,
                "use rping, or a tool of perftest such as ib_send_lat with -R");
    }
}
