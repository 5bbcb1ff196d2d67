// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.event.ProgressDriver;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.nio.channels.Selector;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;

/**
 * Decides which thread runs the engine, and when.
 *
 * <ul>
 * <li>A thread that posts or polls runs it itself if no other thread does. One that posts also receives, but only if no
 * thread has received for a while.
 * <li>A thread that changes something waits until it owns the engine and runs it afterwards.
 * <li>A thread that waits for an event runs it meanwhile and sleeps in the network ({@link EngineWaiters}).
 * <li>A background thread runs it at all other times.
 * </ul>
 *
 * <p>No work is forgotten: a thread that rings a doorbell while another thread owns the engine leaves the work to that
 * thread, which checks the doorbells again after it has released the engine.
 */
public final class EngineDriver {
    private static final System.Logger LOG = System.getLogger(EngineDriver.class.getName());

    /** Something to do as the owner. */
    @FunctionalInterface
    public interface Task<T> {
        /** Does it. */
        T run(long nowNs) throws RdmaException;
    }

    /** How long after a post another one is expected. */
    private static final long POSTING_NS = 100_000;
    /** When a round is due that has more to do. */
    static final long AT_ONCE = Long.MIN_VALUE;
    /** The longest sleep of a poller while other threads work on its processor; yielding would take longer. */
    private static final long NAP_NS = 1_000_000;
    /**
     * How long after traffic the sleeping thread wakes for timers by itself, so that no other thread has to wake it: ever more
     * rarely.
     */
    private static final long RECENT_NS = 1_000_000_000;
    private static final long RECENT_SLEEP_NS = 5_000_000;
    /** How long, and how often at least, owners may only send; the next owner then receives as well. */
    private static final long LONGEST_DEAFNESS_NS = 200_000;
    private static final int SENDS = 8;
    private static final int MAX_INLINE_ROUNDS = 4;
    /** How many posts share one reading of the clock, at most. */
    static final int POSTS_AT_A_TIME = 8;

    private final Engine engine;
    private final LongSupplier clock;
    private final Runnable onFatal;
    private final EngineLock owner = new EngineLock(this::serveDoorbells);
    private final AtomicReference<@Nullable EngineQueuePair> rung = new AtomicReference<>();
    private final @Nullable BackgroundThread background;
    /** For the owner: a tick of the system since which the clock was read for a post, and the posts since that did without. */
    private long timeTick = EngineQueuePair.NO_TICK;
    private int postsAtThatTime;
    /** For the owner. */
    private long lastRoundNs;
    /** For the owner: how often one has only sent since. */
    private int sendsSinceRound;
    /** For the owner: packets to send wait for the application's next poll or post. */
    private boolean isHeldBack;
    /** Who has held them back waits elsewhere, and may not come back. */
    private volatile boolean isLeftHeldBack;
    /** For the owner. */
    private final GatheredAnswers answers = new GatheredAnswers();
    private final EngineWaiters waiters;
    private final PollPace pace;
    private volatile long lastPostNs;
    /** Of all threads that poll, which share it without any order: it need not be exact. */
    private final ProcessorContention contention;
    private volatile long lastTrafficNs;
    private volatile long asleepUntilNs = Long.MIN_VALUE;
    private volatile boolean isEnded;
    private final AtomicBoolean hasFailed = new AtomicBoolean();
    /** A round has failed; the background thread tries one, even if threads poll or wait. */
    private volatile boolean isInDoubt;

    /**
     * @param clock monotonic time in nanoseconds
     * @param name the name of the background thread; null for none, then a thread has to poll
     * @param onFatal called once, by the background thread or one that waits, when the engine cannot go on
     */
    public EngineDriver(Engine engine, LongSupplier clock, @Nullable String name,
            Runnable onFatal) {
        this.engine = engine;
        this.clock = clock;
        this.onFatal = onFatal;
        long nowNs = clock.getAsLong();
        pace = new PollPace(nowNs);
        lastPostNs = nowNs - POSTING_NS;
        lastTrafficNs = nowNs;
        lastRoundNs = nowNs;
        contention = new ProcessorContention(clock);
        waiters = new EngineWaiters(this, clock, contention);
        background = name == null ? null
                : new BackgroundThread(this, waiters, name, clock, contention);
    }

    /** Starts the background thread, if there is one. */
    public void start() {
        if (background != null) {
            background.start();
        }
    }

