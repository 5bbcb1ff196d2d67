// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.ChildCounts;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Device memory: native memory that only the device accesses. */
final class SoftDeviceMemory implements DeviceMemory {
    private static final long PAGE = 4096;

    private final SoftContextServices context;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final ChildCounts children = new ChildCounts();
    private boolean isClosed;

    SoftDeviceMemory(SoftContextServices context, long byteSize, long byteAlignment) {
        this.context = context;
        MemorySegment lendable = byteAlignment > PAGE
                ? null
                : context.nic().memory().lendable().allocate(byteSize, arena);
        memory = lendable == null ? arena.allocate(byteSize, byteAlignment) : lendable;
    }

    @Override
    public DeviceContext context() {
        return context.context();
    }

    ChildCounts children() {
        return children;
    }

    void checkOpen() throws RdmaException {
        if (!arena.scope().isAlive()) {
            throw RdmaClosedException.of("device memory");
        }
    }

    /** {@return a range of it} */
    MemorySegment slice(String operation, long offset, long byteCount) throws RdmaException {
        checkOpen();
        if (offset < 0 || byteCount < 0 || offset > length() - byteCount) {
            throw new RdmaException(Errno.EINVAL, operation, "offset " + offset + " and length "
                    + byteCount + " are not inside its " + length() + " bytes");
        }
        return memory.asSlice(offset, byteCount);
    }

    @Override
    public long length() {
        return memory.byteSize();
    }

    @Override
    public void copyFrom(long offset, MemorySegment source) throws RdmaException {
        slice("copy to device memory", offset, source.byteSize()).copyFrom(source);
    }

    @Override
    public void copyTo(long offset, MemorySegment target) throws RdmaException {
        target.copyFrom(slice("copy from device memory", offset, target.byteSize()));
    }

    @Override
    public void close() throws RdmaException {
        context.nic().driver().call(nowNs -> {
            if (!isClosed) {
                children.requireNone("free device memory");
                isClosed = true;
                arena.close();
                context.owned().remove(ObjectKind.DEVICE_MEMORY, this);
                context.children().remove(ObjectKind.DEVICE_MEMORY);
                context.nic().objects().releaseDeviceMemory(length());
            }
            return this;
        });
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
