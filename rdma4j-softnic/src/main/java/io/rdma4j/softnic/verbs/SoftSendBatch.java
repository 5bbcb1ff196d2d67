// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.RequestBatch;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;

/**
 * Posting piece by piece: each request is staged in the ring when the next one begins, all are published
 * at the end.
 */
final class SoftSendBatch extends RequestBatch {
    private final SoftQueuePairServices queuePair;
    private final SendPosting posting;
    private final SendWorkRequest current = new SendWorkRequest();
    private boolean hasCurrent;
    private boolean isInlined;

    SoftSendBatch(SoftQueuePairServices queuePair, SendPosting posting, Set<SendOpcode> offered) {
        super(offered);
        this.queuePair = queuePair;
        this.posting = posting;
    }

    @Override
    public QueuePair queuePair() {
        return queuePair.queuePair();
    }

    /**
     * Begins a batch.
     *
     * @throws RdmaException EBADF if the queue pair is closed
     * @throws IllegalStateException if this thread has begun one already
     */
    void start() throws RdmaException {
        posting.beginBatch();
        hasCurrent = false;
        reset();
    }

    @Override
    protected void requireBatch() {
        if (!posting.isInBatch()) {
            throw new IllegalStateException("this thread has not begun a batch: start one first");
        }
    }

    // ---------------------------------------------------------------- requests

    @Override
    protected SendWorkRequest begin(SendOpcode opcode) {
        requireBatch();
        stageCurrent();
        hasCurrent = true;
        isInlined = false;
        return begun(current, opcode);
    }

    private void stageCurrent() {
        if (!hasCurrent) {
            return;
        }
        hasCurrent = false;
        if (failure() != null) {
            return;
        }
        try {
            if (isInlined) {
                posting.stageInlined(current, posting.free().length());
            } else {
                posting.stage(current, MemoryWindowType.TYPE_2);
            }
        } catch (RdmaException e) {
            fail(e);
        }
    }

    @Override
    protected SendWorkRequest begun() {
        requireBatch();
        if (!hasCurrent) {
            throw noneBegun();
        }
        return current;
    }

    @Override
    public SendBatch inline(MemorySegment data) {
        Objects.requireNonNull(data, "data");
        begun().set(SendFlag.INLINE);
        if (failure() != null) {
            return this;
        }
        try {
            SendRequest slot = posting.free();
            if (!isInlined) {
                isInlined = true;
                slot.beginInline();
            }
            PostChecks.checkInline(slot.length() + data.byteSize(), current.opcode(),
                    current.opcode() == SendOpcode.ATOMIC_WRITE
                            ? posting.ring().maxInlineData()
                            : posting.sizes().maxInlineData());
            SendPosting.copyInline(data, 0, data.byteSize(), slot);
        } catch (RdmaException e) {
            fail(e);
        }
        return this;
    }

    // ---------------------------------------------------------------- the end

    @Override
    public void post() throws RdmaException {
        requireBatch();
        stageCurrent();
        RdmaException refused = failure();
        if (refused != null) {
            close();
            throw refused;
        }
        posting.ring().publish();
        end();
        queuePair.ringForList();
    }

    @Override
    public void close() {
        if (posting.isInBatch()) {
            posting.ring().unstage();
            end();
        }
    }

    private void end() {
        hasCurrent = false;
        reset();
        current.clear();
        posting.endBatch();
    }
}