    /** {@return the time} */
    public long nowNs() {
        return clock.getAsLong();
    }

    /** {@return the means by which threads that wait for events drive the engine} */
    public ProgressDriver progress() {
        return waiters;
    }

    /** {@return the engine, for calls that any thread may make} */
    public Engine engine() {
        return engine;
    }

    /** Runs a task as the owner: waits until the engine is free, or runs it at once if the caller is the owner. */
    public <T> T call(Task<T> task) throws RdmaException {
        if (owner.lock.isHeldByCurrentThread()) {
            return task.run(engine.timeNs());
        }
        owner.enter();
        try {
            long nowNs = clock.getAsLong();
            begin(nowNs);
            T result = task.run(nowNs);
            workForOthers(nowNs);
            return result;
        } finally {
            leave();
        }
    }

    /** As {@link #call}, for tasks that cannot fail. */
    public void run(LongConsumer task) {
        if (owner.lock.isHeldByCurrentThread()) {
            task.accept(engine.timeNs());
            return;
        }
        owner.enter();
        try {
            long nowNs = clock.getAsLong();
            begin(nowNs);
            task.accept(nowNs);
            workForOthers(nowNs);
        } finally {
            leave();
        }
    }

    /** Has the engine check its ports again, because there are others now: the thread that becomes the owner does so. */
    public void lookAgain() {
        run(nowNs -> {});
    }

    /**
     * Runs before a task changes anything: before a queue pair is closed after its last message, the acknowledgement must
     * be sent.
     */
    private void begin(long nowNs) {
        engine.setTime(nowNs);
        if (isHeldBack && !hasFailed.get()) {
            try {
                transmit(nowNs);
            } catch (RuntimeException | Error failure) {
                if (!isLeftToBackground(failure)) {
                    throw failure;
                }
            }
            engine.restoreOwner();
        }
    }

    /** As {@link #work}, which is not the caller's own. If it fails, the caller goes on: what it came for is done. */
    private void workForOthers(long nowNs) {
        try {
            work(nowNs);
        } catch (RuntimeException | Error failure) {
            if (!isLeftToBackground(failure)) {
                throw failure;
            }
        }
    }

    /**
     * A round has failed, which is not the business of the thread that ran it. The background thread runs another; if that fails as
     * well, the device has failed ({@link #fail}).
     *
     * @return false without a background thread
     */
    boolean isLeftToBackground(Throwable failure) {
        if (background == null) {
            return false;
        }
        EngineLog.log(LOG, System.Logger.Level.DEBUG, () -> "a round of the engine failed",
                failure);
        isInDoubt = true;
        wake();
        wakeBackground();
        return true;
    }

    /**
     * Sends, and also receives if no thread has for a while: threads that post or run tasks can keep the pollers and the
     * background thread out for long, and sockets would overflow meanwhile. Not if it is for a few requests, as of a program
     * that sends one and waits: it looks by itself, and the background thread does if it does not.
     */
    private void work(long nowNs) {
        if (hasFailed.get()) {
            return;
        }
        sendsSinceRound++;
        if (sendsSinceRound > SENDS && nowNs - lastRoundNs > LONGEST_DEAFNESS_NS) {
            // What arrives is timed, and the time may be that of an earlier post.
            round(clock.getAsLong());
        } else {
            transmit(nowNs);
        }
    }

    /** As {@link #receive}, for a thread of the application. */
    private boolean receiveForCaller(long nowNs, boolean isOften) {
        boolean more = receive(nowNs, isOften);
        answers.onRound(engine.delivered(), nowNs);
        return more;
    }

    private boolean round(long nowNs) {
        boolean moreToReceive = receive(nowNs, false);
        boolean moreToSend = transmit(nowNs);
        return moreToReceive || moreToSend;
    }

    private boolean receive(long nowNs, boolean isOften) {
        if (answers.isGathering()) {
            // First: who looks has answered what it wants to, and no timer expires for what has not left.
            transmit(nowNs);
        }
        lastRoundNs = nowNs;
        sendsSinceRound = 0;
        return engine.receive(nowNs, isOften);
    }

    private boolean transmit(long nowNs) {
        isHeldBack = false;
        if (isLeftHeldBack) {
            isLeftHeldBack = false;
        }
        return engine.transmit(nowNs, answers.onTransmit());
    }

