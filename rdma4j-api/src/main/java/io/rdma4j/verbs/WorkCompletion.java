// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import io.rdma4j.spi.CompletionSlot;
import org.jspecify.annotations.Nullable;

import java.util.Locale;

/**
 * How one posted request ended.
 *
 * <p>C: {@code struct} {@index ibv_wc}. A reusable object of the caller, filled by
 * {@link CompletionQueue#poll}. After a failure only {@link #id()}, {@link #status()},
 * {@link #vendorError()} and {@link #queuePairNumber()} are valid, as in C. Not thread safe.
 *
 * @since 0.1.0
 */
public sealed class WorkCompletion permits CompletionSlot {
    private long id;
    private WorkCompletionStatus status = WorkCompletionStatus.SUCCESS;
    private WorkCompletionOpcode opcode = WorkCompletionOpcode.SEND;
    /** Of what is UNKNOWN: at most one of status and opcode is. */
    private int unknownCode;
    private int vendorError;
    private long byteLength;
    /** Whether one of the fields below, or a code above, may differ from 0. Those of most completions do not. */
    private boolean hasMore;
    private int immediateOrRkey;
    private int queuePairNumber;
    private int sourceQueuePair;
    private int flags;
    private int pkeyIndex;
    private int sourceLid;
    private int serviceLevel;
    private int destinationPathBits;
    private long completionTimestamp;
    private long completionWallclockNs;
    private @Nullable String detail;

    /** Creates one to be filled. */
    public WorkCompletion() {}

    /**
     * {@return a completion as a device would fill it} For tests of programs that handle completions.
     *
     * @param id the caller's number of the request
     * @param status how it ended
     * @param opcode the operation
     * @param byteLength bytes received, read or fetched
     */
    public static WorkCompletion of(long id, WorkCompletionStatus status,
            WorkCompletionOpcode opcode, long byteLength) {
        WorkCompletion completion = new WorkCompletion();
        completion.fill(id, status, opcode, 0, byteLength);
        // No device has said a number.
        completion.fillUnknown(-1);
        return completion;
    }

    /**
     * {@return as many to be filled}
     *
     * @param count how many, from 0
     */
    public static WorkCompletion[] array(int count) {
        WorkCompletion[] completions = new WorkCompletion[count];
        for (int i = 0; i < count; i++) {
            completions[i] = new WorkCompletion();
        }
        return completions;
    }

    /** {@return the caller's number of the request} C: {@index wr_id of struct ibv_wc}. */
    public long id() {
        return id;
    }

    /** {@return how it ended} C: {@index status of struct ibv_wc}. */
    public WorkCompletionStatus status() {
        return status;
    }

    /** {@return the number of the status in verbs.h, also where it is UNKNOWN} C: {@index status of struct ibv_wc}. */
    public int statusCode() {
        return status == WorkCompletionStatus.UNKNOWN ? unknownCode : status.code();
    }

    /** {@return whether it succeeded} */
    public boolean isSuccess() {
        return status == WorkCompletionStatus.SUCCESS;
    }

    /**
     * Does nothing if it succeeded. C programs compare {@code status} and print {@index ibv_wc_status_str}.
     *
     * @param operation what was attempted, for the message
     * @throws FailedCompletionException EIO if it failed, with its status
     */
    public void requireSuccess(String operation) throws FailedCompletionException {
        if (!isSuccess()) {
            throw new FailedCompletionException(operation, this);
        }
    }

    /** {@return the operation} C: {@index opcode of struct ibv_wc}, {@index ibv_wc_read_opcode}. */
    public WorkCompletionOpcode opcode() {
        return opcode;
    }

    /** {@return the number of the operation in verbs.h, also where it is UNKNOWN} C: {@index opcode of struct ibv_wc}. */
    public int opcodeCode() {
        return opcode == WorkCompletionOpcode.UNKNOWN ? unknownCode : opcode.code();
    }

