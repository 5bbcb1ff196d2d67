// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.completion;

import io.rdma4j.device.AsyncEventSource;
import io.rdma4j.device.ChildCounts;
import io.rdma4j.device.CompletionEvents;
import io.rdma4j.device.HandlerPolling;
import io.rdma4j.device.ModerationPeriod;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.event.CompletionWaiters;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.ErrorNumbers;
import io.rdma4j.ibverbs.abi.HotCalls;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.device.CompletionEventTarget;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.device.DriverLock;
import io.rdma4j.ibverbs.memory.DomainServices;
import io.rdma4j.ibverbs.work.FlushedRequests;
import io.rdma4j.ibverbs.work.LostRequests;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A completion queue. All queues use the context's completion channel of the library, for events that the application
 * requests and for waking threads that wait for completions; this class distinguishes them. Its lock is taken before the
 * context's.
 */
public final class NativeCompletionQueue implements ExtendedCompletionQueue, CompletionEventTarget {
    /** The maximum of the 16-bit fields of {@code struct ibv_moderate_cq}. */
    private static final int MOST_OF_MODERATION = 0xffff;
    private final ContextServices services;
    private final CompletionQueueInitAttributes wanted;
    private final long pointer;
    private final MemorySegment notifyFunction;
    private final Arena arena = Arena.ofShared();
    private final FlushedRequests late = new FlushedRequests();
    private final Polling polling;
    private final WorkCompletion current = new WorkCompletion();
    private final ReentrantLock lock = new ReentrantLock();
    private final DriverLock driverLock;
    private final @Nullable CompletionEvents announcements;
    private final CompletionWaiters waiters = new CompletionWaiters(this::armForWaiters);
    private final ChildCounts children = new ChildCounts();
    private final AsyncEventSource events;
    private final @Nullable DomainServices parent;
    private final AtomicBoolean isEventAsked = new AtomicBoolean();
    private volatile boolean isSolicitedAsked;
    private final HandlerPolling handlerPolling = new HandlerPolling();
    private volatile boolean isClosed;
    /** Guarded by the lock. */
    private int lastCapacity;

    /**
     * {@return a new queue of an open device}
     *
     * @throws RdmaException EINVAL for a capacity or vector that cannot be, and what the device refuses
     */
    public static NativeCompletionQueue create(ContextServices services,
            CompletionQueueInitAttributes wanted) throws RdmaException {
        services.checkOpen();
        CompletionQueueInitAttributes attributes = new CompletionQueueInitAttributes(wanted);
        CompletionQueueCreation.check(services, attributes);
        ProtectionDomain parent = attributes.parentDomain();
        DomainServices own = parent == null ? null
                : DomainServices.own(parent, services, CompletionQueueCreation.OPERATION);
        return services.inCall(arena -> {
            if (own != null) {
                own.requireParent(CompletionQueueCreation.OPERATION);
            }
            try {
                NativeCompletionQueue queue = new NativeCompletionQueue(services, attributes, own);
                services.children().add(ObjectKind.COMPLETION_QUEUE);
                return queue;
            } catch (OutOfMemoryError none) {
                throw MemoryErrors.outOfMemory(CompletionQueueCreation.OPERATION, none);
            }
        });
    }

    /**
     * Under the context's lock.
     *
     * @param parent the parent domain, null for none
     */
    private NativeCompletionQueue(ContextServices services, CompletionQueueInitAttributes wanted,
            @Nullable DomainServices parent) throws RdmaException {
        this.services = services;
        this.wanted = wanted;
        this.parent = parent;
        driverLock = new DriverLock(
                wanted.singleThreaded() || (parent != null && parent.isOfOneThread()));
        events = services.events().newSource(this);
        notifyFunction = services.functions().address(ContextOperation.REQ_NOTIFY_CQ);
        CompletionChannel channel = wanted.channel();
        announcements = channel == null ? null
                : CompletionEvents.attach(channel, this, events.ofObject(), ProgressDriver.NONE);
        long made = 0;
        boolean isMade = false;
        try {
            made = CompletionQueueCreation.make(services, wanted, parent);
            pointer = made;
            polling = CompletionQueueCreation.hasTimes(wanted)
                    ? new TimestampPolling(services, pointer, wanted.fields(), arena)
                    : new PlainPolling(services, pointer, late, arena);
            isMade = true;
        } finally {
            if (!isMade) {
                if (made != 0) {
                    services.verbs().get(VerbsSymbol.DESTROY_CQ).call(made);
                }
                release();
            }
        }
        if (parent != null) {
            parent.children().add(ObjectKind.COMPLETION_QUEUE);
        }
        services.events().completionQueues().put(pointer, this);
        services.owned().add(ObjectKind.COMPLETION_QUEUE, this);
    }

    private void release() {
        if (announcements != null) {
            announcements.detach();
        }
        arena.close();
    }

    public long pointer() {
        return pointer;
    }

