// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AdviceFlag;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.MemoryAdvice;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherElement;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The one message of a side: what it receives overwrites what it sends, as in the C programs.
 *
 * <p>The message a client wants checked has a zero at the start of each page; everything else stays as it
 * was at the beginning.
 */
final class MessageBuffer implements AutoCloseable {
    private static final int PAGE = 4096;

    private final Traffic traffic;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final @Nullable DeviceMemory deviceMemory;
    private final MemoryRegion region;

    MessageBuffer(DeviceContext context, ProtectionDomain domain, Traffic traffic)
            throws IOException {
        this.traffic = traffic;
        // A region has at least one byte, also if the message has none.
        memory = arena.allocate(Math.max(1, traffic.headerLength() + traffic.size()), PAGE)
                .fill(traffic.filling());
        DeviceAttributes device = context.queryDevice();
        deviceMemory = traffic.has(Feature.DEVICE_MEMORY) ? allocate(context, device) : null;
        region = register(domain, device);
    }

    private DeviceMemory allocate(DeviceContext context, DeviceAttributes device)
            throws IOException {
        if (device.maxDeviceMemory() == 0) {
            throw new IOException("Device doesn't support dm allocation");
        }
        if (device.maxDeviceMemory() < memory.byteSize()) {
            throw new IOException("Device memory is insufficient: there are "
                    + device.maxDeviceMemory() + " bytes");
        }
        return context.allocateDeviceMemory(memory.byteSize(), Long.BYTES);
    }

    private MemoryRegion register(ProtectionDomain domain, DeviceAttributes device)
            throws IOException {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE);
        if (traffic.has(Feature.ATOMICS)) {
            access.add(AccessFlag.REMOTE_ATOMIC);
        }
        if (deviceMemory != null) {
            access.add(AccessFlag.ZERO_BASED);
            return domain.register(new MemoryRegionInitAttributes()
                    .deviceMemory(deviceMemory, 0, memory.byteSize()).access(access));
        }
        if (traffic.has(Feature.ON_DEMAND)) {
            if (!device.onDemandPaging().getOrDefault(traffic.type(), Set.of())
                    .containsAll(traffic.onDemandNeeds())) {
                throw new IOException("The device isn't ODP capable or does not support "
                        + traffic.type() + " send and receive with ODP");
            }
            access.add(AccessFlag.ON_DEMAND);
        }
        MemoryRegion registered = domain.register(memory, access);
        if (traffic.has(Feature.PREFETCH)) {
            domain.advise(MemoryAdvice.PREFETCH_WRITE, List.of(new ScatterGatherElement(
                    registered.address(), memory.byteSize(), registered.lkey())), AdviceFlag.FLUSH);
        }
        return registered;
    }

    MemoryRegion region() {
        return region;
    }

    /** {@return the message, unless it is in the device} */
    MemorySegment memory() {
        return memory;
    }

    /** Writes what the peer shall find. */
    void mark() throws RdmaException {
        for (long at = 0; at < traffic.size(); at += PAGE) {
            memory.set(ValueLayout.JAVA_BYTE, traffic.headerLength() + at, (byte) 0);
        }
        if (deviceMemory != null) {
            deviceMemory.copyFrom(0, memory);
        }
    }

    /** {@return the numbers of the pages that are not what a marked message has there} */
    List<Long> badPages() throws RdmaException {
        if (deviceMemory != null) {
            deviceMemory.copyTo(0, memory);
        }
        List<Long> bad = new ArrayList<>();
        for (long at = 0; at < traffic.size(); at += PAGE) {
            if (!isPageGood(traffic.headerLength() + at,
                    traffic.headerLength() + Math.min(traffic.size(), at + PAGE))) {
                bad.add(at / PAGE);
            }
        }
        return bad;
    }

    private boolean isPageGood(long from, long end) {
        if (memory.get(ValueLayout.JAVA_BYTE, from) != 0) {
            return false;
        }
        for (long at = from + 1; at < end; at++) {
            if (memory.get(ValueLayout.JAVA_BYTE, at) != traffic.filling()) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void close() throws RdmaException {
        region.close();
        if (deviceMemory != null) {
            deviceMemory.close();
        }
        arena.close();
    }
}
