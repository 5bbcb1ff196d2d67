// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.memory;

import io.rdma4j.device.ChildCounts;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout.AllocDeviceMemory;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.ObjectFunction;
import io.rdma4j.ibverbs.device.ContextChild;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Device memory. Copies take the context's lock, so that the memory is not freed meanwhile, and use an intermediate
 * buffer, because the caller's arena may be closed at any moment.
 */
public final class NativeDeviceMemory implements DeviceMemory {
    private static final String ALLOCATE = "allocate device memory";
    private static final String TO = "copy to device memory";
    private static final String FROM = "copy from device memory";

    private final ContextServices services;
    private final long length;
    private final ContextChild made;

    /** Under the context's lock. */
    public NativeDeviceMemory(ContextServices services, long byteSize, long byteAlignment)
            throws RdmaException {
        this.services = services;
        length = byteSize;
        if (byteSize < 1 || Long.bitCount(byteAlignment) != 1) {
            throw new RdmaException(Errno.EINVAL, ALLOCATE, byteSize < 1
                    ? "the size must be at least 1, not " + byteSize
                    : "the alignment must be a power of two, not " + byteAlignment);
        }
        NativeFunction function = services.functions().require(ContextOperation.ALLOC_DM, ALLOCATE);
        long pointer;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment attributes = arena.allocate(AllocDeviceMemory.SIZE, 8);
            Native.putLong(attributes, AllocDeviceMemory.LENGTH, byteSize);
            Native.putInt(attributes, AllocDeviceMemory.LOG_ALIGN_REQ,
                    Long.numberOfTrailingZeros(byteAlignment));
            pointer = function.call(services.pointer(), attributes.address()).pointer(ALLOCATE,
                    "the device has not " + byteSize + " bytes left at an alignment of "
                            + byteAlignment + "; ibv_devinfo -v shows its max_dm_size");
        }
        made = new ContextChild(services, ObjectKind.DEVICE_MEMORY, pointer, this);
    }

    @Override
    public DeviceContext context() {
        return services.context();
    }

    public long pointer() {
        return made.pointer();
    }

    public ContextServices owner() {
        return services;
    }

    public ChildCounts children() {
        return made.children();
    }

    @Override
    public long length() {
        return length;
    }

    public void checkOpen() throws RdmaException {
        made.checkOpen();
    }

    /** @throws RdmaException EINVAL if a stretch is not inside it */
    public void checkStretch(String operation, long offset, long byteCount) throws RdmaException {
        if (offset < 0 || byteCount < 0 || offset > length - byteCount) {
            throw new RdmaException(Errno.EINVAL, operation, "offset " + offset + " and length "
                    + byteCount + " are not inside its " + length + " bytes");
        }
    }

    @Override
    public void copyFrom(long offset, MemorySegment source) throws RdmaException {
        services.lock();
        try (Arena arena = Arena.ofConfined()) {
            checkOpen();
            checkStretch(TO, offset, source.byteSize());
            MemorySegment copied = arena.allocate(source.byteSize(), 8).copyFrom(source);
            ObjectFunction.MEMCPY_TO_DM.of(made.pointer(), TO)
                    .call(made.pointer(), offset, copied.address(), copied.byteSize())
                    .check(TO, "the device refused");
        } finally {
            services.unlock();
        }
    }

    @Override
    public void copyTo(long offset, MemorySegment target) throws RdmaException {
        services.lock();
        try (Arena arena = Arena.ofConfined()) {
            checkOpen();
            checkStretch(FROM, offset, target.byteSize());
            MemorySegment copied = arena.allocate(target.byteSize(), 8);
            ObjectFunction.MEMCPY_FROM_DM.of(made.pointer(), FROM)
                    .call(copied.address(), made.pointer(), offset, copied.byteSize())
                    .check(FROM, "the device refused");
            target.copyFrom(copied);
        } finally {
            services.unlock();
        }
    }

    @Override
    public void close() throws RdmaException {
        made.close("free device memory", ContextOperation.FREE_DM);
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
