// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.verbs;

import io.rdma4j.ibverbs.device.NativeLibraries;
import io.rdma4j.ibverbs.observe.KernelCounters;
import io.rdma4j.ibverbs.verbs.NativeContext;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;
import java.nio.file.Path;
import java.util.Map;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * The device of {@code instant_verbs.c}, opened as native devices are; the kernel, which knows nothing of it, is not asked.
 *
 * @param library the file
 */
record InstantDevice(Path library) implements RdmaDevice {
    @Override
    public String name() {
        return "instant0";
    }

    @Override
    public int index() {
        return 0;
    }

    @Override
    public long nodeGuid() {
        return 1;
    }

    @Override
    public NodeType nodeType() {
        return NodeType.CHANNEL_ADAPTER;
    }

    @Override
    public TransportType transport() {
        return TransportType.INFINIBAND;
    }

    @Override
    public DeviceKind kind() {
        return DeviceKind.NATIVE;
    }

    @Override
    public DeviceContext open() throws RdmaException {
        SymbolLookup lookup = SymbolLookup.libraryLookup(library, Arena.global());
        Linker linker = Linker.nativeLinker();
        MethodHandle open = linker.downcallHandle(lookup.findOrThrow("ibv_open_device"),
                FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
        long context;
        try {
            context = (long) open.invokeExact(0L);
        } catch (Throwable t) {
            throw new IllegalStateException(t);
        }
        return new NativeContext(this, NativeLibraries.of(lookup, linker.defaultLookup()), context,
                Map::of, (_, _) -> null,
                new KernelCounters(Path.of("no folder")));
    }
}
