// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.ibverbs.abi.Layout.QueuePairEx;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.ObjectFunction;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.CallChoice;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Posts FLUSH and atomic writes, for which {@code struct ibv_send_wr} has no fields: by {@code ibv_wr_start} and related
 * functions. The driver keeps a lock from the first call to the last, so all calls of a request are made without
 * interruption.
 */
public final class ExtendedPosting {
    /** The operations that only this class can post. */
    static final Set<SendOpcode> OPERATIONS = Set.of(SendOpcode.FLUSH, SendOpcode.ATOMIC_WRITE);

    private static final String CREATE = "create queue pair";

    private final long queuePair;
    private final MemorySegment structure;
    private final NativeFunction start;
    private final NativeFunction complete;
    private final NativeFunction abort;
    private final @Nullable NativeFunction flush;
    private final @Nullable NativeFunction atomicWrite;

    /**
     * @param queuePair the address of an {@code ibv_qp} that was created for these operations
     * @throws RdmaException EOPNOTSUPP if the driver does not support one of them after all
     */
    public ExtendedPosting(ContextServices services, long queuePair, Set<SendOpcode> operations)
            throws RdmaException {
        CallChoice.requireOrdinary(services.hotCalls(), CREATE);
        this.queuePair = services.verbs().require(VerbsSymbol.QP_TO_QP_EX, CREATE).call(queuePair)
                .pointer(CREATE, "the device's driver has no extended queue pairs");
        structure = Native.at(this.queuePair, QueuePairEx.SIZE);
        start = ObjectFunction.WR_START.of(this.queuePair, CREATE);
        complete = ObjectFunction.WR_COMPLETE.of(this.queuePair, CREATE);
        abort = ObjectFunction.WR_ABORT.of(this.queuePair, CREATE);
        flush = operations.contains(SendOpcode.FLUSH)
                ? ObjectFunction.WR_FLUSH.of(this.queuePair, CREATE)
                : null;
        atomicWrite = operations.contains(SendOpcode.ATOMIC_WRITE)
                ? ObjectFunction.WR_ATOMIC_WRITE.of(this.queuePair, CREATE)
                : null;
    }

    /** {@return 0 or an error number} Under the lock of sends, as everything here. */
    public int flush(long workRequestId, int flags, int rkey, long address, long length,
            int placement,
            int selectivity) {
        NativeFunction function = flush;
        if (function == null) {
            throw new IllegalStateException("a queue pair without FLUSH was given one");
        }
        return inOneGo(workRequestId, flags, () -> function.call(queuePair, rkey, address, length,
                placement, selectivity));
    }

    /**
     * {@return 0 or an error number}
     *
     * @param value the address of the 8 bytes
     */
    public int atomicWrite(long workRequestId, int flags, int rkey, long address, long value) {
        NativeFunction function = atomicWrite;
        if (function == null) {
            throw new IllegalStateException("a queue pair without atomic writes was given one");
        }
        return inOneGo(workRequestId, flags,
                () -> function.call(queuePair, rkey, address, value));
    }

    /**
     * {@return 0 or an error number}
     *
     * @param writing writes the request; if it throws, as when the stack is used up, the driver's lock is given back
     */
    public int inOneGo(long workRequestId, int flags, Runnable writing) {
        start.call(queuePair);
        boolean isWritten = false;
        try {
            Native.putLong(structure, QueuePairEx.WR_ID, workRequestId);
            Native.putInt(structure, QueuePairEx.WR_FLAGS, flags);
            writing.run();
            isWritten = true;
        } finally {
            if (!isWritten) {
                abort.call(queuePair);
            }
        }
        return complete.call(queuePair).error();
    }
}
