// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.device.RequestBatch;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Posts piece by piece: collects requests and posts them at the end. The library's own interface for it keeps a lock of
 * the driver between calls, which a thread that the JVM stops would hold; and is wrong in several versions.
 */
public final class NativeSendBatch extends RequestBatch {
    private final QueuePairServices owner;
    private final NativeSendQueue queue;
    private final List<SendWorkRequest> reusable = new ArrayList<>();
    /** For each of {@link #reusable}. */
    private final List<InlineData> inlined = new ArrayList<>();
    private int count;
    private boolean isInBatch;
    private boolean isInlined;

    NativeSendBatch(QueuePairServices owner, NativeSendQueue queue, Set<SendOpcode> offered) {
        super(offered);
        this.owner = owner;
        this.queue = queue;
    }

    @Override
    public QueuePair queuePair() {
        return owner.queuePair();
    }

    /** {@return whether the calling thread has begun a batch} */
    boolean isOfThisThread() {
        return queue.lock().isHeldByCurrentThread() && isInBatch;
    }

    /**
     * Begins a batch.
     *
     * @throws RdmaException EBADF if the queue pair is closed
     * @throws IllegalStateException if this thread has begun one already
     */
    public void start() throws RdmaException {
        queue.lock().lock();
        try {
            if (isInBatch) {
                throw new IllegalStateException(
                        "this thread has begun a batch already: end it first");
            }
            owner.checkOpen();
        } catch (RdmaException | IllegalStateException e) {
            queue.lock().unlock();
            throw e;
        }
        isInBatch = true;
        count = 0;
        reset();
    }

    @Override
    protected void requireBatch() {
        if (!isOfThisThread()) {
            throw new IllegalStateException("this thread has not begun a batch: start one first");
        }
    }

    // ---------------------------------------------------------------- requests

    @Override
    protected SendWorkRequest begin(SendOpcode opcode) {
        requireBatch();
        endInline();
        if (count == reusable.size()) {
            reusable.add(new SendWorkRequest());
            inlined.add(new InlineData(
                    Math.max(Long.BYTES, owner.capabilities().maxInlineData())));
        }
        inlined.get(count).clear();
        return begun(reusable.get(count++), opcode);
    }

    private void endInline() {
        if (isInlined) {
            inlined.get(count - 1).giveTo(begun());
            isInlined = false;
        }
    }

    @Override
    protected SendWorkRequest begun() {
        requireBatch();
        if (count == 0) {
            throw noneBegun();
        }
        return reusable.get(count - 1);
    }

    @Override
    public SendBatch inline(MemorySegment data) {
        Objects.requireNonNull(data, "data");
        begun().set(SendFlag.INLINE);
        isInlined = true;
        InlineData gathered = inlined.get(count - 1);
        try {
            long length = gathered.lengthWith(data);
            if (length > mostInline()) {
                throw new RdmaException(Errno.EINVAL, SendChecks.OPERATION, "the inline data has "
                        + length + " bytes; the most are " + mostInline());
            }
            gathered.add(data);
        } catch (RdmaException tooLong) {
            fail(tooLong);
        } catch (InternalError cutShort) {
            fail(NativeSendPosting.cutShort(cutShort));
        } catch (IllegalStateException | WrongThreadException unreadable) {
            fail(NativeSendPosting.unreadable(unreadable));
        }
        return this;
    }

    private int mostInline() {
        return begun().opcode() == SendOpcode.ATOMIC_WRITE
                ? Long.BYTES
                : owner.capabilities().maxInlineData();
    }

    // ---------------------------------------------------------------- the end

    @Override
    public void post() throws RdmaException {
        requireBatch();
        if (count > 0) {
            endInline();
        }
        try {
            RdmaException refused = failure();
            if (refused != null) {
                throw refused;
            }
            isInBatch = false;
            queue.postBatch(reusable, count);
        } finally {
            end();
        }
    }

    @Override
    public void close() {
        if (isOfThisThread()) {
            end();
        }
    }

    private void end() {
        isInBatch = false;
        isInlined = false;
        reset();
        queue.lock().unlock();
    }
}
