package com.ibm.disni.verbs.impl;

import com.ibm.disni.util.MemBuf;
import com.ibm.disni.util.MemoryAllocation;
import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Polls a completion queue, as DiSNI's class of this name does. That of a failure has all its fields too, so that it reaches the
 * endpoint of its queue pair: DiSNI's leaves there what the last completion had.
 */
public class NatPollCqCall extends SVCPollCq {
    private final NativeDispatcher calls;
    private final NatIbvCQ queue;
    private final IbvWC[] completions;
    private final int limit;
    /** Null when freed. */
    private @Nullable MemBuf polled;
    private int count;

    public NatPollCqCall(RdmaVerbsNat verbs, NativeDispatcher calls, MemoryAllocation memory,
            IbvCQ queue, IbvWC[] completions, int limit) {
        this.calls = calls;
        this.queue = (NatIbvCQ) queue;
        this.completions = completions;
        this.limit = Math.min(limit, completions.length);
        polled = memory.allocate(completions.length * IbvWC.CSIZE);
    }

    @Override
    public SVCPollCq execute() throws IOException {
        count = 0;
        MemBuf memory = polled;
        if (memory == null) {
            throw new IOException("poll: the call was freed");
        }
        if (!queue.isOpen()) {
            throw new IOException("poll: the completion queue is closed");
        }
        int found = calls._pollCQ(queue.getObjId(), limit, memory.address());
        ByteBuffer from = memory.getBuffer();
        for (int i = 0; i < found; i++) {
            fill(completions[i], from, i * IbvWC.CSIZE);
        }
        count = found;
        return this;
    }

    /** The fields of {@code struct ibv_wc}. */
    private static void fill(IbvWC completion, ByteBuffer from, int at) {
        completion.setWr_id(from.getLong(at));
        completion.setStatus(from.getInt(at + 8));
        completion.setOpcode(from.getInt(at + 12));
        completion.setVendor_err(from.getInt(at + 16));
        completion.setByte_len(from.getInt(at + 20));
        completion.setImm_data(from.getInt(at + 24));
        completion.setQp_num(from.getInt(at + 28));
        completion.setSrc_qp(from.getInt(at + 32));
        completion.setWc_flags(from.getInt(at + 36));
        completion.setPkey_index(from.getShort(at + 40));
        completion.setSlid(from.getShort(at + 42));
        completion.setSl(from.get(at + 44));
        completion.setDlid_path_bits(from.get(at + 45));
    }

    @Override
    public int getPolls() {
        return count;
    }

    @Override
    public boolean isValid() {
        return polled != null;
    }

    @Override
    public SVCPollCq free() {
        MemBuf freed = polled;
        polled = null;
        if (freed != null) {
            freed.free();
        }
        return this;
    }
}
