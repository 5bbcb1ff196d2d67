// SPDX-License-Identifier: Apache-2.0
package com.ibm.disni.verbs.impl;

import com.ibm.disni.util.MemoryAllocation;
import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.SVCPollCq;
import io.rdma4j.disni.VerbsCalls;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.io.IOException;

/**
 * Polls a completion queue, as DiSNI's class of this name does. That of a failure has all its fields too, so that it reaches the
 * endpoint of its queue pair: DiSNI's leaves there what the last completion had. For one thread at a time, as DiSNI's is.
 */
public class NatPollCqCall extends SVCPollCq implements CompletionHandler {
    private final NativeDispatcher calls;
    private final NatIbvCQ queue;
    private final IbvWC[] completions;
    private final int limit;
    private @Nullable CompletionQueue polled;
    private int count;
    private boolean isValid = true;

    public NatPollCqCall(RdmaVerbsNat verbs, NativeDispatcher calls, MemoryAllocation memory,
            IbvCQ queue, IbvWC[] completions, int limit) {
        this.calls = calls;
        this.queue = (NatIbvCQ) queue;
        this.completions = completions;
        this.limit = Math.min(limit, completions.length);
    }

    @Override
    public SVCPollCq execute() throws IOException {
        count = 0;
        if (!queue.isOpen()) {
            throw new IOException("poll: the completion queue is closed");
        }
        CompletionQueue known = polled;
        if (known == null) {
            known = calls.queue(queue.getObjId());
            polled = known;
        }
        known.poll(limit, this);
        return this;
    }

    @Override
    public void onCompletion(WorkCompletion from) {
        IbvWC completion = completions[count];
        completion.setWr_id(from.id());
        completion.setStatus(from.statusCode());
        completion.setOpcode(from.opcodeCode());
        completion.setVendor_err(from.vendorError());
        completion.setByte_len((int) from.byteLength());
        completion.setImm_data(VerbsCalls.immediate(from));
        completion.setQp_num(from.queuePairNumber());
        completion.setSrc_qp(from.sourceQueuePairNumber());
        completion.setWc_flags(from.flags());
        completion.setPkey_index((short) from.pkeyIndex());
        completion.setSlid((short) from.sourceLid());
        completion.setSl((short) from.serviceLevel());
        completion.setDlid_path_bits((short) from.destinationPathBits());
        count++;
    }

    @Override
    public int getPolls() {
        return count;
    }

    @Override
    public boolean isValid() {
        return isValid;
    }

    @Override
    public SVCPollCq free() {
        isValid = false;
        return this;
    }
}
