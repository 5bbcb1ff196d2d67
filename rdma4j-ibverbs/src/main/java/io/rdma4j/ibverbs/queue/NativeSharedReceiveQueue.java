// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.device.AsyncEventSource;
import io.rdma4j.device.ChildCounts;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.SharedReceiveQueueInitAttr;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.completion.NativeCompletionQueue;
import io.rdma4j.ibverbs.device.AsyncEventTarget;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.device.DriverLock;
import io.rdma4j.ibverbs.memory.DomainServices;
import io.rdma4j.ibverbs.work.SharedWork;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueueType;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A shared receive queue. Its lock is taken before the context's: a thread that posts may have to free a region.
 */
public final class NativeSharedReceiveQueue implements SharedReceiveQueue, AsyncEventTarget {
    private static final int MAX_WR = 1;
    private static final int LIMIT = 1 << 1;

    private final DomainServices domain;
    private final ContextServices services;
    private final @Nullable Object userContext;
    private final SharedReceiveQueueType type;
    private final @Nullable XrcDomainServices connections;
    private final @Nullable NativeCompletionQueue completions;
    private final Arena arena = Arena.ofShared();
    private final long pointer;
    private final SharedWork work;
    private final long tag;
    private final NativeReceivePosting posting;
    private final ReentrantLock lock = new ReentrantLock();
    private final ChildCounts children = new ChildCounts();
    private final AsyncEventSource events;
    private volatile SharedReceiveQueueAttributes known;
    private volatile boolean isClosed;

    /** Under the context's lock. */
    public NativeSharedReceiveQueue(DomainServices domain,
            SharedReceiveQueueInitAttributes wanted) throws RdmaException {
        this.domain = domain;
        userContext = wanted.userContext();
        type = wanted.type();
        services = domain.owner();
        events = services.events().newSource(this);
        SharedReceiveQueueCreation made = SharedReceiveQueueCreation.make(domain, wanted);
        pointer = made.pointer();
        known = made.given();
        connections = made.connections();
        completions = made.completions();
        boolean isMade = false;
        try {
            work = new SharedWork(known.maxRequests());
            tag = services.ledgers().add(work);
            posting = new NativeReceivePosting(domain, null, arena,
                    services.functions().address(ContextOperation.POST_SRQ_RECV), pointer, tag,
                    work, work.capacity(), known.maxElements());
            isMade = true;
        } finally {
            if (!isMade) {
                services.verbs().get(VerbsSymbol.DESTROY_SRQ).call(pointer);
                arena.close();
            }
        }
        domain.children().add(ObjectKind.SHARED_RECEIVE_QUEUE);
        domain.owner().owned().add(ObjectKind.SHARED_RECEIVE_QUEUE, this);
        if (connections != null) {
            connections.children().add(ObjectKind.SHARED_RECEIVE_QUEUE);
        }
        if (completions != null) {
            completions.children().add(ObjectKind.SHARED_RECEIVE_QUEUE);
        }
        services.events().sharedReceiveQueues().put(pointer, this);
    }

    public long pointer() {
        return pointer;
    }

    public DomainServices owner() {
        return domain;
    }

    public ChildCounts children() {
        return children;
    }

    public void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("shared receive queue");
        }
    }

    @Override
    public void onAsyncEvent(AsyncEventType type) {
        events.publish(type, 0);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain.domain();
    }

    @Override
    public SharedReceiveQueueType type() {
        return type;
    }

    @Override
    public int number() throws RdmaException {
        checkOpen();
        if (type != SharedReceiveQueueType.XRC) {
            return SharedReceiveQueue.super.number();
        }
        String operation = "query shared receive queue number";
        lock.lock();
        try (Arena ofCall = Arena.ofConfined()) {
            checkOpen();
            MemorySegment number = ofCall.allocate(Integer.BYTES, Integer.BYTES);
            services.functions().require(ContextOperation.GET_SRQ_NUM, operation)
                    .call(pointer, number.address()).check(operation, "the device cannot tell");
            return Native.getInt(number, 0);
        } finally {
            lock.unlock();
        }
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
        checkOpen();
        if (maxRequests < 1) {
            throw new RdmaException(Errno.EINVAL, "resize shared receive queue",
                    "maxRequests must be at least 1, not " + maxRequests);
        }
        modify("resize shared receive queue", maxRequests, known.limit(), MAX_WR);
    }

    @Override
    public void arm(int limit) throws RdmaException {
        checkOpen();
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
            services.verbs().get(VerbsSymbol.MODIFY_SRQ)
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
            services.verbs().get(VerbsSymbol.QUERY_SRQ).call(pointer, attributes.address())
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
        services.lock();
        try {
            if (isClosed) {
                return;
            }
            children.requireNone(operation);
            events.end(operation);
            isClosed = true;
            destroy(operation);
            services.events().sharedReceiveQueues().remove(pointer);
            services.ledgers().remove(tag);
            arena.close();
            domain.children().remove(ObjectKind.SHARED_RECEIVE_QUEUE);
            domain.owner().owned().remove(ObjectKind.SHARED_RECEIVE_QUEUE, this);
            if (connections != null) {
                connections.children().remove(ObjectKind.SHARED_RECEIVE_QUEUE);
            }
            if (completions != null) {
                completions.children().remove(ObjectKind.SHARED_RECEIVE_QUEUE);
            }
        } finally {
            services.unlock();
            lock.unlock();
        }
    }

    /** Cleans the completion queue of one of type XRC, too. */
    private void destroy(String operation) throws RdmaException {
        DriverLock cleaned = completions == null ? new DriverLock(false)
                : completions.driverLock();
        cleaned.lock();
        try {
            services.verbs().get(VerbsSymbol.DESTROY_SRQ).call(pointer).check(operation,
                    "the device could not free it");
        } finally {
            cleaned.unlock();
        }
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
