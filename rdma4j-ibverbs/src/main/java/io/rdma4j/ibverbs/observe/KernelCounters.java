// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.observe;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * The counters of a device in the kernel's driver, read from files each time. They count since the kernel has the device,
 * for all programs. A file that is missing, disappears, cannot be read or has no number ({@code N/A (no PMA)}) is ignored:
 * no call fails. Thread safe.
 *
 * <p>Source: {@code Documentation/ABI/stable/sysfs-class-infiniband} of Linux, {@code hw_counters} and {@code counters}.
 */
public final class KernelCounters {
    /** The counters that the driver defines. */
    private static final String OF_DRIVER = "hw_counters";
    /** The counters that InfiniBand defines for every port; RoCE drivers provide some of them. */
    private static final String OF_PORT = "counters";
    /** A file next to the counters: for how many milliseconds the kernel caches the values. */
    private static final String LIFESPAN = "lifespan";

    private final Path device;

    /** @param device the folder in which the kernel describes the device, such as {@code /sys/class/infiniband/rxe0} */
    public KernelCounters(Path device) {
        this.device = device;
    }

    /** {@return the folder in which the kernel describes the device} */
    public Path device() {
        return device;
    }

    /**
     * {@return all counters by the kernel's names and in its units, sorted by name, summed over the ports} If a name occurs
     * twice, the driver's own counter has priority, and those of ports before that of the device.
     */
    public Map<String, Long> all() {
        Map<String, Long> total = new TreeMap<>();
        for (Path port : ports()) {
            Map<String, Long> ofPort = new TreeMap<>();
            read(port.resolve(OF_DRIVER), ofPort);
            read(port.resolve(OF_PORT), ofPort);
            ofPort.forEach((name, value) -> total.merge(name, value, Long::sum));
        }
        read(device.resolve(OF_DRIVER), total);
        return total;
    }

    /** Adds counters that are not there yet. */
    private static void read(Path folder, Map<String, Long> values) {
        for (Path file : children(folder)) {
            String name = String.valueOf(file.getFileName());
            if (!name.equals(LIFESPAN) && !values.containsKey(name)) {
                number(file).ifPresent(value -> values.put(name, value));
            }
        }
    }

    private List<Path> ports() {
        return children(device.resolve("ports"));
    }

    private static List<Path> children(Path folder) {
        List<Path> children = new ArrayList<>();
        try (DirectoryStream<Path> found = Files.newDirectoryStream(folder)) {
            found.forEach(children::add);
        } catch (IOException | DirectoryIteratorException gone) {
            return List.of();
        }
        return children;
    }

    private static OptionalLong number(Path file) {
        try {
            return OptionalLong.of(Long.parseLong(Files.readString(file).strip()));
        } catch (IOException | NumberFormatException nothing) {
            return OptionalLong.empty();
        }
    }
}
