package io.rdma4j.tools.options;

import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.util.List;

/** Which device a tool uses. */
public final class DeviceName {
    @Option(names = {"-d", "--ib-dev"}, paramLabel = "DEV",
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

    /** {@return the device of that name; all if it is null} */
    public static List<RdmaDevice> devices(@Nullable String only) throws RdmaException {
        return only == null ? RdmaDevices.list() : List.of(RdmaDevices.find(only));
    }
}
