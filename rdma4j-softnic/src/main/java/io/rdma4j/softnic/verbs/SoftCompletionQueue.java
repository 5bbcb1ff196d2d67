// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.device.AsyncEventSource;
import io.rdma4j.device.CompletionEvents;
import io.rdma4j.device.HandlerPolling;
import io.rdma4j.device.ModerationPeriod;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.ResourceText;
import io.rdma4j.event.CompletionWaiters;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionField;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionOpcode;
import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** A completion queue. */
public final class SoftCompletionQueue implements ExtendedCompletionQueue, CompletionRing.Listener {
    private final SoftContextServices context;
    private final EngineDriver driver;
    private final CompletionRing ring;
    private final @Nullable CompletionChannel channel;
    private final @Nullable Object userContext;
    private final Set<CompletionField> fields;
    private final List<EngineQueuePair> queuePairs = new ArrayList<>();
    private final AsyncEventSource events;
    private final @Nullable CompletionEvents announcements;
    private final CompletionWaiters waiters;
    private boolean isOverrunReported;
    /** An event was asked for, and no poll has found nothing since. Threads share it without any order: it need not be exact. */
    private boolean isArmed;
    /** A completion was taken since a poll last left the engine alone to wait. Shared likewise. */
    private boolean hasTaken;
    private final HandlerPolling handlerPolling = new HandlerPolling();
    private volatile boolean isClosed;
    /** How many queue pairs have ever reported here. Changed by the engine's owner. */
    private volatile int attached;

    /** For the engine's owner. */
    SoftCompletionQueue(SoftContextServices context, CompletionQueueInitAttributes wanted)
            throws RdmaException {
        this.context = context;
        channel = wanted.channel();
        userContext = wanted.userContext();
        fields = wanted.fields();
        driver = context.nic().driver();
        events = context.newSource(this);
        boolean isTimed = fields.contains(CompletionField.COMPLETION_TIMESTAMP)
                || fields.contains(CompletionField.COMPLETION_WALLCLOCK);
        ring = Limits.allocate("create completion queue",
                () -> new CompletionRing(wanted.capacity(), this, driver.engine()::timeNs,
                        isTimed ? context.nic() : null, wanted.ignoreOverrun()));
        ring.growWith(context.nic().objects().grownRings());
        waiters = new CompletionWaiters(ring::armForWaiters);
        announcements = channel == null
                ? null
                : CompletionEvents.attach(channel, this, events.ofObject(), driver.progress());
        waiters.addDriver(driver.progress());
    }

    @Override
    public @Nullable QueuePair queuePair(WorkCompletion completion) throws RdmaException {
        checkOpen();
        return ExtendedCompletionQueue.super.queuePair(completion);
    }

    @Override
    public DeviceContext context() {
        return context.context();
    }

    SoftContextServices owner() {
        return context;
    }

    CompletionRing ring() {
        return ring;
    }

    /** {@return whether no more than one queue pair has ever reported here} For any thread. */
    boolean isOfOneQueuePair() {
        return attached <= 1;
    }

    CompletionWaiters waiters() {
        return waiters;
    }

    @Override
    public int capacity() {
        return ring.capacity();
    }

    @Override
    public Set<CompletionField> fields() {
        return fields;
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
        if (count > 0) {
            noteTaken(completions, count);
            driver.noteWork();
            return count;
        }
        if (completions.length == 0) {
            driver.noteWork();
            return 0;
        }
        runEngine();
        count = ring.take(completions);
        if (count == 0) {
            checkOpen();
            onNothingFound();
        } else {
            noteTaken(completions, count);
        }
        return count;
    }

    @Override
    public boolean poll(WorkCompletion completion) throws RdmaException {
        checkOpen();
        if (ring.take(completion)) {
            noteTaken(completion);
            driver.noteWork();
            return true;
        }
        runEngine();
        if (ring.take(completion)) {
            noteTaken(completion);
            return true;
        }
        checkOpen();
        onNothingFound();
        return false;
    }

    private void noteTaken(WorkCompletion[] completions, int count) {
        for (int i = 0; i < count; i++) {
            noteTaken(completions[i]);
        }
    }

    /** A completion was taken. */
    private void noteTaken(WorkCompletion completion) {
        if (!hasTaken) {
            hasTaken = true;
        }
        WorkCompletionOpcode opcode = completion.opcode();
        boolean isReceive = opcode == WorkCompletionOpcode.RECEIVE
                || opcode == WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE;
        if (isReceive && completion.isSuccess()) {
            driver.noteMessage();
        }
    }

    /**
     * A poll has found nothing: runs the engine. Not if the thread has got a completion, has asked for an event since, and only makes sure before it
     * waits for that: what is to be sent goes with its reply, or is sent by who drives the engine while it waits. After that the next poll runs it.
     */
    private void runEngine() {
        boolean isSkipped = isArmed && hasTaken && driver.holdsSomethingBack();
        if (isArmed) {
            isArmed = false;
        }
        if (isSkipped) {
            hasTaken = false;
        } else {
            driver.poll();
        }
    }

