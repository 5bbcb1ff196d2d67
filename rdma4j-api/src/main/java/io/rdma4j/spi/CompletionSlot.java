// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

/** A completion that a device fills, and applications get a copy of ({@link WorkCompletion#assign}). */
public final class CompletionSlot extends WorkCompletion {
    private boolean isRemoved;

    /** Creates one to be filled. */
    public CompletionSlot() {}

    @Override
    public CompletionSlot fill(long requestId, WorkCompletionStatus newStatus,
            WorkCompletionOpcode newOpcode, int queuePair, long bytes) {
        super.fill(requestId, newStatus, newOpcode, queuePair, bytes);
        isRemoved = false;
        return this;
    }

    /** The queue pair that it is of has begun another life, or was closed: no application gets it. Until it is filled again. */
    public void remove() {
        isRemoved = true;
    }

    /** {@return whether no application gets it} */
    public boolean isRemoved() {
        return isRemoved;
    }

    @Override
    public CompletionSlot fillImmediate(WorkCompletionFlag flag, int value) {
        super.fillImmediate(flag, value);
        return this;
    }

    @Override
    public CompletionSlot fillSource(int queuePair, int moreFlags) {
        super.fillSource(queuePair, moreFlags);
        return this;
    }

    @Override
    public CompletionSlot fillRoute(int newPkeyIndex, int lid, int level, int pathBits) {
        super.fillRoute(newPkeyIndex, lid, level, pathBits);
        return this;
    }

    @Override
    public CompletionSlot fillTime(long timestamp, long wallclockNs) {
        super.fillTime(timestamp, wallclockNs);
        return this;
    }

    @Override
    public CompletionSlot fillDetail(@Nullable String text) {
        super.fillDetail(text);
        return this;
    }

    @Override
    public CompletionSlot fillUnknown(int code) {
        super.fillUnknown(code);
        return this;
    }

    @Override
    public CompletionSlot fillVendorError(int code) {
        super.fillVendorError(code);
        return this;
    }
}
