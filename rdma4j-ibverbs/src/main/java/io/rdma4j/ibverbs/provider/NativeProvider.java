// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.provider;

import io.rdma4j.ibverbs.device.NativeLibraries;
import io.rdma4j.ibverbs.diagnosis.Diagnosis;
import io.rdma4j.ibverbs.diagnosis.Finding;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaProvider;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * The devices of the system's libibverbs. If a folder of the kernel shows that there are none, no library is loaded and no
 * native access is needed.
 */
public final class NativeProvider implements RdmaProvider {
    /** The folder in which the kernel describes devices and network interfaces. */
    private static final String CLASSES = "sys/class";
    private static final String DEVICES = "infiniband";

    private final Path root;
    private final Function<String, SymbolLookup> loader;
    private @Nullable DeviceList list;

    /** Found by {@link java.util.ServiceLoader}. */
    public NativeProvider() {
        this(Path.of("/"), library -> SymbolLookup.libraryLookup(library, Arena.global()));
    }

    /**
     * @param root the root of the paths of the kernel's files
     * @param loader loads a library by its name; throws an IllegalArgumentException if there is none
     */
    NativeProvider(Path root, Function<String, SymbolLookup> loader) {
        this.root = root;
        this.loader = loader;
    }

    @Override
    public List<RdmaDevice> devices() {
        if (!hasKernelDevice() || !isNativeAccessEnabled()) {
            return List.of();
        }
        try {
            return list().devices();
        } catch (RdmaException | RuntimeException _) {
            // Any failure must not affect software devices. The remarks report it.
            return List.of();
        }
    }

    @Override
    public List<String> remarks() {
        Diagnosis diagnosis = new Diagnosis(root, isNativeAccessEnabled(), new Libraries());
        List<Finding> findings = new ArrayList<>(diagnosis.findings());
        if (findings.isEmpty()) {
            findings.addAll(
                    diagnosis.unlisted(devices().stream().map(RdmaDevice::name).toList()));
        }
        return findings.stream().map(Finding::sentence).toList();
    }

    /** Loads them, as a program would that uses the devices. */
    private final class Libraries implements Diagnosis.LibraryErrors {
        @Override
        public Optional<String> ofVerbs() {
            try {
                list();
                return Optional.empty();
            } catch (RdmaException | RuntimeException e) {
                return Optional.of(String.valueOf(e.getMessage()));
            }
        }

        @Override
        public Optional<String> ofConnectionManager() {
            try {
                return list().manager().libraryError();
            } catch (RdmaException | RuntimeException e) {
                return Optional.of(String.valueOf(e.getMessage()));
            }
        }
    }

    private static boolean isNativeAccessEnabled() {
        return NativeProvider.class.getModule().isNativeAccessEnabled();
    }

    private boolean hasKernelDevice() {
        try (DirectoryStream<Path> devices = Files
                .newDirectoryStream(root.resolve(CLASSES).resolve(DEVICES))) {
            return devices.iterator().hasNext();
        } catch (IOException | DirectoryIteratorException _) {
            return false;
        }
    }

    private synchronized DeviceList list() throws RdmaException {
        DeviceList known = list;
        if (known == null) {
            NativeLibraries libraries = NativeLibraries.of(loader.apply("libibverbs.so.1"),
                    Linker.nativeLinker().defaultLookup());
            known = new DeviceList(libraries, new KernelManager(
                    () -> loader.apply("librdmacm.so.1"), libraries.system(), System::nanoTime),
                    root.resolve(CLASSES));
            list = known;
        }
        return known;
    }
}
