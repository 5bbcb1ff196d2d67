package io.rdma4j.tools.options;

import io.rdma4j.verbs.DeviceContext;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.io.IOException;

/** Where the two sides of a tool meet over TCP, and which port of which device this side uses. */
public final class SideOptions {
    private static final int MOST_GIDS = 255 * 256;

    @Option(names = {"-p", "--port"}, paramLabel = "PORT", defaultValue = "18515",
            converter = WholeNumber.class,
            description = "TCP port to listen on or to connect to (default: ${DEFAULT-VALUE});"
                    + " 0 listens on a free one and prints it.")
    private long port;

    @Mixin
    private DeviceName deviceName = new DeviceName();

    @Option(names = {"-i", "--ib-port"}, paramLabel = "PORT", defaultValue = "1",
            converter = WholeNumber.class,
            description = "Use this port of the device (default: ${DEFAULT-VALUE}).")
    private long devicePort;

    /** Called by the command line. */
    public SideOptions() {}

    /** Refuses values that make no sense; only a server may leave the TCP port open. */
    public void check(CommandSpec spec, boolean isServer) {
        WholeNumber.requireRange(spec, "-p", port, isServer ? 0 : 1, 65535);
        WholeNumber.requireRange(spec, "-i", devicePort, 1, 255);
    }

    /** Refuses an index of a GID that no table has. */
    public static void checkGidIndex(CommandSpec spec, String option, @Nullable Long index) {
        if (index != null) {
            WholeNumber.requireRange(spec, option, index, 0, MOST_GIDS);
        }
    }

    /** {@return the TCP port, 0 for any} */
    public int port() {
        return (int) port;
    }

    /** {@return the number of the device's port} */
    public int devicePort() {
        return (int) devicePort;
    }

    /** {@return whether the user said which device or port of it to use} */
    public boolean isPlaceChosen() {
        return deviceName.isChosen() || devicePort != 1;
    }

    /** {@return the device, opened; the caller closes it} */
    public DeviceContext open() throws IOException {
        return deviceName.device().open();
    }

    /** {@return the index of the local GID: the chosen one, or a default, for RoCE has no address without one} */
    public int gidIndex(DeviceContext context, @Nullable Long chosen) throws IOException {
        return GidChoice.index(context, devicePort(), chosen);
    }
}
