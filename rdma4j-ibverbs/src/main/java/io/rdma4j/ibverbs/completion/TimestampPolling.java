// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.completion;

import io.rdma4j.ibverbs.abi.HotCalls;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.CompletionQueueEx;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.device.CallChoice;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Polls by {@code ibv_start_poll} and related functions, the only ones with time stamps. The driver keeps a lock from the
 * first call to the last, so the calls are made without interruption, and their results are first copied to memory.
 */
final class TimestampPolling implements Polling {
    private static final String CREATE = "create completion queue";
    /** A {@code struct ibv_wc} and both times. */
    private static final long STRIDE = Layout.WorkCompletion.SIZE + 2 * Long.BYTES;
    private static final long RAW_TIME = Layout.WorkCompletion.SIZE;
    private static final long WALL_TIME = RAW_TIME + Long.BYTES;
    private static final int BYTE = 0xff;

    private final long queue;
    private final MemorySegment structure;
    private final CompletionReading reading;
    private final MemorySegment batch;
    private final MemorySegment attributes;
    private final MemorySegment start;
    private final MemorySegment next;
    private final MemorySegment end;
    private final MemorySegment opcode;
    private final MemorySegment vendorError;
    private final MemorySegment byteLength;
    private final MemorySegment immediate;
    private final MemorySegment number;
    private final MemorySegment source;
    private final MemorySegment flags;
    private final MemorySegment sourceLid;
    private final MemorySegment serviceLevel;
    private final MemorySegment pathBits;
    private final MemorySegment rawTime;
    private final MemorySegment wallTime;
    private final boolean hasRawTime;
    private final boolean hasWallTime;

    /**
     * @param queue the address of an {@code ibv_cq_ex} that was made with these fields
     * @throws RdmaException EOPNOTSUPP if the driver lacks a function that they need
     */
    TimestampPolling(ContextServices services, long queue, Set<CompletionField> fields, Arena arena)
            throws RdmaException {
        CallChoice.requireOrdinary(services.hotCalls(), CREATE);
        this.queue = queue;
        structure = Native.at(queue, CompletionQueueEx.SIZE);
        reading = new CompletionReading(services);
        batch = arena.allocate(BATCH * STRIDE, 8);
        attributes = arena.allocate(Long.BYTES, 8);
        start = function(CompletionQueueEx.START_POLL);
        next = function(CompletionQueueEx.NEXT_POLL);
        end = function(CompletionQueueEx.END_POLL);
        opcode = function(CompletionQueueEx.READ_OPCODE);
        vendorError = function(CompletionQueueEx.READ_VENDOR_ERR);
        byteLength = function(CompletionQueueEx.READ_BYTE_LEN);
        immediate = function(CompletionQueueEx.READ_IMM_DATA);
        number = function(CompletionQueueEx.READ_QP_NUM);
        source = function(CompletionQueueEx.READ_SRC_QP);
        flags = function(CompletionQueueEx.READ_WC_FLAGS);
        sourceLid = function(CompletionQueueEx.READ_SLID);
        serviceLevel = function(CompletionQueueEx.READ_SL);
        pathBits = function(CompletionQueueEx.READ_DLID_PATH_BITS);
        hasRawTime = fields.contains(CompletionField.COMPLETION_TIMESTAMP);
        hasWallTime = fields.contains(CompletionField.COMPLETION_WALLCLOCK);
        rawTime = hasRawTime ? function(CompletionQueueEx.READ_COMPLETION_TS) : end;
        wallTime = hasWallTime ? function(CompletionQueueEx.READ_COMPLETION_WALLCLOCK_NS) : end;
    }

    private MemorySegment function(long offset) throws RdmaException {
        long address = Native.getLong(structure, offset);
        if (address == 0) {
            throw RdmaException.unsupported(CREATE,
                    "the device's driver cannot tell when something completed");
        }
        return MemorySegment.ofAddress(address);
    }

    @Override
    public int fetch(int most) throws RdmaException {
        int answer = HotCalls.startPoll(start, queue, attributes.address());
        if (answer == Errno.ENOENT.number()) {
            return 0;
        }
        if (answer != 0) {
            throw Polling.failed(answer, most);
        }
        int found = 0;
        try {
            do {
                store(found++ * STRIDE);
            } while (found < most && HotCalls.readInt(next, queue) == 0);
        } finally {
            HotCalls.endPoll(end, queue);
        }
        return found;
    }

    @Override
    public boolean hasMore() {
        // No driver that loses work has time stamps.
        return false;
    }

    private void store(long at) {
        int status = Native.getInt(structure, CompletionQueueEx.STATUS);
        Native.putLong(batch, at + Layout.WorkCompletion.WR_ID,
                Native.getLong(structure, CompletionQueueEx.WR_ID));
        Native.putInt(batch, at + Layout.WorkCompletion.STATUS, status);
        putInt(at + Layout.WorkCompletion.QP_NUM, number);
        if (status != 0) {
            putInt(at + Layout.WorkCompletion.VENDOR_ERR, vendorError);
            return;
        }
        putInt(at + Layout.WorkCompletion.OPCODE, opcode);
        putInt(at + Layout.WorkCompletion.BYTE_LEN, byteLength);
        putInt(at + Layout.WorkCompletion.IMM_DATA, immediate);
        putInt(at + Layout.WorkCompletion.SRC_QP, source);
        putInt(at + Layout.WorkCompletion.WC_FLAGS, flags);
        Native.putShort(batch, at + Layout.WorkCompletion.SLID, HotCalls.readInt(sourceLid, queue));
        Native.putByte(batch, at + Layout.WorkCompletion.SL,
                HotCalls.readInt(serviceLevel, queue) & BYTE);
        Native.putByte(batch, at + Layout.WorkCompletion.DLID_PATH_BITS,
                HotCalls.readInt(pathBits, queue) & BYTE);
        Native.putLong(batch, at + RAW_TIME, hasRawTime ? HotCalls.readLong(rawTime, queue) : 0);
        Native.putLong(batch, at + WALL_TIME, hasWallTime ? HotCalls.readLong(wallTime, queue) : 0);
    }

    private void putInt(long at, MemorySegment function) {
        Native.putInt(batch, at, HotCalls.readInt(function, queue));
    }

    @Override
    public boolean read(int index, WorkCompletion into) {
        long at = index * STRIDE;
        return reading.read(batch, at, Native.getLong(batch, at + RAW_TIME),
                Native.getLong(batch, at + WALL_TIME), into);
    }
}