    /**
     * {@return whether to send nothing now, though acknowledgements may be due} The application has just got a message:
     * its response or its next poll sends them, so it need not wait for them now.
     */
    private boolean holdsBack() {
        isHeldBack = engine.hasDelivered() && !isHeldBack;
        return isHeldBack;
    }

    /** {@return whether packets wait for the next poll or post of the application} For any thread, to which it may be out of date. */
    public boolean holdsSomethingBack() {
        return isHeldBack;
    }

    private void letGo() {
        engine.restoreOwner();
        owner.lock.unlock();
    }

    private void leave() {
        long nowNs = clock.getAsLong();
        lastTrafficNs = nowNs;
        letGo();
        serveDoorbells();
        wakeIfDueEarlier(nowNs);
    }

    /** A thread that polls has work of its own, and does not only look for packets: it does not give way soon. */
    public void noteWork() {
        pace.onWork();
    }

    /** As {@link #ring}, for several send requests that were posted as one: they wait for no others. */
    public void ringForList(EngineQueuePair queuePair) {
        answers.onList();
        ring(queuePair, EngineQueuePair.SEND_DOORBELL);
    }

    /** The calling thread has taken the completion of a receive. */
    public void noteMessage() {
        answers.onTaken();
    }

    /** Requests were posted: runs the engine if no thread does. */
    public void ring(EngineQueuePair queuePair, int doorbell) {
        noteWork();
        boolean leavesWork = false;
        if (owner.waiting.get() == 0 && owner.lock.tryLock()) {
            leavesWork = serveAndRelease(queuePair, doorbell);
        } else {
            if (doorbell == EngineQueuePair.SEND_DOORBELL) {
                answers.onAnswered();
            }
            if (queuePair.ring(doorbell)) {
                push(queuePair);
            }
        }
        serveDoorbells();
        wakeFor(leavesWork, lastTrafficNs);
    }

    /**
     * Serves the doorbells that ring, and releases the engine. For its owner.
     *
     * @param queuePair for which the caller would ring a doorbell, too, null for none
     * @return whether what was posted is the first that waits for further requests
     */
    private boolean serveAndRelease(@Nullable EngineQueuePair queuePair, int doorbell) {
        boolean isServed = false;
        boolean isFirstHeldBack = false;
        try {
            boolean sharesTime = queuePair != null && mayShareTime(queuePair);
            long nowNs = sharesTime ? engine.timeNs() : clock.getAsLong();
            // Another one than before, even if the time is the same: who goes to sleep sees by it that something was done.
            lastTrafficNs = Math.max(nowNs, lastTrafficNs + 1);
            boolean hasDoorbells = !sharesTime && takeDoorbells(nowNs);
            if (queuePair != null) {
                engine.onPosted(queuePair, doorbell, nowNs);
            }
            isServed = true;
            boolean wasGathering = answers.isGathering();
            // What shares a time leaves through memory, and with no others.
            boolean isAnswer = queuePair != null && doorbell == EngineQueuePair.SEND_DOORBELL
                    && isGathered(sharesTime ? null : queuePair, nowNs);
            if (isAnswer && !hasDoorbells) {
                isHeldBack = true;
                isFirstHeldBack = !wasGathering;
            } else {
                work(nowNs);
            }
            if (queuePair != null) {
                engine.settlePosted(queuePair);
            }
            lastPostNs = nowNs;
        } catch (RuntimeException | Error failure) {
            if (!isServed && queuePair != null && queuePair.ring(doorbell)) {
                push(queuePair);
            }
            // The requests are posted all the same.
            if (!isLeftToBackground(failure)) {
                throw failure;
            }
        } finally {
            letGo();
        }
        return isFirstHeldBack;
    }

    /**
     * {@return whether the time of the last round, task or post will do for what was posted to a queue pair} To read the clock takes as long as to write a
     * short message into memory. So where no round trip is timed it is not read for each post: for a few in a row, and within a tick of the system. For
     * others that have something to send, it is.
     */
    private boolean mayShareTime(EngineQueuePair queuePair) {
        if (postsAtThatTime < POSTS_AT_A_TIME && rung.get() == null && engine.isAlone(queuePair)) {
            long tick = queuePair.tick();
            if (tick == timeTick && tick != EngineQueuePair.NO_TICK) {
                postsAtThatTime++;
                return true;
            }
            // Before the clock is read: what it says is no older than the tick.
            timeTick = tick;
        }
        postsAtThatTime = 0;
        return false;
    }

