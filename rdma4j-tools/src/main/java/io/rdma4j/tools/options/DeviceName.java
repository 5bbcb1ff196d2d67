// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.List;

/** Which device a tool uses. */
public final class DeviceName {
    static final String OPTION = "--ib-dev";

    @Option(names = {"-d", OPTION}, paramLabel = "DEV",
            description = "Use this device (default: the first).")
    private @Nullable String name;

    /** Called by the command line. */
    public DeviceName() {}

    /** {@return the device of that name, or the first} */
    public RdmaDevice device() throws IOException {
        String chosen = name;
        if (chosen != null) {
            return RdmaDevices.find(chosen);
        }
        List<RdmaDevice> devices = RdmaDevices.list();
        if (devices.isEmpty()) {
            throw new IOException("No IB devices found");
        }
        return devices.getFirst();
    }

    /**
     * {@return what to add to the failure of a command: which option is a way out} Two commands on one
     * machine meet where both take the first device, and another process cannot have it too.
     */
    public static String wayOut(Exception failure, CommandSpec command) {
        OptionSpec option = command.findOption(OPTION);
        if (option == null || !(failure instanceof RdmaException refusal)
                || refusal.errno() != Errno.EADDRINUSE) {
            return "";
        }
        String loopback = loopback();
        return loopback == null || loopback.equals(option.getValue())
                ? ""
                : "; -d " + loopback + " chooses the device of loopback";
    }

    private static @Nullable String loopback() {
        for (RdmaDevice device : RdmaDevices.list()) {
            if (isLoopback(device.name())) {
                return device.name();
            }
        }
        return null;
    }

    /** Devices of the software NIC are named after their network interface. */
    private static boolean isLoopback(String device) {
        try {
            NetworkInterface below = NetworkInterface
                    .getByName(device.substring(device.indexOf('_') + 1));
            return below != null && below.isLoopback();
        } catch (SocketException gone) {
            return false;
        }
    }

    /** {@return the device of that name; all if it is null} */
    public static List<RdmaDevice> devices(@Nullable String only) throws RdmaException {
        return only == null ? RdmaDevices.list() : List.of(RdmaDevices.find(only));
    }
}
