// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.provider;

import io.rdma4j.ibverbs.abi.FakeLibrary;
import io.rdma4j.ibverbs.abi.Layout.Device;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.TransportType;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

/** A libibverbs made of Java that lists devices: a list is to be freed once, and a device opened while it is listed. */
final class FakeVerbs {
    private static final int ENOSYS = 38;

    final FakeLibrary functions = new FakeLibrary(List.of(VerbsSymbol.values()));
    /** Whether the kernel's module is loaded. */
    boolean isThere = true;
    /** How many devices more than there are the library says that there are. */
    int excess;
    /** Why devices cannot be opened. */
    int openFailure;
    /** The names of those that were opened, or should have been. */
    final List<String> opened = new ArrayList<>();
    private final Arena arena = Arena.ofAuto();
    private final List<MemorySegment> devices = new ArrayList<>();
    private final Set<Long> lists = new HashSet<>();

    FakeVerbs() {
        functions.define(VerbsSymbol.GET_DEVICE_LIST, arguments -> list(arguments[0]));
        functions.define(VerbsSymbol.FREE_DEVICE_LIST, arguments -> {
            if (!lists.remove(arguments[0])) {
                throw new IllegalStateException("a list was freed twice");
            }
            return 0;
        });
        functions.define(VerbsSymbol.GET_DEVICE_GUID,
                arguments -> Native.bigEndian(0x0002_c903_00a1_b2c3L));
        functions.define(VerbsSymbol.GET_DEVICE_INDEX, arguments -> 7);
        functions.define(VerbsSymbol.OPEN_DEVICE, arguments -> {
            if (lists.isEmpty()) {
                throw new IllegalStateException("a device was opened whose list is freed");
            }
            opened.add(Native.text(Native.at(arguments[0], Device.SIZE), Device.NAME,
                    Device.NAME_LENGTH));
            return FakeLibrary.fail(openFailure) + 1;
        });
    }

    FakeVerbs device(String name, NodeType type, TransportType transport) {
        return device(name, type.code(), transport.code());
    }

    FakeVerbs device(String name, int type, int transport) {
        MemorySegment device = arena.allocate(Device.SIZE, 8);
        byte[] text = name.getBytes(StandardCharsets.UTF_8);
        MemorySegment.copy(text, 0, device, JAVA_BYTE, Device.NAME, text.length);
        Native.putInt(device, Device.NODE_TYPE, type);
        Native.putInt(device, Device.TRANSPORT_TYPE, transport);
        devices.add(device);
        return this;
    }

    void removeDevices() {
        devices.clear();
    }

    private long list(long count) {
        if (!isThere) {
            return FakeLibrary.fail(ENOSYS) + 1;
        }
        MemorySegment list = arena.allocate((devices.size() + 1L + excess) * Long.BYTES, 8);
        for (int i = 0; i < devices.size(); i++) {
            Native.putLong(list, (long) i * Long.BYTES, devices.get(i).address());
        }
        Native.putInt(Native.at(count, Integer.BYTES), 0, devices.size() + excess);
        lists.add(list.address());
        return list.address();
    }

    /** {@return what went wrong in the library} */
    List<String> faults() {
        List<String> faults = new ArrayList<>();
        functions.failures().forEach(each -> faults.add(each.toString()));
        lists.forEach(each -> faults.add("a list was not freed"));
        return faults;
    }
}
