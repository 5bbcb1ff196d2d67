// SPDX-License-Identifier: Apache-2.0
package com.ibm.disni.verbs.impl;

import com.ibm.disni.util.MemBuf;
import com.ibm.disni.util.MemoryAllocation;
import com.ibm.disni.util.MemoryUtils;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.SVCRegMr;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Registers memory, as DiSNI's class of this name does. A buffer is kept until its region is deregistered: a NIC writes to pages that
 * it has pinned, a software device to whatever has taken the place of a buffer that was collected.
 */
public class NatRegMrCall extends SVCRegMr {
    private static final int KEYS_BYTES = 3 * Integer.BYTES;
    private static final int RKEY = Integer.BYTES;
    private static final int HANDLE = 2 * Integer.BYTES;

    private final NativeDispatcher calls;
    private final NatIbvPd domain;
    /** Null if the program has given an address. */
    private final @Nullable ByteBuffer buffer;
    private final long address;
    private final int length;
    private final int access;
    /** Null when freed. */
    private @Nullable MemBuf keys;
    private @Nullable IbvMr region;

    public NatRegMrCall(RdmaVerbsNat verbs, NativeDispatcher calls, MemoryAllocation memory,
            IbvPd domain, ByteBuffer buffer, int access) {
        this(calls, memory, domain, buffer, MemoryUtils.getAddress(buffer), buffer.capacity(),
                access);
    }

    public NatRegMrCall(RdmaVerbsNat verbs, NativeDispatcher calls, MemoryAllocation memory,
            IbvPd domain, long address, int length, int access) {
        this(calls, memory, domain, null, address, length, access);
    }

    private NatRegMrCall(NativeDispatcher calls, MemoryAllocation memory, IbvPd domain,
            @Nullable ByteBuffer buffer, long address, int length, int access) {
        this.calls = calls;
        this.domain = (NatIbvPd) domain;
        this.buffer = buffer;
        this.address = address;
        this.length = length;
        this.access = access;
        keys = memory.allocate(KEYS_BYTES);
    }

    @Override
    public SVCRegMr execute() throws IOException {
        MemBuf results = keys;
        if (results == null) {
            throw new IOException("register memory: the call was freed");
        }
        if (!domain.isOpen()) {
            throw new IOException("register memory: the protection domain is closed");
        }
        long at = results.address();
        long handle = buffer == null
                ? calls._regMr(domain.getObjId(), address, length, access, at, at + RKEY,
                        at + HANDLE)
                : calls.register(domain.getObjId(), buffer, access, at);
        ByteBuffer read = results.getBuffer();
        region = new NatIbvMr(handle, domain.getContext(), address, length, access, read.getInt(0),
                read.getInt(RKEY), read.getInt(HANDLE));
        return this;
    }

    @Override
    public @Nullable IbvMr getMr() {
        return region;
    }

    @Override
    public boolean isValid() {
        return keys != null;
    }

    @Override
    public SVCRegMr free() {
        MemBuf freed = keys;
        keys = null;
        if (freed != null) {
            freed.free();
        }
        return this;
    }
}