    /**
     * {@return whether what was posted waits for the next request of the thread}
     *
     * @param queuePair null for one whose packets leave alone in any case
     */
    private boolean isGathered(@Nullable EngineQueuePair queuePair, long nowNs) {
        if (!answers.isExpecting()) {
            return false;
        }
        long to = queuePair == null ? EngineQueuePair.ALONE : queuePair.together();
        return answers.takes(to, nowNs)
                && owner.waiting.get() == 0 && !hasFailed.get();
    }

    private void push(EngineQueuePair queuePair) {
        EngineQueuePair head;
        do {
            head = rung.get();
            queuePair.nextRung = head;
        } while (!rung.compareAndSet(head, queuePair));
    }

    /**
     * A thread polls: runs one round if no other thread does, and yields the processor if nothing has arrived for a while. One
     * long method on purpose, which compilers do not inline: whoever polls calls the same code (ADR 56).
     */
    public void poll() {
        // A look at memory is all that most polls need if nothing has come: ADR 78.
        if (pace.mayGlance() && rung.get() == null && !engine.mayTransmit()
                && engine.link().isQuiet()) {
            pace.onGlance();
            return;
        }
        boolean isOwner = owner.waiting.get() == 0 && owner.lock.tryLock();
        boolean isVain = true;
        boolean leavesWork = false;
        // When the next round is due, as far as it matters.
        long dueNs = AT_ONCE;
        long nowNs = clock.getAsLong();
        if (isOwner) {
            try {
                pace.onPoll(nowNs);
                boolean hasDoorbells = takeDoorbells(nowNs);
                if (hasFailed.get()) {
                    return;
                }
                boolean more = receiveForCaller(nowNs, true);
                if (hasDoorbells || !holdsBack()) {
                    more |= transmit(nowNs);
                }
                isVain = !engine.hasReceived();
                leavesWork = isHeldBack;
                if (isVain && !more && !leavesWork && contention.isContended(nowNs)) {
                    dueNs = engine.deadlineNs();
                }
                // A background thread that is about to sleep by an older state sees this.
                lastTrafficNs = nowNs;
            } catch (RuntimeException | Error failure) {
                if (!isLeftToBackground(failure)) {
                    throw failure;
                }
                return;
            } finally {
                letGo();
            }
            serveDoorbells();
            wakeFor(leavesWork, nowNs);
        } else {
            pace.onPoll(nowNs);
            Thread.onSpinWait();
        }
        if (!isVain) {
            pace.onFound(nowNs);
            return;
        }
        boolean givesWay = pace.onNothing(nowNs);
        if (pace.marksEnd()) {
            pace.onEnd(clock.getAsLong());
        }
        if (!givesWay) {
            return;
        }
        if (dueNs > nowNs && !Thread.currentThread().isVirtual() && waiters.tryTakePlace()) {
            nap(nowNs, Math.min(dueNs, nowNs + NAP_NS));
            pace.onEnd(clock.getAsLong());
        } else {
            pace.onEnd(contention.yieldProcessor(nowNs));
        }
    }

    /** Sleeps until something arrives, but only briefly, because the application polls. */
    private void nap(long nowNs, long untilNs) {
        try {
            asleepUntilNs = untilNs;
            // Sees the threads that rang or waited before they could see that this thread sleeps.
            if (!isNeeded()) {
                engine.link().await(untilNs - nowNs);
            }
        } finally {
            asleepUntilNs = Long.MIN_VALUE;
            waiters.leavePlace();
        }
    }

    /** {@return whether a thread runs the engine by polling} */
    boolean isPolled(long nowNs) {
        return pace.expectedForNs(nowNs) > 0;
    }

    /** {@return how long the engine can be left to threads that poll or post; 0 or less for not at all} */
    long attendedForNs() {
        if (rung.get() != null && !owner.lock.isLocked()) {
            // The thread that rang saw an owner, which has left since for its own work.
            return 0;
        }
        if (isInDoubt) {
            return 0;
        }
        long nowNs = clock.getAsLong();
        long postingNs = owner.lock.isLocked() ? POSTING_NS : lastPostNs + POSTING_NS - nowNs;
        return Math.max(pace.expectedForNs(nowNs), postingNs);
    }

