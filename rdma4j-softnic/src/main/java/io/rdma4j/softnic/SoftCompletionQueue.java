package io.rdma4j.softnic;

import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** A completion queue. */
final class SoftCompletionQueue implements CompletionQueue {
    private final SoftDeviceContext context;
    private final EngineDriver driver;
    private final CompletionRing ring;
    private final int capacity;
    private final @Nullable CompletionChannel channel;
    private final @Nullable Object userContext;
    private final List<EngineQueuePair> queuePairs = new ArrayList<>();
    private final LiveObjects children = new LiveObjects();
    private final AtomicInteger unacknowledged = new AtomicInteger();
    private volatile boolean isClosed;

    SoftCompletionQueue(SoftDeviceContext context, int capacity,
            @Nullable CompletionChannel channel, @Nullable Object userContext)
            throws RdmaException {
        this.context = context;
        this.capacity = capacity;
        this.channel = channel;
        this.userContext = userContext;
        driver = context.nic().driver();
        if (channel != null) {
            channel.attach();
        }
        ring = new CompletionRing(capacity, this::announce);
        context.nic().add(ring, this);
    }

    @Override
    public DeviceContext context() {
        return context;
    }

    SoftDeviceContext owner() {
        return context;
    }

    CompletionRing ring() {
        return ring;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public @Nullable CompletionChannel channel() {
        return channel;
    }

    @Override
    public @Nullable Object userContext() {
        return userContext;
    }

    @Override
    public int poll(WorkCompletion[] completions) throws RdmaException {
        checkOpen();
        int count = ring.take(completions);
        if (count == 0 && completions.length > 0) {
            driver.poll();
            count = ring.take(completions);
            if (count == 0) {
                checkOverrun();
            }
        }
        return count;
    }

    @Override
    public boolean poll(WorkCompletion completion) throws RdmaException {
        checkOpen();
        if (ring.take(completion)) {
            return true;
        }
        driver.poll();
        if (ring.take(completion)) {
            return true;
        }
        checkOverrun();
        return false;
    }

    private void checkOverrun() throws RdmaException {
        if (ring.isOverrun()) {
            throw new RdmaException(Errno.EIO, "poll completion queue",
                    "it overran: more work completed than its " + capacity
                            + " entries can hold; create it with room for all outstanding requests");
        }
    }

    private void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the completion queue is closed");
        }
    }

    @Override
    public void requestNotification(boolean solicitedOnly) throws RdmaException {
        checkOpen();
        if (channel == null) {
            throw new RdmaException(Errno.EINVAL, "request notification",
                    "the completion queue was created without a channel");
        }
        ring.arm(solicitedOnly);
    }

    private void announce() {
        CompletionChannel announcesIn = channel;
        if (announcesIn != null) {
            unacknowledged.incrementAndGet();
            announcesIn.publish(this);
        }
    }

    @Override
    public void acknowledgeEvents(int count) {
        if (count < 0 || count > unacknowledged.get()) {
            throw new IllegalArgumentException("cannot acknowledge " + count + " event(s): "
                    + unacknowledged.get() + " are not acknowledged");
        }
        unacknowledged.addAndGet(-count);
    }

    @Override
    public void resize(int newCapacity) throws RdmaException {
        throw RdmaException.unsupported("resize completion queue",
                "this device cannot; create it with the capacity it will need");
    }

    @Override
    public void moderate(int count, int periodUs) throws RdmaException {
        throw RdmaException.unsupported("moderate completion queue", "not yet");
    }

    // ---------------------------------------------------------------- for the engine's owner

    void attach(EngineQueuePair queuePair) {
        queuePairs.add(queuePair);
        children.add("queue pair");
    }

    void detach(EngineQueuePair queuePair) {
        queuePairs.remove(queuePair);
        children.remove("queue pair");
    }

    /** A completion was lost: the queue and everything that reports to it have failed. IBTA 11.6.3.3. */
    void onOverrun() {
        context.asyncEvents().publish(
                SoftAsyncEvent.of(AsyncEventType.CQ_ERROR, this));
        for (EngineQueuePair queuePair : List.copyOf(queuePairs)) {
            driver.run(nowNs -> {
                queuePair.fail(nowNs);
                driver.engine().touched(queuePair);
            });
        }
    }

    @Override
    public void close() throws RdmaException {
        driver.call(nowNs -> {
            if (isClosed) {
                return this;
            }
            children.requireNone("close completion queue");
            int taken = unacknowledged.get() - (channel == null ? 0 : channel.waiting(this));
            if (taken > 0) {
                throw new RdmaException(Errno.EBUSY, "close completion queue",
                        taken + " event(s) are not acknowledged; acknowledge them first");
            }
            isClosed = true;
            context.nic().remove(ring);
            context.children().remove("completion queue");
            context.totals().remove("completion queue");
            if (channel != null) {
                channel.detach(this);
            }
            return this;
        });
    }
}
