// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout.Context;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;

/**
 * The functions that an open device offers by pointers, read once: providers write them while they open the device.
 *
 * <p>Source: {@code verbs.h}, {@code verbs_get_ctx}.
 */
public final class ContextFunctions {
    private static final long ALL_ONES = -1;
    /** Of a {@code verbs_context}; that of rdma-core 65 has 696 bytes. */
    private static final long LONGEST = 1 << 14;

    private final Map<ContextOperation, Long> addresses = new EnumMap<>(ContextOperation.class);
    private final Map<ContextOperation, NativeFunction> functions = new EnumMap<>(
            ContextOperation.class);

    /**
     * @param context the address of an {@code ibv_context}
     * @throws RdmaException EOPNOTSUPP if it does not look like one of a library that is known here
     */
    ContextFunctions(long context) throws RdmaException {
        MemorySegment structure = Native.at(context, Context.SIZE);
        if (Native.getLong(structure, Context.ABI_COMPAT) != ALL_ONES) {
            throw new RdmaException(Errno.EOPNOTSUPP, "open device", "its driver's library is not"
                    + " laid out as rdma-core has it since version 1.1.7; install the one of"
                    + " rdma-core");
        }
        long extension = Native.getLong(
                Native.at(context + Context.EXTENSION_SIZE, Long.BYTES), 0);
        if (extension < Context.SIZE || extension > LONGEST) {
            throw new RdmaException(Errno.EOPNOTSUPP, "open device", "libibverbs says that its"
                    + " verbs_context has " + extension + " bytes, which no version has; install"
                    + " the one of rdma-core");
        }
        for (ContextOperation operation : ContextOperation.values()) {
            if (operation.offset() > 0 || extension >= Context.SIZE - operation.offset()) {
                long function = Native
                        .getLong(Native.at(context + operation.offset(), Long.BYTES), 0);
                if (function != 0) {
                    addresses.put(operation, function);
                    functions.put(operation, NativeFunction.of(operation, function));
                }
            }
        }
        for (ContextOperation operation : new ContextOperation[]{ContextOperation.POLL_CQ,
            ContextOperation.REQ_NOTIFY_CQ, ContextOperation.POST_SEND,
            ContextOperation.POST_RECV}) {
            require(operation, "open device");
        }
    }

    /** {@return a function, null if the device does not have it} */
    @Nullable
    public NativeFunction find(ContextOperation operation) {
        return functions.get(operation);
    }

    /**
     * {@return a function}
     *
     * @throws RdmaException EOPNOTSUPP if the device does not have it
     */
    public NativeFunction require(ContextOperation operation, String what) throws RdmaException {
        NativeFunction found = functions.get(operation);
        if (found == null) {
            throw RdmaException.unsupported(what, "the device's driver does not offer it");
        }
        return found;
    }

    /**
     * {@return the address of a function of the hot path; if the device lacks it, an address that must not be
     * called}
     */
    public MemorySegment address(ContextOperation operation) {
        Long address = addresses.get(operation);
        return MemorySegment.ofAddress(address == null ? 0 : address);
    }
}
