package io.rdma4j.ibverbs.provider;

import io.rdma4j.ibverbs.diagnosis.Diagnosis;
import io.rdma4j.ibverbs.diagnosis.Finding;
import io.rdma4j.ibverbs.verbs.NativeLibraries;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaProvider;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The devices of the system's libibverbs. A machine whose kernel has none is recognized by a look into a folder: no library
 * is loaded there, and no native access needed.
 */
public final class NativeProvider implements RdmaProvider {
    private static final Path KERNEL_DEVICES = Path.of("/sys/class/infiniband");
    private static final String VERBS = "libibverbs.so.1";

    private @Nullable DeviceList list;

    /** Found by {@link java.util.ServiceLoader}. */
    public NativeProvider() {}

    @Override
    public List<RdmaDevice> devices() {
        if (!hasKernelDevice() || !isNativeAccessEnabled()) {
            return List.of();
        }
        try {
            return list().devices();
        } catch (RdmaException | IllegalArgumentException _) {
            // The remarks say which.
            return List.of();
        }
    }

    @Override
    public List<String> remarks() {
        Diagnosis diagnosis = new Diagnosis(isNativeAccessEnabled(), this::libraryError);
        List<Finding> findings = new ArrayList<>(diagnosis.findings());
        if (findings.isEmpty()) {
            findings.addAll(
                    diagnosis.unlisted(devices().stream().map(RdmaDevice::name).toList()));
        }
        return findings.stream().map(Finding::sentence).toList();
    }

    private Optional<String> libraryError() {
        try {
            list();
            return Optional.empty();
        } catch (RdmaException | IllegalArgumentException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    private static boolean isNativeAccessEnabled() {
        return NativeProvider.class.getModule().isNativeAccessEnabled();
    }

    private static boolean hasKernelDevice() {
        try (DirectoryStream<Path> devices = Files.newDirectoryStream(KERNEL_DEVICES)) {
            return devices.iterator().hasNext();
        } catch (IOException _) {
            return false;
        }
    }

    private synchronized DeviceList list() throws RdmaException {
        DeviceList known = list;
        if (known == null) {
            NativeLibraries libraries = NativeLibraries.of(load(VERBS),
                    Linker.nativeLinker().defaultLookup());
            known = new DeviceList(libraries,
                    new KernelManager(() -> load("librdmacm.so.1"), libraries.system()),
                    KERNEL_DEVICES);
            list = known;
        }
        return known;
    }

    /** @throws IllegalArgumentException if there is no such library */
    private static SymbolLookup load(String library) {
        return SymbolLookup.libraryLookup(library, Arena.global());
    }
}
