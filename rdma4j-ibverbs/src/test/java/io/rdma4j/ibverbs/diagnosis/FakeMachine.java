// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.diagnosis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A machine in a directory: at first Linux with the libraries and without RDMA. */
final class FakeMachine {
    private final Path root;
    private final Map<Path, IOException> refusals = new HashMap<>();
    private String operatingSystem = "Linux";
    private boolean isNativeAccessEnabled = true;
    private Optional<String> libraryError = Optional.empty();
    private Optional<String> connectionLibraryError = Optional.empty();
    private boolean isLibraryAsked;

    FakeMachine(Path root) {
        this.root = root;
        limit("unlimited");
    }

    /** One on which nothing is missing. */
    static FakeMachine complete(Path root) {
        return new FakeMachine(root).verbs().device("mlx5_0", "uverbs0").node("uverbs0")
                .node("rdma_cm");
    }

    FakeMachine operatingSystem(String name) {
        operatingSystem = name;
        return this;
    }

    FakeMachine withoutNativeAccess() {
        isNativeAccessEnabled = false;
        return this;
    }

    FakeMachine libraryError(String error) {
        libraryError = Optional.of(error);
        return this;
    }

    FakeMachine connectionLibraryError(String error) {
        connectionLibraryError = Optional.of(error);
        return this;
    }

    /** What ib_uverbs brings. */
    FakeMachine verbs() {
        return file("sys/class/infiniband_verbs/abi_version", "6\n");
    }

    FakeMachine deviceWithoutVerbs(String name) {
        return file("sys/class/infiniband/" + name + "/node_type", "1: CA\n");
    }

    FakeMachine device(String name, String node) {
        return deviceWithoutVerbs(name)
                .file("sys/class/infiniband_verbs/" + node + "/ibdev", name + "\n");
    }

    FakeMachine link(String device, String layer) {
        return file("sys/class/infiniband/" + device + "/ports/1/link_layer", layer + "\n");
    }

    /** @param type as Linux numbers hardware: 1 is Ethernet, 32 InfiniBand */
    FakeMachine networkInterface(String name, int type) {
        return file("sys/class/net/" + name + "/type", type + "\n");
    }

    FakeMachine node(String name) {
        return file("dev/infiniband/" + name, "");
    }

    FakeMachine denied(String name) {
        Path file = root.resolve("dev/infiniband").resolve(name);
        refusals.put(file, new AccessDeniedException(file.toString()));
        return this;
    }

    /** As where the control group of a container does not allow the device. */
    FakeMachine forbidden(String name) {
        Path file = root.resolve("dev/infiniband").resolve(name);
        refusals.put(file,
                new FileSystemException(file.toString(), null, "Operation not permitted"));
        return this;
    }

    FakeMachine limit(String lockedMemory) {
        return file("proc/self/limits", String.format("""
                Limit                     Soft Limit           Hard Limit           Units
                Max processes             15426                15426                processes
                Max locked memory         %-20s %-20s bytes
                """, lockedMemory, lockedMemory));
    }

    FakeMachine capabilities(String hexadecimal) {
        return file("proc/self/status", "Name:\tjava\nCapEff:\t" + hexadecimal + "\n");
    }

    FakeMachine modules(String... names) {
        StringBuilder all = new StringBuilder();
        List.of(names).forEach(name -> all
                .append(name).append(" 16384 1 - Live 0x0000000000000000\n"));
        return file("proc/modules", all.toString());
    }

    /** A socket with UDP port 4791 of an address, as the table has it. */
    FakeMachine socket(String table, String address, int user) {
        return file("proc/net/" + table, String.format("""
                  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid
                  12: %s:0035 %s:0000 07 00000000:00000000 00:00000000 00000000     0        0 9 2
                 123: %s:12B7 %s:0000 07 00000000:00000000 00:00000000 00000000 %5d        0 8 2
                """, address, address, address, "0".repeat(address.length()), user));
    }

    private FakeMachine file(String path, String content) {
        try {
            Path file = root.resolve(path);
            Files.createDirectories(file.getParent());
            Files.writeString(file, content);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean isLibraryAsked() {
        return isLibraryAsked;
    }

    Diagnosis diagnosis() {
        return new Diagnosis(new KernelFiles(root, file -> {
            if (refusals.containsKey(file)) {
                throw refusals.get(file);
            }
            Opening.FOR_READING_AND_WRITING.open(file);
        }), operatingSystem, isNativeAccessEnabled, new Diagnosis.LibraryErrors() {
            @Override
            public Optional<String> ofVerbs() {
                isLibraryAsked = true;
                return libraryError;
            }

            @Override
            public Optional<String> ofConnectionManager() {
                return connectionLibraryError;
            }
        });
    }

    List<Finding> findings() {
        return diagnosis().findings();
    }
}