    /**
     * {@return the device's own error code, 0 if there is none} C: {@index vendor_err of struct ibv_wc},
     * {@index ibv_wc_read_vendor_err}.
     */
    public int vendorError() {
        return vendorError;
    }

    /**
     * {@return the bytes received, read or fetched} C: {@index byte_len of struct ibv_wc},
     * {@index ibv_wc_read_byte_len}.
     */
    public long byteLength() {
        return byteLength;
    }

    /**
     * {@return the 32 bits of immediate data, valid if it {@link #has} WITH_IMMEDIATE} C:
     * {@index imm_data of struct ibv_wc}, {@index ibv_wc_read_imm_data}.
     */
    public int immediate() {
        return immediateOrRkey;
    }

    /**
     * {@return the key the message invalidated, if it {@link #has} WITH_INVALIDATE} C:
     * {@index invalidated_rkey of struct ibv_wc}, {@index ibv_wc_read_invalidated_rkey}.
     */
    public int invalidatedRkey() {
        return immediateOrRkey;
    }

    /**
     * {@return the local queue pair} To find what belongs to it without a look-up, which allocates for each number in a map, put
     * an index in the {@link #id} of its requests. C: {@index qp_num of struct ibv_wc}, {@index ibv_wc_read_qp_num}.
     */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /** {@return the peer's queue pair, for datagrams} C: {@index src_qp of struct ibv_wc}, {@index ibv_wc_read_src_qp}. */
    public int sourceQueuePairNumber() {
        return sourceQueuePair;
    }

    /**
     * {@return whether a flag is set}
     *
     * @param flag what is asked for
     */
    public boolean has(WorkCompletionFlag flag) {
        return (flags & flag.bit()) != 0;
    }

    /** {@return all flags as verbs.h bits} C: {@index wc_flags of struct ibv_wc}, {@index ibv_wc_read_wc_flags}. */
    public int flags() {
        return flags;
    }

    /**
     * {@return the index of the P_Key, for datagrams to the general services queue pair} C:
     * {@index pkey_index of struct ibv_wc}.
     */
    public int pkeyIndex() {
        return pkeyIndex;
    }

    /**
     * {@return the peer's local identifier; InfiniBand only} C: {@index slid of struct ibv_wc},
     * {@index ibv_wc_read_slid}.
     */
    public int sourceLid() {
        return sourceLid;
    }

    /** {@return the service level; InfiniBand only} C: {@index sl of struct ibv_wc}, {@index ibv_wc_read_sl}. */
    public int serviceLevel() {
        return serviceLevel;
    }

    /**
     * {@return the low bits of the local identifier; InfiniBand only} C: {@index dlid_path_bits of struct ibv_wc},
     * {@index ibv_wc_read_dlid_path_bits}.
     */
    public int destinationPathBits() {
        return destinationPathBits;
    }

    /**
     * {@return when it completed by the device's raw clock, if its queue was created with
     * {@link CompletionField#COMPLETION_TIMESTAMP}} C: {@index ibv_wc_read_completion_ts}.
     */
    public long completionTimestamp() {
        return completionTimestamp;
    }

    /**
     * {@return when it completed, in nanoseconds since 1970, if its queue was created with
     * {@link CompletionField#COMPLETION_WALLCLOCK}} C: {@index ibv_wc_read_completion_wallclock_ns}.
     */
    public long completionWallclockNs() {
        return completionWallclockNs;
    }

    /**
     * {@return what the device knows of this failure beside its status, in one line; null if nothing} Native devices know
     * nothing. No counterpart in C.
     */
    public @Nullable String detail() {
        return detail;
    }

    /** {@return what the failure means: what the device knows of it, and the explanation of its status} */
    public String explanation() {
        return detail == null ? status.explanation() : detail + ". " + status.explanation();
    }

