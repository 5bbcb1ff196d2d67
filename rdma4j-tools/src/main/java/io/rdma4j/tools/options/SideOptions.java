// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.options;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;

import java.io.IOException;
import java.net.InetAddress;

/** Where the two sides of a tool meet over TCP, and which port of which device this side uses. */
public final class SideOptions {
    private static final int MOST_GIDS = 255 * 256;

    @Option(names = {"-p", "--port"}, paramLabel = "PORT", defaultValue = "18515",
            converter = WholeNumber.class,
            description = "TCP port to listen on or to connect to (default: ${DEFAULT-VALUE});"
                    + " 0 listens on a free one and prints it.")
    private long port;

    @Option(names = {"-d", DeviceName.OPTION}, paramLabel = "DEV",
            description = "Use this device (default: that of the address by which the sides reach"
                    + " each other).")
    private @Nullable String deviceName;

    @Option(names = {"-i", "--ib-port"}, paramLabel = "PORT", converter = WholeNumber.class,
            description = "Use this port of the device (default: that of the GID, or 1).")
    private @Nullable Long devicePort;

    /** Called by the command line. */
    public SideOptions() {}

    /** Refuses values that make no sense; only a server may leave the TCP port open. */
    public void check(CommandSpec spec, boolean isServer) {
        WholeNumber.requireRange(spec, "-p", port, isServer ? 0 : 1, 65535);
        if (devicePort != null) {
            WholeNumber.requireRange(spec, "-i", devicePort, 1, 255);
        }
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

    /** {@return the number of the device's port that the user chose, or 1} */
    public int devicePort() {
        Long chosen = devicePort;
        return chosen == null ? 1 : chosen.intValue();
    }

    /** {@return whether the user named a device} */
    public boolean isDeviceChosen() {
        return deviceName != null;
    }

    /**
     * {@return the device that the user named, opened; null if none was named} The caller closes it.
     *
     * @throws RdmaException if it can have no queue pairs now; EADDRINUSE if another process has one of its addresses
     */
    public @Nullable DeviceContext openChosen() throws RdmaException {
        String chosen = deviceName;
        if (chosen == null) {
            return null;
        }
        DeviceContext context = RdmaDevices.find(chosen).open();
        try {
            tryQueuePair(context);
        } catch (RdmaException e) {
            context.close();
            throw e;
        }
        return context;
    }

    /** A device may tell only now that another process has its addresses, and the tool would tell only once a peer has come. */
    private static void tryQueuePair(DeviceContext context) throws RdmaException {
        try (ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue completions = context.createCompletionQueue(1)) {
            domain.createQueuePair(new QueuePairInitAttributes().completionQueue(completions))
                    .close();
        }
    }

    /**
     * {@return the device that the user named, or the one that has an address, opened} The caller closes it.
     *
     * @param local by which address of this machine the peer is reached
     */
    public DeviceContext open(InetAddress local) throws IOException {
        DeviceContext chosen = openChosen();
        return chosen == null ? DeviceOfAddress.open(local) : chosen;
    }

    /** {@return the port that the user chose; without a choice the one whose GID is an address of this machine} */
    public int devicePort(DeviceContext context, InetAddress local) throws RdmaException {
        GidEntry entry = devicePort == null
                ? GidChoice.at(context.queryGidTable(), local)
                : null;
        return entry == null ? devicePort() : entry.port();
    }
}
