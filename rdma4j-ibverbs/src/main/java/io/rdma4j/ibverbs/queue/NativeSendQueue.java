// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.device.WindowBindFlags;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout.WindowBind;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.memory.DomainServices;
import io.rdma4j.ibverbs.memory.NativeMemoryRegion;
import io.rdma4j.ibverbs.memory.NativeMemoryWindow;
import io.rdma4j.ibverbs.work.LostRequests;
import io.rdma4j.ibverbs.work.OutstandingWork;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryWindow;
import io.rdma4j.verbs.MemoryWindowBind;
import io.rdma4j.verbs.MemoryWindowType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendBatch;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionOpcode;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The send queue of a queue pair: requests posted one by one, in lists and in batches, and windows of type 1, which are
 * bound in the order of work.
 */
public final class NativeSendQueue {
    private final QueuePairServices queuePair;
    private final DomainServices domain;
    private final ContextServices services;
    private final OutstandingWork work;
    private final long tag;
    private final SendChecks checks;
    private final NativeSendPosting posting;
    private final @Nullable NativeSendBatch batch;
    private final ReentrantLock lock = new ReentrantLock();

    /**
     * @param arena an arena that lives as long as the queue pair
     * @param offered the operations that can be posted
     * @param ofBatches the operations that can be posted piece by piece, null for none
     * @param extended posts FLUSH and atomic writes, null if neither can be posted
     */
    NativeSendQueue(QueuePairServices queuePair, Arena arena, Set<SendOpcode> offered,
            @Nullable Set<SendOpcode> ofBatches, @Nullable ExtendedPosting extended)
            throws RdmaException {
        this.queuePair = queuePair;
        domain = queuePair.owner();
        services = domain.owner();
        work = new OutstandingWork(queuePair.capabilities().maxSendRequests());
        checks = new SendChecks(queuePair, offered);
        tag = services.ledgers().add(work);
        posting = new NativeSendPosting(queuePair, arena,
                services.functions().address(ContextOperation.POST_SEND), tag, work, checks,
                extended);
        batch = ofBatches == null ? null : new NativeSendBatch(queuePair, this, ofBatches);
    }

    /** {@return the lock for posting and closing; a batch keeps it until its end} */
    public ReentrantLock lock() {
        return lock;
    }

    public OutstandingWork work() {
        return work;
    }

    /**
     * {@return the requests that the driver has lost}
     *
     * @param late how many, the last ones, it was not given
     */
    LostRequests lost(int late) {
        return new LostRequests(work, tag, queuePair.number(), late);
    }

    public void post(SendWorkRequest request) throws RdmaException {
        lock.lock();
        try {
            queuePair.checkOpen();
            requireNoBatch();
            posting.post(request);
        } finally {
            lock.unlock();
        }
    }

    public void post(List<SendWorkRequest> requests) throws RdmaException {
        lock.lock();
        try {
            queuePair.checkOpen();
            requireNoBatch();
            posting.post(requests);
        } finally {
            lock.unlock();
        }
    }

    /** @throws IllegalStateException if the calling thread, which has the lock, is in a batch */
    void requireNoBatch() {
        if (batch != null && batch.isOfThisThread()) {
            throw new IllegalStateException(
                    "this thread is in a batch: post or close it first");
        }
    }

    /** Posts the requests of a batch: all or none, as far as they are checked here. Under the lock. */
    void postBatch(List<SendWorkRequest> requests, int count) throws RdmaException {
        if (count > RequestChain.CHAIN) {
            posting.post(requests.subList(0, count));
        } else {
            posting.postTogether(requests, count);
        }
    }

    public void bindMemoryWindow(long requestId, MemoryWindow window, MemoryWindowBind bind,
            SendFlag... flags) throws RdmaException {
        String operation = "bind memory window";
        queuePair.checkOpen();
        int bits = WindowBindFlags.bits(flags);
        if (!(window instanceof NativeMemoryWindow own)
                || own.type() != MemoryWindowType.TYPE_1) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "only a window of type 1 of this device is bound here, not " + window.type());
        }
        NativeMemoryRegion region = NativeMemoryRegion.own(bind.region(), services, operation);
        if (!own.owner().isOneWith(domain) || !region.owner().isOneWith(domain)) {
            throw new RdmaException(Errno.EPERM, operation,
                    "window, region and queue pair are not of one protection domain");
        }
        NativeFunction function = services.functions().require(ContextOperation.BIND_MW,
                operation);
        lock.lock();
        services.lock();
        try (Arena ofCall = Arena.ofConfined()) {
            requireNoBatch();
            queuePair.checkOpen();
            own.checkOpen();
            region.checkOpen();
            // Drivers post it as a send request, without a look at the queue pair.
            checks.checkOperation(SendOpcode.BIND_MEMORY_WINDOW, 0, operation);
            MemorySegment structure = ofCall.allocate(WindowBind.SIZE, 8);
            NativeSendPosting.writeBind(structure, 0, region, bind);
            if (!work.hasRoom(1)) {
                throw new RdmaException(Errno.ENOMEM, operation,
                        "the send queue is full; take completions first");
            }
            long place = work.note(0, requestId, WorkCompletionOpcode.BIND_MEMORY_WINDOW,
                    (bits & SendFlag.SIGNALED.bit()) != 0 || queuePair.isAllSignaled());
            Native.putLong(structure, WindowBind.WR_ID, tag | place);
            Native.putInt(structure, WindowBind.SEND_FLAGS, bits);
            work.commit(1);
            try {
                function.call(queuePair.pointer(), own.pointer(), structure.address()).check(
                        operation,
                        "the device refused: the region needs MW_BIND, and the queue room");
            } catch (RdmaException refused) {
                work.takeBack(1);
                throw refused;
            }
            work.accept();
            own.keyChanged(bind.length() == 0 ? null : region);
        } finally {
            services.unlock();
            lock.unlock();
        }
    }

    /**
     * {@return a batch that has begun}
     *
     * @throws IllegalStateException if the queue pair was created without, or if this thread has begun one
     */
    public SendBatch startBatch() throws RdmaException {
        queuePair.checkOpen();
        NativeSendBatch present = batch;
        if (present == null) {
            throw new IllegalStateException("the queue pair was created without sendOperations,"
                    + " which say what is posted in batches");
        }
        present.start();
        return present;
    }

    /** Removes its ledger: later completions belong to a closed queue. */
    public void forget() {
        services.ledgers().remove(tag);
    }
}
