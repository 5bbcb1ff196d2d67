// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.provider;

import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.Outcome;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.NativeLibraries;
import io.rdma4j.ibverbs.observe.KernelCounters;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The devices that libibverbs lists. Thread safe. */
final class DeviceList {
    private final NativeLibraries libraries;
    private final KernelManager manager;
    private final Path kernelDevices;
    private final Path kernelInterfaces;

    /** @param classes the folder in which the kernel describes its devices and network interfaces */
    DeviceList(NativeLibraries libraries, KernelManager manager, Path classes) {
        this.libraries = libraries;
        this.manager = manager;
        kernelDevices = classes.resolve("infiniband");
        kernelInterfaces = classes.resolve("net");
    }

    KernelManager manager() {
        return manager;
    }

    KernelCounters counters(String device) {
        return new KernelCounters(kernelDevices.resolve(device));
    }

    NativeLibraries libraries() {
        return libraries;
    }

    /** An action on the device at an address, which is valid meanwhile. */
    private interface Visit {
        /** {@return whether that was the last to look at} */
        boolean at(long device) throws RdmaException;
    }

    /** {@return the devices; empty if the kernel has no RDMA} C: {@code ibv_get_device_list}. */
    List<RdmaDevice> devices() throws RdmaException {
        List<RdmaDevice> devices = new ArrayList<>();
        visit(pointer -> {
            devices.add(describe(pointer));
            return false;
        });
        return devices;
    }

    private void visit(Visit visit) throws RdmaException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment count = arena.allocate(Integer.BYTES, Integer.BYTES);
            Outcome outcome = libraries.verbs().get(VerbsSymbol.GET_DEVICE_LIST)
                    .call(count.address());
            if (outcome.value() == 0) {
                return;
            }
            try {
                int devices = Native.getInt(count, 0);
                MemorySegment list = Native.at(outcome.value(), (long) devices * Long.BYTES);
                for (int i = 0; i < devices; i++) {
                    long device = Native.getLong(list, (long) i * Long.BYTES);
                    // A null pointer ends the list, whatever its stated length.
                    if (device == 0 || visit.at(device)) {
                        return;
                    }
                }
            } finally {
                libraries.verbs().get(VerbsSymbol.FREE_DEVICE_LIST).call(outcome.value());
            }
        }
    }

    private NativeDevice describe(long pointer) {
        MemorySegment device = Native.at(pointer, Layout.Device.SIZE);
        NativeFunction index = libraries.verbs().find(VerbsSymbol.GET_DEVICE_INDEX);
        DeviceAddresses addresses = new DeviceAddresses(kernelDevices.resolve(name(device)),
                kernelInterfaces);
        return new NativeDevice(this, addresses, List.copyOf(addresses.byPort().keySet()),
                name(device),
                index == null ? -1 : (int) index.call(pointer).value(),
                Native.bigEndian(
                        libraries.verbs().get(VerbsSymbol.GET_DEVICE_GUID).call(pointer).value()),
                Native.getInt(device, Layout.Device.NODE_TYPE),
                Native.getInt(device, Layout.Device.TRANSPORT_TYPE));
    }

    private static String name(MemorySegment device) {
        return Native.text(device, Layout.Device.NAME, Layout.Device.NAME_LENGTH);
    }

    /**
     * Opens a device by its name. C: {@code ibv_open_device}.
     *
     * @return the address of its {@code ibv_context}
     * @throws RdmaException ENODEV if it was removed, EACCES if its file may not be opened
     */
    long open(String name) throws RdmaException {
        String operation = "open device";
        long[] opened = new long[1];
        visit(pointer -> {
            if (!name(Native.at(pointer, Layout.Device.SIZE)).equals(name)) {
                return false;
            }
            opened[0] = libraries.verbs().get(VerbsSymbol.OPEN_DEVICE).call(pointer).pointer(
                    operation, name + " cannot be opened: its file /dev/infiniband/uverbs* must be"
                            + " there and open to this user (docker --device /dev/infiniband)");
            return true;
        });
        if (opened[0] == 0) {
            throw new RdmaException(Errno.ENODEV, operation, name + " is gone");
        }
        return opened[0];
    }
}
