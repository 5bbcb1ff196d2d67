// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit.junit;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** What one test was given, and what it must leave as it was. */
final class TestRun {
    /** The names of the devices that are open in this process, with commas between them. */
    private static final String OPEN_DEVICES = "rdma4j.devices";
    /** The device of ids whose last queue is closed is closed a moment later, in a thread of its own. */
    private static final Duration PATIENCE = Duration.ofSeconds(3);

    private final RdmaTest settings;
    private final @Nullable Path recording;
    private final ChangedProperties properties = new ChangedProperties();
    private final List<String> openBefore = openDevices();
    private final List<ConnectedIds> pairs = new ArrayList<>();
    private @Nullable RdmaDevice device;
    private @Nullable DeviceContext context;
    private @Nullable InetAddress address;
    private @Nullable Arena arena;

    private TestRun(RdmaTest settings, @Nullable Path recording) {
        this.settings = settings;
        this.recording = recording;
    }

    /** A test is about to begin. */
    static TestRun begin(RdmaTest settings, ExtensionContext test) {
        TestRun run = new TestRun(settings, settings.record() ? recordingOf(test) : null);
        run.changeProperties();
        return run;
    }

    private void changeProperties() {
        if ((recording != null || !settings.impairment().isEmpty()) && !openBefore.isEmpty()) {
            throw new ExtensionConfigurationException(String.join(", ", openBefore) + " was opened"
                    + " before the test, and is neither impaired nor recorded now: close it first");
        }
        properties.set("rdma4j.device", settings.device());
        if (!settings.impairment().isEmpty()) {
            properties.set("rdma4j.impair", settings.impairment());
        }
        if (recording != null) {
            properties.set("rdma4j.pcap", recording.toString());
        }
    }

    private static Path recordingOf(ExtensionContext test) {
        Path folder = Path.of(test.getConfigurationParameter("rdma4j.recordings")
                .orElse("target/rdma4j-recordings"));
        String name = test.getRequiredTestClass().getName() + "."
                + test.getRequiredTestMethod().getName();
        try {
            Files.createDirectories(folder);
            // Repeated and parameterized tests have a file for each.
            return Files.createTempFile(folder, name + "-", ".pcap");
        } catch (IOException e) {
            throw new UncheckedIOException("cannot record in " + folder, e);
        }
    }

    // ---------------------------------------------------------------- what it is given

    RdmaDevice device() throws RdmaException {
        find();
        RdmaDevice found = device;
        if (found == null) {
            throw new RdmaException(Errno.ENODEV, "find device for test",
                    "no software device " + settings.device() + " has a loopback address; there is "
                            + RdmaDevices.list().stream().map(RdmaDevice::name)
                                    .collect(Collectors.joining(", ")));
        }
        return found;
    }

    InetSocketAddress address() throws RdmaException {
        device();
        return new InetSocketAddress(address, 0);
    }

    /** Looks for the device that has a loopback address, and opens it for that. */
    private void find() throws RdmaException {
        String wanted = settings.device();
        for (RdmaDevice each : device != null ? List.<RdmaDevice>of() : RdmaDevices.list()) {
            if (each.kind() == DeviceKind.SOFTWARE
                    && (each.name().equals(wanted) || each.name().startsWith(wanted + "_"))) {
                InetAddress found = loopbackAddress(each);
                if (found != null) {
                    device = each;
                    address = found;
                    return;
                }
            }
        }
    }

    /** {@return a loopback address of a device, an IPv4 one if there is one, null without any} */
    private static @Nullable InetAddress loopbackAddress(RdmaDevice device) throws RdmaException {
        InetAddress best = null;
        try (DeviceContext open = device.open()) {
            for (GidEntry entry : open.queryGidTable()) {
                for (InetAddress each : addresses(device, entry)) {
                    if (each.isLoopbackAddress()
                            && (best == null || !(best instanceof Inet4Address))) {
                        best = each;
                    }
                }
            }
        }
        return best;
    }

    /** {@return what a listener can be bound to} A GID of iWARP is no address: it has all those of its interface. */
    private static List<InetAddress> addresses(RdmaDevice device, GidEntry entry) {
        if (device.transport() != TransportType.IWARP) {
            return List.of(entry.gid().address());
        }
        try {
            NetworkInterface below = NetworkInterface.getByIndex(entry.interfaceIndex());
            return below == null ? List.of() : Collections.list(below.getInetAddresses());
        } catch (SocketException gone) {
            return List.of();
        }
    }

    DeviceContext context() throws RdmaException {
        DeviceContext open = context;
        if (open == null) {
            open = device().open();
            context = open;
        }
        return open;
    }

    ConnectedIds connectedIds() throws RdmaException {
        ConnectedIds made = ConnectedIds.at(address());
        pairs.add(made);
        return made;
    }

    Arena arena() {
        Arena open = arena;
        if (open == null) {
            open = Arena.ofShared();
            arena = open;
        }
        return open;
    }

    // ---------------------------------------------------------------- the end

    /**
     * The test is over.
     *
     * @throws AssertionError if it has left anything open
     */
    void end(ExtensionContext test) throws Exception {
        List<String> left = new ArrayList<>();
        try (properties) {
            closeIds(left);
            closeContext(left);
            if (arena != null) {
                arena.close();
            }
            findOpenDevices(left);
        } finally {
            keepRecording(test, !left.isEmpty());
        }
        if (!left.isEmpty()) {
            throw new AssertionError("the test has left open: " + String.join("; ", left));
        }
    }

    private void closeIds(List<String> left) {
        for (ConnectedIds each : pairs) {
            try {
                each.close();
            } catch (RdmaException e) {
                left.add("the connected ids: " + e.getMessage());
            }
        }
    }

    private void closeContext(List<String> left) throws RdmaException {
        DeviceContext open = context;
        if (open == null) {
            return;
        }
        try {
            open.close();
        } catch (RdmaException e) {
            if (e.errno() != Errno.EBUSY) {
                throw e;
            }
            left.add(open.device().name() + ": " + e.getMessage());
            open.closeAll();
        }
    }

    private void findOpenDevices(List<String> left) {
        long endNs = System.nanoTime() + PATIENCE.toNanos();
        List<String> open = openSinceBefore();
        while (!open.isEmpty() && System.nanoTime() - endNs < 0) {
            LockSupport.parkNanos(Duration.ofMillis(1).toNanos());
            open = openSinceBefore();
        }
        for (String name : open) {
            left.add(name
                    + ", by a context, an id, or what was made of its device, such as a region");
        }
    }

    private List<String> openSinceBefore() {
        List<String> open = new ArrayList<>(openDevices());
        openBefore.forEach(open::remove);
        return open;
    }

    private static List<String> openDevices() {
        return Arrays.stream(System.getProperty(OPEN_DEVICES, "").split(","))
                .filter(name -> !name.isEmpty()).toList();
    }

    private void keepRecording(ExtensionContext test, boolean hasLeft) throws IOException {
        if (recording == null) {
            return;
        }
        if (hasLeft || test.getExecutionException().isPresent()) {
            test.publishReportEntry("rdma4j.recording", recording.toString());
        } else {
            Files.deleteIfExists(recording);
        }
    }
}