    /** Fills the fields every completion has and clears the others. */
    protected WorkCompletion fill(long requestId, WorkCompletionStatus newStatus,
            WorkCompletionOpcode newOpcode, int queuePair, long bytes) {
        id = requestId;
        status = newStatus;
        opcode = newOpcode;
        queuePairNumber = queuePair;
        byteLength = bytes;
        if (hasMore) {
            forgetMore();
        }
        return this;
    }

    private void forgetMore() {
        hasMore = false;
        vendorError = 0;
        immediateOrRkey = 0;
        sourceQueuePair = 0;
        flags = 0;
        pkeyIndex = 0;
        sourceLid = 0;
        serviceLevel = 0;
        destinationPathBits = 0;
        completionTimestamp = 0;
        completionWallclockNs = 0;
        say(null);
    }

    /** Adds immediate data or an invalidated key. */
    protected WorkCompletion fillImmediate(WorkCompletionFlag flag, int value) {
        hasMore = true;
        flags |= flag.bit();
        immediateOrRkey = value;
        return this;
    }

    /** Adds the sender of a datagram. */
    protected WorkCompletion fillSource(int queuePair, int moreFlags) {
        hasMore = true;
        sourceQueuePair = queuePair;
        flags |= moreFlags;
        return this;
    }

    /** Adds the way it came by over InfiniBand. */
    protected WorkCompletion fillRoute(int newPkeyIndex, int lid, int level, int pathBits) {
        hasMore = true;
        pkeyIndex = newPkeyIndex;
        sourceLid = lid;
        serviceLevel = level;
        destinationPathBits = pathBits;
        return this;
    }

    /** Adds when it completed. */
    protected WorkCompletion fillTime(long timestamp, long wallclockNs) {
        hasMore = true;
        completionTimestamp = timestamp;
        completionWallclockNs = wallclockNs;
        return this;
    }

    /** Adds the number of a status or an operation that is UNKNOWN. */
    protected WorkCompletion fillUnknown(int code) {
        hasMore = true;
        unknownCode = code;
        return this;
    }

    /** Adds the device's own error code. */
    protected WorkCompletion fillVendorError(int code) {
        hasMore = true;
        vendorError = code;
        return this;
    }

    /** Adds what the device knows of the failure. */
    protected WorkCompletion fillDetail(@Nullable String text) {
        hasMore = true;
        say(text);
        return this;
    }

    /** Nearly always there was nothing and is nothing, and no reference has to be written. */
    private void say(@Nullable String text) {
        if (detail != null || text != null) {
            detail = text;
        }
    }

    /**
     * Makes this equal to another.
     *
     * @param other what is copied
     */
    public void assign(WorkCompletion other) {
        id = other.id;
        status = other.status;
        opcode = other.opcode;
        queuePairNumber = other.queuePairNumber;
        byteLength = other.byteLength;
        if (hasMore || other.hasMore) {
            assignMore(other);
        }
    }

    private void assignMore(WorkCompletion other) {
        hasMore = other.hasMore;
        unknownCode = other.unknownCode;
        vendorError = other.vendorError;
        immediateOrRkey = other.immediateOrRkey;
        sourceQueuePair = other.sourceQueuePair;
        flags = other.flags;
        pkeyIndex = other.pkeyIndex;
        sourceLid = other.sourceLid;
        serviceLevel = other.serviceLevel;
        destinationPathBits = other.destinationPathBits;
        completionTimestamp = other.completionTimestamp;
        completionWallclockNs = other.completionWallclockNs;
        say(other.detail);
    }

    @Override
    public String toString() {
        if (status == WorkCompletionStatus.UNKNOWN) {
            return String.format(Locale.ROOT, "id=%d qp=0x%06x status %d: %s", id, queuePairNumber,
                    unknownCode, explanation());
        }
        if (!isSuccess()) {
            return String.format(Locale.ROOT, "id=%d qp=0x%06x %s: %s", id, queuePairNumber, status,
                    explanation());
        }
        return String.format(Locale.ROOT, "id=%d qp=0x%06x %s %s %d bytes", id, queuePairNumber,
                opcode, status,
                byteLength);
    }
}