    public ContextServices owner() {
        return services;
    }

    public ChildCounts children() {
        return children;
    }

    /** {@return the lock for calls in which the driver removes completions} */
    public DriverLock driverLock() {
        return driverLock;
    }

    public CompletionWaiters waiters() {
        return waiters;
    }

    @Override
    public @Nullable QueuePair queuePair(WorkCompletion completion) throws RdmaException {
        checkOpen();
        return ExtendedCompletionQueue.super.queuePair(completion);
    }

    @Override
    public DeviceContext context() {
        return services.context();
    }

    @Override
    public int capacity() {
        lock.lock();
        try {
            if (!isClosed) {
                lastCapacity = Native.getInt(Native.at(pointer, Layout.CompletionQueue.SIZE),
                        Layout.CompletionQueue.CQE);
            }
            return lastCapacity;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public @Nullable CompletionChannel channel() {
        return wanted.channel();
    }

    @Override
    public @Nullable Object userContext() {
        return wanted.userContext();
    }

    @Override
    public Set<CompletionField> fields() {
        return wanted.fields();
    }

    public void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("completion queue");
        }
    }

    // ---------------------------------------------------------------- polling

    @Override
    public int poll(WorkCompletion[] completions) throws RdmaException {
        lock.lock();
        try {
            checkOpen();
            requireNoBatch();
            int taken = 0;
            while (taken < completions.length) {
                int asked = Math.min(Polling.BATCH, completions.length - taken);
                requirePlaces(completions, taken, taken + asked);
                int found = fetch(asked);
                for (int i = 0; i < found; i++) {
                    if (polling.read(i, completions[taken])) {
                        taken++;
                    }
                }
                if (found < asked && !polling.hasMore()) {
                    break;
                }
            }
            return taken;
        } finally {
            lock.unlock();
        }
    }

    /** Checked first, because completions that were taken from the driver and cannot be passed on are lost. */
    private static void requirePlaces(WorkCompletion[] completions, int from, int end) {
        for (int i = from; i < end; i++) {
            if (completions[i] == null) {
                throw new NullPointerException("completions[" + i
                        + "] is null; WorkCompletion.array fills an array with them");
            }
        }
    }

    @Override
    public boolean poll(WorkCompletion completion) throws RdmaException {
        Objects.requireNonNull(completion, "completion");
        lock.lock();
        try {
            checkOpen();
            requireNoBatch();
            return takeOne(completion);
        } finally {
            lock.unlock();
        }
    }

    private int fetch(int most) throws RdmaException {
        driverLock.lock();
        try {
            return polling.fetch(most);
        } finally {
            driverLock.unlock();
        }
    }

    private boolean takeOne(WorkCompletion completion) throws RdmaException {
        while (fetch(1) == 1) {
            if (polling.read(0, completion)) {
                return true;
            }
        }
        return false;
    }

    /** Completes requests that the driver has lost as flushed, after the driver's present completions. */
    public void flush(LostRequests lost) {
        if (lost.isPossible()) {
            late.add(lost);
            onEvent();
        }
    }

    /** A queue pair is closed: what it has lost does not complete any more. */
    public void forget(int queuePair) {
        late.removeOf(queuePair);
    }

    private void requireNoBatch() {
        if (lock.getHoldCount() > 1) {
            throw new IllegalStateException("this thread is reading in place: end the batch first");
        }
    }

    @Override
    public boolean startPoll() throws RdmaException {
        lock.lock();
        boolean isFound = false;
        try {
            checkOpen();
            requireNoBatch();
            isFound = takeOne(current);
            return isFound;
        } finally {
            if (!isFound) {
                lock.unlock();
            }
        }
    }

    private void requireBatch() {
        if (!lock.isHeldByCurrentThread()) {
            throw new IllegalStateException("this thread is not reading in place: start a batch");
        }
    }

    @Override
    public boolean nextPoll() {
        requireBatch();
        try {
            checkOpen();
            return takeOne(current);
        } catch (RdmaException failed) {
            // The next poll fails again, and may throw.
            return false;
        }
    }

    @Override
    public WorkCompletion current() {
        requireBatch();
        return current;
    }

    @Override
    public void endPoll() {
        requireBatch();
        lock.unlock();
    }

    // ---------------------------------------------------------------- events

    @Override
    public int poll(int limit, CompletionHandler handler) throws RdmaException {
        checkOpen();
        return handlerPolling.poll(this, limit, handler);
    }

    @Override
    public void requestNotification() throws RdmaException {
        requestNotification(false);
    }

    @Override
    public void requestSolicitedNotification() throws RdmaException {
        requestNotification(true);
    }

    private void requestNotification(boolean solicitedOnly) throws RdmaException {
        if (wanted.channel() == null) {
            checkOpen();
            throw new RdmaException(Errno.EINVAL, "request notification",
                    "the completion queue was created without a channel");
        }
        lock.lock();
        try {
            checkOpen();
            isSolicitedAsked = solicitedOnly && (!isEventAsked.get() || isSolicitedAsked);
            isEventAsked.set(true);
            arm(isSolicitedAsked);
        } finally {
            lock.unlock();
        }
    }