    /** As {@link #poll(WorkCompletion)}, for a thread that is about to wait: it does not run the engine. */
    boolean take(WorkCompletion completion) throws RdmaException {
        checkOpen();
        if (ring.take(completion)) {
            noteTaken(completion);
            return true;
        }
        checkOverrun();
        return false;
    }

    @Override
    public boolean startPoll() throws RdmaException {
        checkOpen();
        if (ring.startBatch()) {
            noteTaken(ring.currentInBatch());
            driver.noteWork();
            return true;
        }
        runEngine();
        if (ring.startBatch()) {
            noteTaken(ring.currentInBatch());
            return true;
        }
        checkOpen();
        onNothingFound();
        return false;
    }

    @Override
    public boolean nextPoll() {
        if (ring.nextInBatch()) {
            noteTaken(ring.currentInBatch());
            return true;
        }
        return false;
    }

    @Override
    public WorkCompletion current() {
        return ring.currentInBatch();
    }

    @Override
    public void endPoll() {
        ring.endBatch();
    }

    private void onNothingFound() throws RdmaException {
        checkOverrun();
        CompletionEvents announcesIn = announcements;
        if (announcesIn != null && announcesIn.isSelectable() && ring.isEventAsked()) {
            // A thread that has requested an event and finds no completion waits for it in a selector.
            driver.progress().waitElsewhere();
        }
    }

    private void checkOverrun() throws RdmaException {
        if (ring.isOverrun()) {
            throw new RdmaException(Errno.EIO, "poll completion queue",
                    "it overran: more work completed than its " + ring.capacity()
                            + " entries can hold; create it with room for all outstanding requests");
        }
    }

    void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("completion queue");
        }
    }

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
        checkOpen();
        if (channel == null) {
            throw new RdmaException(Errno.EINVAL, "request notification",
                    "the completion queue was created without a channel");
        }
        ring.arm(solicitedOnly);
        isArmed = true;
    }

    @Override
    public void onNotify() {
        CompletionEvents announcesIn = announcements;
        if (announcesIn != null) {
            announcesIn.publish();
        }
    }

    @Override
    public void onAwaited() {
        waiters.onCompletion();
    }

    @Override
    public void onModerated(CompletionRing moderated) {
        driver.engine().onModerated(moderated);
    }

    @Override
    public void acknowledgeEvents(int count) {
        CompletionEvents.acknowledge(announcements, count);
    }

    @Override
    public void resize(int capacity) throws RdmaException {
        String operation = "resize completion queue";
        checkOpen();
        Limits.checkRange(operation, "the capacity", capacity, 1, Limits.COMPLETIONS);
        // First the takers' lock, then the engine: its owner never waits for takers.
        if (!ring.lockTakers()) {
            checkOpen();
        }
        try {
            driver.call(nowNs -> {
                checkOpen();
                boolean isResized = Limits.allocate(operation, () -> ring.resize(capacity));
                if (!isResized) {
                    throw new RdmaException(Errno.EINVAL, operation,
                            "it holds more completions than " + capacity + "; poll them first");
                }
                return this;
            });
        } finally {
            ring.unlockTakers();
        }
    }

    @Override
    public void moderate(int count, Duration period) throws RdmaException {
        String operation = "moderate completion queue";
        checkOpen();
        Limits.checkRange(operation, "the count", count, 0, Limits.MODERATION_COUNT);
        long periodUs = ModerationPeriod.us(period);
        Limits.checkRange(operation, "the period in microseconds", periodUs, 0,
                Limits.MODERATION_US);
        driver.call(nowNs -> {
            checkOpen();
            ring.moderate(count, periodUs * 1_000L);
            return this;
        });
    }

    // ---------------------------------------------------------------- for the engine's owner

    @SuppressWarnings("NonAtomicVolatileUpdate") // by the engine's owner alone
    void attach(EngineQueuePair queuePair) {
        if (!queuePairs.contains(queuePair)) {
            queuePairs.add(queuePair);
            attached++;
        }
    }

    void detach(EngineQueuePair queuePair) {
        queuePairs.remove(queuePair);
    }

    /** A completion was lost: the queue and everything that reports to it have failed. IBTA 11.6.3.3. */
    @Override
    public void onOverrun() {
        if (!isOverrunReported) {
            isOverrunReported = true;
            events.publish(AsyncEventType.CQ_ERROR, 0);
        }
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
            if (!queuePairs.isEmpty()) {
                throw new RdmaException(Errno.EBUSY, "close completion queue",
                        queuePairs.size() + " queue pair(s) still report to it; close them first");
            }
            events.end("close completion queue");
            isClosed = true;
            driver.engine().forget(ring);
            ring.close();
            context.owned().remove(ObjectKind.COMPLETION_QUEUE, this);
            context.children().remove(ObjectKind.COMPLETION_QUEUE);
            context.nic().objects().totals().remove(ObjectKind.COMPLETION_QUEUE);
            if (announcements != null) {
                announcements.detach();
            }
            waiters.removeDriver(driver.progress());
            waiters.onEnd();
            return this;
        });
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
