// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.diagnosis;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;

/**
 * The information about RDMA in Linux's files. A missing or unreadable file counts as empty.
 *
 * <p>Source: proc(5); Documentation/ABI/stable/sysfs-class-infiniband of the kernel.
 */
final class KernelFiles {
    private static final String DEVICES = "sys/class/infiniband";
    private static final String VERBS = "sys/class/infiniband_verbs";
    private static final String INTERFACES = "sys/class/net";
    private static final String NODES = "dev/infiniband";
    private static final String LOCKED_MEMORY = "Max locked memory";
    private static final String CAPABILITIES = "CapEff:";
    /** CAP_IPC_LOCK: the process has no limit. */
    private static final long MAY_LOCK = 1L << 14;
    /** As sockets of every address have UDP port 4791, in IPv4 and in IPv6. */
    private static final List<String> EVERY_ADDRESS = List.of("00000000:12B7",
            "00000000000000000000000000000000:12B7");
    private static final int LOCAL_ADDRESS = 1;
    private static final int USER = 7;

    private final Path root;
    private final Opening opening;

    KernelFiles(Path root, Opening opening) {
        this.root = root;
        this.opening = opening;
    }

    // ---------------------------------------------------------------- devices

    /** {@return the names of the RDMA devices, also of those without verbs for programs} */
    List<String> devices() {
        return names(DEVICES);
    }

    /** {@return whether the kernel offers verbs to programs, which is what ib_uverbs does} */
    boolean hasVerbs() {
        return Files.isDirectory(root.resolve(VERBS));
    }

    /** {@return the devices whose verbs the kernel offers} */
    List<KernelDevice> verbsDevices() {
        List<KernelDevice> devices = new ArrayList<>();
        for (String node : names(VERBS)) {
            List<String> name = lines(VERBS + "/" + node + "/ibdev");
            // The folder also contains a file with the version of the interface.
            if (!name.isEmpty()) {
                devices.add(new KernelDevice(name.getFirst().strip(), node));
            }
        }
        return devices;
    }

    /** {@return whether a port of a device has an InfiniBand link} */
    boolean hasInfinibandLink(String device) {
        String ports = DEVICES + "/" + device + "/ports";
        return names(ports).stream().anyMatch(
                port -> lines(ports + "/" + port + "/link_layer").contains("InfiniBand"));
    }

    /** {@return whether there is a network interface of IP over InfiniBand} Its type is ARPHRD_INFINIBAND. */
    boolean hasInfinibandInterface() {
        return names(INTERFACES).stream().anyMatch(
                name -> lines(INTERFACES + "/" + name + "/type").contains("32"));
    }

    /** {@return whether a file in /dev/infiniband exists} */
    boolean hasNode(String name) {
        return Files.exists(node(name));
    }

    /** {@return why a file in /dev/infiniband cannot be opened, null if it can} */
    @Nullable
    String refusal(String name) {
        try {
            opening.open(node(name));
            return null;
        } catch (AccessDeniedException e) {
            return "permission denied";
        } catch (FileSystemException e) {
            return e.getReason() == null ? "the system does not say why" : e.getReason();
        } catch (IOException e) {
            return e.getMessage() == null ? "the system does not say why" : e.getMessage();
        }
    }

    private Path node(String name) {
        return root.resolve(NODES).resolve(name);
    }

    // ---------------------------------------------------------------- modules, limits, ports

    /** {@return whether a module is loaded} One that is built into the kernel is not listed. */
    boolean hasModule(String name) {
        return lines("proc/modules").stream().anyMatch(line -> line.startsWith(name + " "));
    }

    /** {@return how much memory this process may lock, in bytes; empty if there is no limit, or it is unknown} */
    OptionalLong lockedMemoryLimit() {
        if (mayLock()) {
            return OptionalLong.empty();
        }
        for (String line : lines("proc/self/limits")) {
            if (line.startsWith(LOCKED_MEMORY)) {
                return number(line.substring(LOCKED_MEMORY.length()).strip().split("\\s+", -1)[0],
                        10);
            }
        }
        return OptionalLong.empty();
    }

    private boolean mayLock() {
        for (String line : lines("proc/self/status")) {
            if (line.startsWith(CAPABILITIES)) {
                long all = number(line.substring(CAPABILITIES.length()).strip(), 16).orElse(0);
                return (all & MAY_LOCK) != 0;
            }
        }
        return false;
    }

    private static OptionalLong number(String text, int radix) {
        try {
            return OptionalLong.of(Long.parseUnsignedLong(text, radix));
        } catch (NumberFormatException unlimited) {
            return OptionalLong.empty();
        }
    }

    /**
     * {@return whether the kernel's own RoCE driver has UDP port 4791} Its sockets are bound to all addresses and
     * belong to root; the kernel names holders of sockets only for processes.
     */
    boolean hasRocePort() {
        return hasModule("rdma_rxe") && (isRocePortIn("proc/net/udp")
                || isRocePortIn("proc/net/udp6"));
    }

    private boolean isRocePortIn(String table) {
        return lines(table).stream().map(line -> line.strip().split("\\s+", -1))
                .anyMatch(words -> words.length > USER
                        && EVERY_ADDRESS.contains(words[LOCAL_ADDRESS])
                        && words[USER].equals("0"));
    }

    // ---------------------------------------------------------------- reading

    private List<String> names(String directory) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(root.resolve(directory))) {
            files.forEach(file -> names.add(String.valueOf(file.getFileName())));
        } catch (IOException | DirectoryIteratorException notThere) {
            return List.of();
        }
        Collections.sort(names);
        return names;
    }

    private List<String> lines(String file) {
        try {
            return Files.readAllLines(root.resolve(file));
        } catch (IOException notThere) {
            return List.of();
        }
    }
}