    /**
     * Forgets which threads poll and post, because the calling thread now waits: it may have been the one. Another thread
     * that posts is noticed at its next request.
     */
    void stopAttending() {
        long nowNs = clock.getAsLong();
        if (isHeldBack) {
            isLeftHeldBack = true;
            if (answers.isGathering() && asleepUntilNs > nowNs) {
                // Who sleeps already does not see that. Acknowledgements may wait until it wakes.
                wake();
            }
        }
        lastPostNs = nowNs - POSTING_NS;
        pace.onWait(nowNs);
    }

    /** Serves the doorbells until none rings, or another thread has become the owner. */
    private void serveDoorbells() {
        for (int round = 0; rung.get() != null; round++) {
            if (round == MAX_INLINE_ROUNDS) {
                // Other threads keep ringing: the background thread continues, and this thread returns to its own work.
                wake();
                wakeBackground();
                return;
            }
            if (owner.waiting.get() > 0 || !owner.lock.tryLock()) {
                return;
            }
            serveAndRelease(null, 0);
        }
    }

    private boolean takeDoorbells(long nowNs) {
        if (rung.get() == null) {
            return false;
        }
        EngineQueuePair first = rung.getAndSet(null);
        EngineQueuePair unserved = first;
        EngineQueuePair serving = null;
        try {
            while (unserved != null) {
                serving = unserved;
                unserved = serving.nextRung;
                serving.nextRung = null;
                engine.onDoorbells(serving, nowNs);
                serving = null;
            }
        } finally {
            if (serving != null) {
                ringAgain(serving, unserved);
            }
        }
        return first != null;
    }

    /** An error has kept queue pairs from being served: their doorbells ring again. */
    private void ringAgain(EngineQueuePair failed, @Nullable EngineQueuePair others) {
        EngineQueuePair unserved = others;
        while (unserved != null) {
            EngineQueuePair next = unserved.nextRung;
            push(unserved);
            unserved = next;
        }
        boolean isFirst = failed.ring(EngineQueuePair.SEND_DOORBELL);
        isFirst |= failed.ring(EngineQueuePair.RECEIVE_DOORBELL);
        if (isFirst) {
            push(failed);
        }
    }

    // ---------------------------------------------------------------- in the background, and waiting

    /** {@return whether the engine runs, and in other threads than those that post and poll} */
    boolean isServed() {
        return background != null && !isEnded;
    }

    /** {@return whether the engine could not go on: it runs no round any more, only tasks} */
    public boolean hasFailed() {
        return hasFailed.get();
    }

    /** {@return whether a round has failed and none has succeeded since} */
    boolean isInDoubt() {
        return isInDoubt;
    }

    /**
     * The engine cannot go on. It runs no more rounds, which would fail in the same way: those who report the failure, and
     * those who close what they have, are served nevertheless.
     */
    void fail(Throwable fatal) {
        if (!hasFailed.compareAndSet(false, true)) {
            return;
        }
        isEnded = true;
        try {
            EngineLog.log(LOG, System.Logger.Level.ERROR,
                    () -> "the device has failed and serves nobody any more", fatal);
            wakeBackground();
            wake();
        } finally {
            onFatal.run();
        }
    }

    /**
     * Runs a round as soon as it can.
     *
     * @param waiter the waiter of this thread, null for the background thread
     * @param spin is notified whether anything has arrived
     * @return when the next is due, or {@link #AT_ONCE}
     */
    long serve(ProgressDriver.@Nullable Waiter waiter, AdaptiveSpin spin) {
        owner.enterBesidePollers();
        try {
            long nowNs = clock.getAsLong();
            boolean hasWorked = waiter != null && engine.deadlineNs() <= nowNs;
            boolean hasDoorbells = takeDoorbells(nowNs);
            boolean more = waiter == null
                    ? receive(nowNs, !spin.isWoken())
                    : receiveForCaller(nowNs, !spin.isWoken());
            hasWorked |= waiter != null && (engine.hasReceived() || engine.mayTransmit());
            if (hasDoorbells || waiter == null || !waiter.isDone() || !holdsBack()) {
                more |= transmit(nowNs);
            }
            isInDoubt = false;
            spin.onRound(engine.hasReceived(), nowNs);
            if (hasWorked) {
                // Another thread will sleep by this state, not by an older one. A waiter that only looked has changed nothing.
                lastTrafficNs = nowNs;
            }
            spin.onServed(lastTrafficNs);
            return more ? AT_ONCE : engine.deadlineNs();
        } finally {
            letGo();
        }
    }

