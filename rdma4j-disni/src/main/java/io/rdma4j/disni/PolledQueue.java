package io.rdma4j.disni;

import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;

/** A completion queue, whose completions are written as C's structures. Thread safe; polling allocates nothing. */
final class PolledQueue implements CompletionHandler {
    /** {@code struct ibv_wc}. */
    static final int COMPLETION_BYTES = 48;
    private static final int ID = 0;
    private static final int STATUS = 8;
    private static final int OPCODE = 12;
    private static final int VENDOR_ERROR = 16;
    private static final int BYTE_LENGTH = 20;
    private static final int IMMEDIATE = 24;
    private static final int QUEUE_PAIR = 28;
    private static final int SOURCE_QUEUE_PAIR = 32;
    private static final int FLAGS = 36;
    private static final int PKEY_INDEX = 40;
    private static final int SOURCE_LID = 42;
    private static final int SERVICE_LEVEL = 44;
    private static final int PATH_BITS = 45;

    private final CompletionQueue queue;
    /** Where the next completion is written; guarded by this. */
    private long next;

    PolledQueue(CompletionQueue queue) {
        this.queue = queue;
    }

    CompletionQueue queue() {
        return queue;
    }

    /** {@return how many completions were written, one behind the other} */
    synchronized int poll(int limit, long completions) throws RdmaException {
        next = completions;
        return queue.poll(limit, this);
    }

    @Override
    public void onCompletion(WorkCompletion completion) {
        long at = next;
        CallMemory.writeLong(at + ID, completion.id());
        CallMemory.writeInt(at + STATUS, completion.statusCode());
        CallMemory.writeInt(at + OPCODE, completion.opcodeCode());
        CallMemory.writeInt(at + VENDOR_ERROR, completion.vendorError());
        CallMemory.writeInt(at + BYTE_LENGTH, (int) completion.byteLength());
        CallMemory.writeInt(at + IMMEDIATE, immediate(completion));
        CallMemory.writeInt(at + QUEUE_PAIR, completion.queuePairNumber());
        CallMemory.writeInt(at + SOURCE_QUEUE_PAIR, completion.sourceQueuePairNumber());
        CallMemory.writeInt(at + FLAGS, completion.flags());
        CallMemory.writeShort(at + PKEY_INDEX, completion.pkeyIndex());
        CallMemory.writeShort(at + SOURCE_LID, completion.sourceLid());
        CallMemory.writeByte(at + SERVICE_LEVEL, completion.serviceLevel());
        CallMemory.writeByte(at + PATH_BITS, completion.destinationPathBits());
        next = at + COMPLETION_BYTES;
    }

    /** {@return what DiSNI reads as a number, though it is big-endian in C} */
    private static int immediate(WorkCompletion completion) {
        if (completion.has(WorkCompletionFlag.WITH_IMMEDIATE)) {
            return Integer.reverseBytes(completion.immediate());
        }
        return completion.has(WorkCompletionFlag.WITH_INVALIDATE)
                ? completion.invalidatedRkey()
                : 0;
    }
}
