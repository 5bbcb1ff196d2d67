package io.rdma4j.ibverbs.provider;

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
import java.util.List;

/**
 * The devices of the system's libibverbs. A machine whose kernel has none is recognized by a look into a folder: no library
 * is loaded there, and no native access needed.
 */
public final class NativeProvider implements RdmaProvider {
    private static final Path KERNEL_DEVICES = Path.of("/sys/class/infiniband");

    private @Nullable DeviceList list;

    /** Found by {@link java.util.ServiceLoader}. */
    public NativeProvider() {}

    @Override
    public List<RdmaDevice> devices() {
        if (!hasKernelDevice() || !NativeProvider.class.getModule().isNativeAccessEnabled()) {
            return List.of();
        }
        try {
            return list().devices();
        } catch (RdmaException | IllegalArgumentException noLibraryThatFits) {
            return List.of();
        }
    }

    private static boolean hasKernelDevice() {
        try (DirectoryStream<Path> devices = Files.newDirectoryStream(KERNEL_DEVICES)) {
            return devices.iterator().hasNext();
        } catch (IOException none) {
            return false;
        }
    }

    private synchronized DeviceList list() throws RdmaException {
        DeviceList known = list;
        if (known == null) {
            known = new DeviceList(NativeLibraries.of(
                    SymbolLookup.libraryLookup("libibverbs.so.1", Arena.global()),
                    Linker.nativeLinker().defaultLookup()));
            list = known;
        }
        return known;
    }
}
