// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.memory.DomainServices;
import io.rdma4j.ibverbs.work.LostRequests;
import io.rdma4j.ibverbs.work.OutstandingWork;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.PostException;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;

import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** The receive queue of a queue pair. One that draws from a shared receive queue, or receives nothing, refuses each request. */
final class NativeReceiveQueue {
    private final QueuePairServices queuePair;
    private final ContextServices services;
    private final boolean hasReceives;
    private final boolean isShared;
    private final OutstandingWork work;
    private final long tag;
    private final NativeReceivePosting posting;
    private final ReentrantLock lock = new ReentrantLock();

    /**
     * @param arena an arena that lives as long as the queue pair
     * @param hasReceives whether queue pairs of its type receive
     * @param isShared whether it draws from a shared receive queue
     */
    NativeReceiveQueue(QueuePairServices queuePair, Arena arena, boolean hasReceives,
            boolean isShared) {
        this.queuePair = queuePair;
        this.hasReceives = hasReceives;
        this.isShared = isShared;
        DomainServices domain = queuePair.owner();
        services = domain.owner();
        QueuePairCapabilities sizes = queuePair.capabilities();
        work = new OutstandingWork(sizes.maxReceiveRequests());
        tag = services.ledgers().add(work);
        posting = new NativeReceivePosting(domain, queuePair, arena,
                services.functions().address(ContextOperation.POST_RECV), queuePair.pointer(),
                tag, work, sizes.maxReceiveRequests(), sizes.maxReceiveElements());
    }

    /** {@return the lock for posting and closing} */
    ReentrantLock lock() {
        return lock;
    }

    OutstandingWork work() {
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

    void post(ReceiveWorkRequest request) throws RdmaException {
        lock.lock();
        try {
            queuePair.checkOpen();
            check();
            posting.post(request);
        } finally {
            lock.unlock();
        }
    }

    void post(List<ReceiveWorkRequest> requests) throws RdmaException {
        lock.lock();
        try {
            queuePair.checkOpen();
            if (!requests.isEmpty()) {
                checkForList();
            }
            posting.post(requests);
        } finally {
            lock.unlock();
        }
    }

    private void checkForList() throws PostException {
        try {
            check();
        } catch (RdmaException refused) {
            throw new PostException(NativeReceivePosting.OPERATION, refused, 0);
        }
    }

    private void check() throws RdmaException {
        if (!hasReceives) {
            throw new RdmaException(Errno.EINVAL, NativeReceivePosting.OPERATION,
                    "a queue pair of type " + queuePair.type()
                            + " receives nothing; post to the peer's shared receive queue");
        }
        if (isShared) {
            throw new RdmaException(Errno.EINVAL, NativeReceivePosting.OPERATION,
                    "the queue pair draws from a shared receive queue; post there");
        }
        if (queuePair.isReset()) {
            throw new RdmaException(Errno.EINVAL, NativeReceivePosting.OPERATION,
                    "the queue pair is in state RESET; receives need INIT or later");
        }
    }

    /** Removes its ledger: later completions belong to a closed queue. */
    void forget() {
        services.ledgers().remove(tag);
    }
}