    /**
     * Sleeps in the network unless there is something to do. For the thread that has the place.
     *
     * @param wantedNs when a round is due, as far as known
     * @param spin is notified if the thread has slept
     * @param selector what else ends the sleep, null for nothing
     * @return whether the selector has something
     */
    boolean sleep(long wantedNs, AdaptiveSpin spin, @Nullable Selector selector) {
        // Announced first: a thread that runs the engine from now on wakes this one; one that ran it since this thread's last
        // round is noticed by the time of its traffic, however long ago that is.
        asleepUntilNs = wantedNs;
        long nowNs = clock.getAsLong();
        long wakeNs = Math.min(wantedNs, nextLookNs(spin, nowNs));
        asleepUntilNs = wakeNs;
        // A polling thread may have held packets back; from now on it sees that it has to wake this thread.
        boolean hasSomething = false;
        if (!isNeeded() && !waiters.isWanted() && !isPolled(nowNs)) {
            long forNs = wakeNs == Long.MAX_VALUE ? wakeNs : wakeNs - nowNs;
            if (selector == null) {
                engine.link().await(forNs);
            } else {
                hasSomething = engine.link().await(forNs, selector);
            }
            spin.onWoken(clock.getAsLong());
        }
        asleepUntilNs = Long.MIN_VALUE;
        return hasSomething;
    }

    /** {@return when the sleeping thread wakes at the latest, whatever is due} */
    private long nextLookNs(AdaptiveSpin spin, long nowNs) {
        long trafficNs = lastTrafficNs;
        if (trafficNs != spin.trafficNs()) {
            return nowNs + RECENT_SLEEP_NS;
        }
        long quietNs = nowNs - trafficNs;
        return quietNs < RECENT_NS
                ? nowNs + Math.max(RECENT_SLEEP_NS, quietNs / 2)
                : Long.MAX_VALUE;
    }

    /** As {@link Link#canAwait}. */
    boolean canAwait(Selector selector) {
        return engine.link().canAwait(selector);
    }

    /** {@return whether a selector has something that can be awaited} For the thread that has the place. */
    boolean hasSomething(Selector selector) {
        return engine.link().await(0, selector);
    }

    /** {@return whether the engine has to run at once} */
    private boolean isNeeded() {
        return isEnded || rung.get() != null || owner.waiting.get() > 0 || isLeftHeldBack;
    }

    /** The background thread ran the engine, and another thread sleeps by an older state, or is about to. */
    void noteTraffic(long nowNs) {
        lastTrafficNs = nowNs;
        wakeIfDueEarlier(nowNs);
    }

    /**
     * Wakes the sleeping thread if it would sleep for long: a deadline may have become earlier since it fell asleep.
     */
    void wakeIfDueEarlier(long nowNs) {
        if (background != null && asleepUntilNs > nowNs + 2 * RECENT_SLEEP_NS) {
            wake();
        }
    }

    /** @param leavesWork whether the background thread has to check whether this thread comes back */
    private void wakeFor(boolean leavesWork, long nowNs) {
        if (leavesWork && asleepUntilNs > nowNs + PollPace.POLLING_NS) {
            wake();
        } else {
            wakeIfDueEarlier(nowNs);
        }
    }

    /** Wakes the thread that sleeps in the network. */
    void wake() {
        if (background != null) {
            engine.link().wake();
        }
    }

    /** Wakes the background thread while it leaves the engine to others. */
    void wakeBackground() {
        if (background != null) {
            background.unpark();
        }
    }

    /**
     * A waiter has left.
     *
     * @param hasMoreToDo whether it leaves work that perhaps no thread will do soon
     */
    void onLeft(boolean hasMoreToDo) {
        if (background != null) {
            background.onWaiterLeft(hasMoreToDo);
        }
    }

    /** Ends the background thread and sends waiters away; the engine must not be used any more. */
    public void close() {
        isEnded = true;
        if (background == null) {
            return;
        }
        wake();
        wakeBackground();
        background.join();
        waiters.close();
    }
}
