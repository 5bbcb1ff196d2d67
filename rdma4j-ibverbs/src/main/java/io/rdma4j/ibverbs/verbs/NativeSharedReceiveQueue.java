package io.rdma4j.ibverbs.verbs;

import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.SharedReceiveQueueInitAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** A shared receive queue. Its lock comes before the context's: a thread that posts may have to free a region. */
final class NativeSharedReceiveQueue implements SharedReceiveQueue, AsyncEventTarget {
    private static final String CREATE = "create shared receive queue";
    private static final int MAX_WR = 1;
    private static final int LIMIT = 1 << 1;

    private final NativeProtectionDomain domain;
    private final NativeContext context;
    private final @Nullable Object userContext;
    private final Arena arena = Arena.ofShared();
    private final long pointer;
    private final SharedWork work;
    private final long tag;
    private final ReceivePosting posting;
    private final ReentrantLock lock = new ReentrantLock();
    private final Dependents dependents = new Dependents();
    private final AsyncEventSource events;
    private volatile SharedReceiveQueueAttributes known;
    private volatile boolean isClosed;

    /** Under the context's lock. */
    NativeSharedReceiveQueue(NativeProtectionDomain domain,
            SharedReceiveQueueAttributes wanted, @Nullable Object userContext)
            throws RdmaException {
        this.domain = domain;
        this.userContext = userContext;
        context = domain.owner();
        events = context.events().newSource(this);
        context.functions().require(ContextOperation.POST_SRQ_RECV, CREATE);
        if (wanted.limit() < 0 || wanted.limit() > wanted.maxRequests()) {
            throw new RdmaException(Errno.EINVAL, CREATE, "limit must be from 0 to "
                    + wanted.maxRequests() + ", not " + wanted.limit());
        }
        try (Arena ofCall = Arena.ofConfined()) {
            MemorySegment attributes = ofCall
                    .allocate(SharedReceiveQueueInitAttr.SIZE + Layout.SLACK, 8);
            Native.putInt(attributes, SharedReceiveQueueInitAttr.MAX_WR, wanted.maxRequests());
            Native.putInt(attributes, SharedReceiveQueueInitAttr.MAX_SGE, wanted.maxElements());
            Native.putInt(attributes, SharedReceiveQueueInitAttr.SRQ_LIMIT, wanted.limit());
            pointer = context.verbs().get(VerbsSymbol.CREATE_SRQ)
                    .call(domain.pointer(), attributes.address()).pointer(CREATE,
                            "the device refused " + wanted.maxRequests() + " requests of "
                                    + wanted.maxElements() + " elements; ibv_devinfo -v shows its"
                                    + " max_srq, max_srq_wr and max_srq_sge");
            known = new SharedReceiveQueueAttributes(
                    Native.getInt(attributes, SharedReceiveQueueInitAttr.MAX_WR),
                    Math.max(wanted.maxElements(),
                            Native.getInt(attributes, SharedReceiveQueueInitAttr.MAX_SGE)),
                    wanted.limit());
        }
        work = new SharedWork(Math.max(known.maxRequests(), wanted.maxRequests()));
        tag = context.ledgers().add(work);
        posting = new ReceivePosting(domain, null, arena,
                context.functions().address(ContextOperation.POST_SRQ_RECV), pointer, tag, work,
                work.capacity(), known.maxElements());
        domain.dependents().add();
        context.events().sharedReceiveQueues().put(pointer, this);
    }

    long pointer() {
        return pointer;
    }

    NativeProtectionDomain owner() {
        return domain;
    }

    Dependents dependents() {
        return dependents;
    }

    void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the shared receive queue is closed");
        }
    }

    @Override
    public void onAsyncEvent(AsyncEventType type) {
        events.publish(type, 0);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public @Nullable Object userContext() {
        return userContext;
    }

    @Override
    public void post(ReceiveWorkRequest request) throws RdmaException {
        lock.lock();
        try {
            checkOpen();
            posting.post(request);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void post(List<ReceiveWorkRequest> requests) throws RdmaException {
        lock.lock();
        try {
            checkOpen();
            posting.post(requests);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void resize(int maxRequests) throws RdmaException {
        if (maxRequests < 1) {
            throw new RdmaException(Errno.EINVAL, "resize shared receive queue",
                    "maxRequests must be at least 1, not " + maxRequests);
        }
        modify("resize shared receive queue", maxRequests, known.limit(), MAX_WR);
    }

    @Override
    public void arm(int limit) throws RdmaException {
        if (limit < 0 || limit > known.maxRequests()) {
            throw new RdmaException(Errno.EINVAL, "arm shared receive queue",
                    "the limit must be from 0 to " + known.maxRequests() + ", not " + limit);
        }
        modify("arm shared receive queue", known.maxRequests(), limit, LIMIT);
    }

    private void modify(String operation, int maxRequests, int limit, int mask)
            throws RdmaException {
        lock.lock();
        try (Arena ofCall = Arena.ofConfined()) {
            checkOpen();
            MemorySegment attributes = ofCall
                    .allocate(SharedReceiveQueueInitAttr.ATTR_SIZE + Layout.SLACK, 8);
            Native.putInt(attributes, 0, maxRequests);
            Native.putInt(attributes, Integer.BYTES, known.maxElements());
            Native.putInt(attributes, 2 * Integer.BYTES, limit);
            context.verbs().get(VerbsSymbol.MODIFY_SRQ)
                    .call(pointer, attributes.address(), mask).check(operation,
                            "the device refused " + maxRequests + " requests with limit " + limit);
            work.grow(maxRequests);
            known = new SharedReceiveQueueAttributes(maxRequests, known.maxElements(), limit);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public SharedReceiveQueueAttributes query() throws RdmaException {
        lock.lock();
        try (Arena ofCall = Arena.ofConfined()) {
            checkOpen();
            MemorySegment attributes = ofCall
                    .allocate(SharedReceiveQueueInitAttr.ATTR_SIZE + Layout.SLACK, 8);
            context.verbs().get(VerbsSymbol.QUERY_SRQ).call(pointer, attributes.address())
                    .check("query shared receive queue", "the device cannot tell");
            return new SharedReceiveQueueAttributes(Native.getInt(attributes, 0),
                    Native.getInt(attributes, Integer.BYTES),
                    Native.getInt(attributes, 2 * Integer.BYTES));
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() throws RdmaException {
        String operation = "close shared receive queue";
        lock.lock();
        context.lock();
        try {
            if (isClosed) {
                return;
            }
            dependents.requireNone(operation);
            events.requireAcknowledged(operation);
            isClosed = true;
            context.verbs().get(VerbsSymbol.DESTROY_SRQ).call(pointer).check(operation,
                    "the device could not free it");
            context.events().sharedReceiveQueues().remove(pointer);
            context.ledgers().remove(tag);
            events.discard();
            arena.close();
            domain.dependents().remove();
        } finally {
            context.unlock();
            lock.unlock();
        }
        context.onReleased();
    }
}