    private void armForWaiters() {
        lock.lock();
        try {
            if (!isClosed) {
                arm(false);
            }
        } catch (RdmaException refused) {
            // A waiting thread polls periodically, and finds the error by that.
            waiters.onEnd();
        } finally {
            lock.unlock();
        }
    }

    private void arm(boolean solicitedOnly) throws RdmaException {
        int result = HotCalls.requestNotification(notifyFunction, pointer, solicitedOnly ? 1 : 0);
        if (result != 0) {
            throw ErrorNumbers.failure("request notification", Math.abs(result),
                    "the device refused");
        }
    }

    /** There may be completions: an event of the library has announced them, and was acknowledged; or work was flushed. */
    @Override
    public void onEvent() {
        CompletionEvents announcesIn = announcements;
        if (announcesIn != null && isEventAsked.compareAndSet(true, false)) {
            announcesIn.publish();
        }
        waiters.onCompletion();
    }

    @Override
    public void onAsyncEvent(AsyncEventType type) {
        events.publish(type, 0);
    }

    @Override
    public void acknowledgeEvents(int count) {
        CompletionEvents.acknowledge(announcements, count);
    }

    // ---------------------------------------------------------------- what can be changed

    @Override
    public void resize(int capacity) throws RdmaException {
        String operation = "resize completion queue";
        checkOpen();
        if (capacity < 1) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "the capacity must be at least 1, not " + capacity);
        }
        lock.lock();
        driverLock.lock();
        try {
            checkOpen();
            services.verbs().get(VerbsSymbol.RESIZE_CQ).call(pointer, capacity).check(operation,
                    "the device refused " + capacity + " entries: fewer than the queue holds, more"
                            + " than its max_cqe, or it cannot resize");
        } finally {
            driverLock.unlock();
            lock.unlock();
        }
    }

    @Override
    public void moderate(int count, Duration period) throws RdmaException {
        String operation = "moderate completion queue";
        checkOpen();
        long periodUs = ModerationPeriod.us(period);
        if (count < 0 || count > MOST_OF_MODERATION || periodUs < 0
                || periodUs > MOST_OF_MODERATION) {
            throw new RdmaException(Errno.EINVAL, operation, "count and period in"
                    + " microseconds must be from 0 to " + MOST_OF_MODERATION + ", not " + count
                    + " and " + periodUs);
        }
        NativeFunction modify = services.functions().require(ContextOperation.MODIFY_CQ, operation);
        lock.lock();
        try (Arena ofCall = Arena.ofConfined()) {
            checkOpen();
            MemorySegment attributes = ofCall.allocate(Layout.ModifyCq.SIZE, 8);
            Native.putInt(attributes, Layout.ModifyCq.ATTR_MASK, 1);
            Native.putShort(attributes, Layout.ModifyCq.CQ_COUNT, count);
            Native.putShort(attributes, Layout.ModifyCq.CQ_PERIOD, (int) periodUs);
            modify.call(pointer, attributes.address()).check(operation,
                    "the device refused " + count + " completions and " + periodUs
                            + " us; ibv_devinfo -v shows its limits");
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() throws RdmaException {
        String operation = "close completion queue";
        lock.lock();
        services.lock();
        try {
            if (isClosed) {
                return;
            }
            requireNoBatch();
            children.requireNone(operation);
            events.end(operation);
            lastCapacity = Native.getInt(Native.at(pointer, Layout.CompletionQueue.SIZE),
                    Layout.CompletionQueue.CQE);
            isClosed = true;
            services.verbs().get(VerbsSymbol.DESTROY_CQ).call(pointer).check(operation,
                    "the device could not free it; the context cannot be closed any more");
            services.events().completionQueues().remove(pointer);
            release();
            services.children().remove(ObjectKind.COMPLETION_QUEUE);
            services.owned().remove(ObjectKind.COMPLETION_QUEUE, this);
            if (parent != null) {
                parent.children().remove(ObjectKind.COMPLETION_QUEUE);
            }
        } finally {
            services.unlock();
            lock.unlock();
        }
        waiters.onEnd();
    }

    /**
     * {@return an open queue of this context}
     *
     * @throws RdmaException EINVAL if it is null or of another context
     */
    public static NativeCompletionQueue own(@Nullable CompletionQueue queue,
            ContextServices services,
            String operation, String which) throws RdmaException {
        if (queue == null) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "a queue pair needs a completion queue for its " + which);
        }
        if (queue instanceof NativeCompletionQueue own && own.services.equals(services)) {
            own.checkOpen();
            return own;
        }
        throw new RdmaException(Errno.EINVAL, operation,
                "the completion queue for its " + which + " is of another device context");
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
