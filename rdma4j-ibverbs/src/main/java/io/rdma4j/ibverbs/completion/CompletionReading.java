// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.completion;

import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.device.StateRecords;
import io.rdma4j.ibverbs.work.WorkLedger;
import io.rdma4j.ibverbs.work.WorkLedger.Completed;
import io.rdma4j.ibverbs.work.WorkLedgers;
import io.rdma4j.spi.CompletionSlot;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;

/** Completions as they stand in {@code struct ibv_wc}. For one thread at a time. */
public final class CompletionReading {
    private static final WorkCompletionStatus[] STATUSES = statuses();
    private static final @Nullable WorkCompletionOpcode[] OPCODES = opcodes();

    /** The bit that all {@code IBV_WC_RECV} have; drivers leave the way of others as it was in memory. */
    private static final int RECEIVES = 1 << 7;

    private final WorkLedgers ledgers;
    private final StateRecords states;
    private final boolean confusesFlags;
    private final CompletionSlot slot = new CompletionSlot();
    private final Completed completed = new Completed();

    CompletionReading(ContextServices services) {
        ledgers = services.ledgers();
        states = services.states();
        confusesFlags = services.faults().confusesFlags();
    }

    private static WorkCompletionStatus[] statuses() {
        return Arrays.stream(WorkCompletionStatus.values())
                .filter(status -> status != WorkCompletionStatus.UNKNOWN)
                .sorted(Comparator.comparingInt(WorkCompletionStatus::code))
                .toArray(WorkCompletionStatus[]::new);
    }

    private static @Nullable WorkCompletionOpcode[] opcodes() {
        @Nullable
        WorkCompletionOpcode[] table = new WorkCompletionOpcode[256];
        for (WorkCompletionOpcode opcode : WorkCompletionOpcode.values()) {
            if (opcode != WorkCompletionOpcode.UNKNOWN) {
                table[opcode.code()] = opcode;
            }
        }
        return table;
    }

    /**
     * Reads a completion.
     *
     * @param timestamp when it completed by the device's clock, 0 for unknown
     * @param wallclockNs when it completed, in nanoseconds since 1970, 0 for unknown
     * @return false if it belongs to a closed queue
     */
    public boolean read(MemorySegment source, long offset, long timestamp, long wallclockNs,
            WorkCompletion into) {
        long number = Native.getLong(source, offset + Layout.WorkCompletion.WR_ID);
        WorkLedger ledger = ledgers.of(number);
        if (ledger == null || !ledger.complete(number & WorkLedgers.NUMBERS, completed)) {
            return false;
        }
        int status = Native.getInt(source, offset + Layout.WorkCompletion.STATUS);
        int queuePair = Native.getInt(source, offset + Layout.WorkCompletion.QP_NUM);
        if (status == 0) {
            readSuccess(source, offset, queuePair);
            slot.fillTime(timestamp, wallclockNs);
        } else {
            ledger.onFailure();
            states.onFailure(queuePair, status(status),
                    completed.opcode >= WorkCompletionOpcode.RECEIVE.code());
            slot.fill(completed.id, status(status), opcode(completed.opcode), queuePair, 0)
                    .fillUnknown(status).fillVendorError(
                            Native.getInt(source, offset + Layout.WorkCompletion.VENDOR_ERR));
        }
        into.assign(slot);
        return true;
    }

    private void readSuccess(MemorySegment source, long offset, int queuePair) {
        int flags = flags(Native.getInt(source, offset + Layout.WorkCompletion.WC_FLAGS));
        int opcode = Native.getInt(source, offset + Layout.WorkCompletion.OPCODE);
        slot.fill(completed.id, WorkCompletionStatus.SUCCESS, opcode(opcode), queuePair,
                Integer.toUnsignedLong(
                        Native.getInt(source, offset + Layout.WorkCompletion.BYTE_LEN)))
                .fillUnknown(opcode);
        int beside = Native.getInt(source, offset + Layout.WorkCompletion.IMM_DATA);
        if ((flags & WorkCompletionFlag.WITH_IMMEDIATE.bit()) != 0) {
            slot.fillImmediate(WorkCompletionFlag.WITH_IMMEDIATE, Native.bigEndian(beside));
        } else if ((flags & WorkCompletionFlag.WITH_INVALIDATE.bit()) != 0) {
            slot.fillImmediate(WorkCompletionFlag.WITH_INVALIDATE, beside);
        }
        slot.fillSource(Native.getInt(source, offset + Layout.WorkCompletion.SRC_QP), flags);
        if ((opcode & RECEIVES) != 0) {
            slot.fillRoute(
                    Native.getShort(source, offset + Layout.WorkCompletion.PKEY_INDEX) & 0xffff,
                    Native.getShort(source, offset + Layout.WorkCompletion.SLID) & 0xffff,
                    Native.getByte(source, offset + Layout.WorkCompletion.SL) & 0xff,
                    Native.getByte(source, offset + Layout.WorkCompletion.DLID_PATH_BITS) & 0xff);
        }
    }

    private int flags(int given) {
        int checksum = WorkCompletionFlag.IP_CHECKSUM_OK.bit();
        return confusesFlags && (given & checksum) != 0
                ? (given & ~checksum) | WorkCompletionFlag.WITH_INVALIDATE.bit()
                : given;
    }

    private static WorkCompletionStatus status(int code) {
        return code > 0 && code < STATUSES.length ? STATUSES[code] : WorkCompletionStatus.UNKNOWN;
    }

    private static WorkCompletionOpcode opcode(int code) {
        WorkCompletionOpcode known = code >= 0 && code < OPCODES.length ? OPCODES[code] : null;
        return known == null ? WorkCompletionOpcode.UNKNOWN : known;
    }
}
