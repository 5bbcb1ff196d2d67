package io.rdma4j.softnic.engine;

import io.rdma4j.event.ProgressDriver;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
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

    /** How long after a poll another one is expected; the background thread stays away as long. */
    static final long POLLING_NS = 1_000_000;
    /** How long after a thread that posts has run the engine it is expected to go on. */
    private static final long POSTING_NS = 100_000;
    /** When a round is due that has more to do. */
    static final long AT_ONCE = Long.MIN_VALUE;
    /** After so long without a packet the peer may be waiting for this very processor. */
    private static final long PATIENCE_NS = 3_000;
    /** How long a poller sleeps at most where others work on its processor; to give way takes longer. */
    private static final long NAP_NS = 1_000_000;
    /** How long the thread that sleeps looks after timers by itself after traffic, so that none has to wake it. */
    private static final long RECENT_NS = 1_000_000_000;
    private static final long RECENT_SLEEP_NS = 5_000_000;
    /** How long owners may do nothing but send; then the next receives as well. */
    private static final long LONGEST_DEAFNESS_NS = 200_000;
    private static final int MAX_INLINE_ROUNDS = 4;

    private final Engine engine;
    private final LongSupplier clock;
    private final Runnable onFatal;
    /** Fair, or under steady traffic the background thread would never let a waiting task in. */
    private final ReentrantLock owner = new ReentrantLock(true);
    private final AtomicReference<@Nullable EngineQueuePair> rung = new AtomicReference<>();
    private final @Nullable BackgroundThread background;
    private volatile int waitingTasks;
    /** For the owner. */
    private long lastRoundNs;
    /** For the owner: what is to be sent waits for the next look, or answer, of the application. */
    private boolean isHeldBack;
    private final EngineWaiters waiters;
    private volatile long lastPollNs;
    /** Written before the time. */
    private long lastPollerId;
    private volatile long lastPostNs;
    /** When a poll found something last, or gave way. Pollers share it without any order: it need not be exact. */
    private long lastFoundNs;
    /** Of the pollers. Shared like the time before. */
    private final Crowding crowding;
    private volatile long lastTrafficNs;
    private volatile long asleepUntilNs = Long.MIN_VALUE;
    private volatile boolean isEnded;

    /**
     * @param clock nanoseconds that never go back
     * @param name of the background thread; null for none, then a thread has to poll
     * @param onFatal called by the background thread when it cannot go on
     */
    public EngineDriver(Engine engine, LongSupplier clock, @Nullable String name,
            Runnable onFatal) {
        this.engine = engine;
        this.clock = clock;
        this.onFatal = onFatal;
        long nowNs = clock.getAsLong();
        lastPollNs = nowNs - POLLING_NS;
        lastPostNs = nowNs - POSTING_NS;
        lastTrafficNs = nowNs;
        lastRoundNs = nowNs;
        lastFoundNs = nowNs;
        crowding = new Crowding(clock);
        waiters = new EngineWaiters(this, clock);
        background = name == null ? null : new BackgroundThread(this, waiters, name, clock);
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

    /** {@return where threads that wait for events may drive the engine} */
    public ProgressDriver progress() {
        return waiters;
    }

    /** {@return the engine, for what needs no owner} */
    public Engine engine() {
        return engine;
    }

    /** Does something as the owner, waiting for one's turn; the owner itself does it at once. */
    public <T> T call(Task<T> task) throws RdmaException {
        if (owner.isHeldByCurrentThread()) {
            return task.run(engine.timeNs());
        }
        enter();
        try {
            long nowNs = clock.getAsLong();
            begin(nowNs);
            T result = task.run(nowNs);
            work(nowNs);
            return result;
        } finally {
            leave();
        }
    }

    /** As {@link #call} for what cannot be refused. */
    public void run(LongConsumer task) {
        if (owner.isHeldByCurrentThread()) {
            task.accept(engine.timeNs());
            return;
        }
        enter();
        try {
            long nowNs = clock.getAsLong();
            begin(nowNs);
            task.accept(nowNs);
            work(nowNs);
        } finally {
            leave();
        }
    }

    /** Has the engine's ports looked at anew, for there are others now: the thread that becomes the owner does so. */
    public void lookAgain() {
        run(nowNs -> {});
    }

    /** Before anything changes: who closes a queue pair after the last message owes the peer its acknowledgement. */
    private void begin(long nowNs) {
        if (isHeldBack) {
            transmit(nowNs);
            engine.restoreOwner();
        } else {
            engine.setTime(nowNs);
        }
    }

    /**
     * Sends; and receives as well if nobody has for a while. Threads that post or change things may keep the
     * pollers and the background thread out for long, and sockets would overflow meanwhile.
     */
    private void work(long nowNs) {
        if (nowNs - lastRoundNs > LONGEST_DEAFNESS_NS) {
            round(nowNs);
        } else {
            transmit(nowNs);
        }
    }

    private boolean round(long nowNs) {
        boolean moreToReceive = receive(nowNs, false);
        boolean moreToSend = transmit(nowNs);
        return moreToReceive || moreToSend;
    }

    private boolean receive(long nowNs, boolean isOften) {
        lastRoundNs = nowNs;
        return engine.receive(nowNs, isOften);
    }

    private boolean transmit(long nowNs) {
        isHeldBack = false;
        return engine.transmit(nowNs);
    }

    /**
     * {@return whether to send nothing now, though there may be acknowledgements} The application has been given a
     * message: its answer, or its next look, takes them along, and it need not wait for them to be sent.
     */
    private boolean holdsBack() {
        isHeldBack = engine.hasDelivered() && !isHeldBack;
        return isHeldBack;
    }

    private void letGo() {
        engine.restoreOwner();
        owner.unlock();
    }

    private void enter() {
        if (!owner.tryLock()) {
            // Pollers step back while a thread waits, or they would always win the race.
            synchronized (owner) {
                waitingTasks++;
            }
            owner.lock();
            synchronized (owner) {
                waitingTasks--;
            }
        }
    }

    private void leave() {
        long nowNs = clock.getAsLong();
        lastTrafficNs = nowNs;
        letGo();
        serveDoorbells();
        wakeIfDueEarlier(nowNs);
    }

    /** Requests were posted: runs the engine if no thread does. */
    public void ring(EngineQueuePair queuePair, int doorbell) {
        if (queuePair.ring(doorbell)) {
            EngineQueuePair head;
            do {
                head = rung.get();
                queuePair.nextRung = head;
            } while (!rung.compareAndSet(head, queuePair));
        }
        serveDoorbells();
        wakeIfDueEarlier(lastTrafficNs);
    }

    /** A thread polls: runs one round if no other thread does. */
    public void poll() {
        if (waitingTasks > 0 || !owner.tryLock()) {
            long nowNs = clock.getAsLong();
            notePoll(nowNs);
            Thread.onSpinWait();
            giveWay(true, nowNs, AT_ONCE);
            return;
        }
        long nowNs;
        long dueNs = AT_ONCE;
        boolean isVain;
        boolean leavesWork;
        try {
            nowNs = clock.getAsLong();
            notePoll(nowNs);
            boolean hasDoorbells = takeDoorbells(nowNs);
            boolean more = receive(nowNs, true);
            if (hasDoorbells || !holdsBack()) {
                more |= transmit(nowNs);
            }
            isVain = !engine.hasReceived();
            leavesWork = isHeldBack;
            if (isVain && !more && !leavesWork && crowding.isCrowded(nowNs)) {
                dueNs = engine.deadlineNs();
            }
            // Seen by a background thread that is just about to sleep by what it knew before.
            lastTrafficNs = nowNs;
        } finally {
            letGo();
        }
        serveDoorbells();
        if (leavesWork && asleepUntilNs > nowNs + POLLING_NS) {
            // The background thread is to look whether this thread comes back.
            wake();
        } else {
            wakeIfDueEarlier(nowNs);
        }
        giveWay(isVain, nowNs, dueNs);
    }

    private void notePoll(long nowNs) {
        lastPollerId = Thread.currentThread().threadId();
        lastPollNs = nowNs;
    }

    /**
     * Lets others use the processor if what is awaited is late.
     *
     * @param dueNs when the next round is due, {@link #AT_ONCE} if that is not known or there is more to do
     */
    private void giveWay(boolean isVain, long nowNs, long dueNs) {
        if (!isVain) {
            lastFoundNs = nowNs;
            return;
        }
        if (nowNs - lastFoundNs <= PATIENCE_NS) {
            return;
        }
        // Not at each poll: where nobody else wants the processor, to ask costs more than to poll.
        lastFoundNs = nowNs;
        if (dueNs > nowNs && !Thread.currentThread().isVirtual() && waiters.tryTakePlace()) {
            nap(nowNs, Math.min(dueNs, nowNs + NAP_NS));
            return;
        }
        crowding.giveWay(nowNs);
    }

    /** Sleeps until something arrives, but not for long: the application polls. */
    private void nap(long nowNs, long untilNs) {
        try {
            asleepUntilNs = untilNs;
            // Who rang, or waits, before it could see that this thread sleeps is seen here.
            if (!isNeeded()) {
                engine.link().await(untilNs - nowNs);
            }
        } finally {
            asleepUntilNs = Long.MIN_VALUE;
            waiters.leavePlace();
        }
    }

    /** {@return whether a thread runs the engine by polling} */
    boolean isPolled() {
        return clock.getAsLong() - lastPollNs < POLLING_NS;
    }

    /** {@return how long the engine can be left to threads that poll or post; 0 or less for not at all} */
    long attendedForNs() {
        if (rung.get() != null && !owner.isLocked()) {
            // Whoever rang has seen an owner, who has left for its own work.
            return 0;
        }
        long nowNs = clock.getAsLong();
        long postingNs = owner.isLocked() ? POSTING_NS : lastPostNs + POSTING_NS - nowNs;
        return Math.max(lastPollNs + POLLING_NS - nowNs, postingNs);
    }

    /**
     * The calling thread waits now, so if it was the one that polled, nobody does. Nor is it known that anybody posts: if
     * another thread does, its next request says so.
     */
    void stopAttending() {
        long nowNs = clock.getAsLong();
        lastPostNs = nowNs - POSTING_NS;
        if (lastPollerId == Thread.currentThread().threadId()) {
            lastPollNs = nowNs - POLLING_NS;
        }
    }

    /** Looks at the doorbells until none rings, or somebody else has become the owner. */
    private void serveDoorbells() {
        for (int round = 0; rung.get() != null; round++) {
            if (round == MAX_INLINE_ROUNDS) {
                // Others keep ringing: the background thread goes on, this one has its own work.
                wake();
                wakeBackground();
                return;
            }
            if (waitingTasks > 0 || !owner.tryLock()) {
                return;
            }
            try {
                long nowNs = clock.getAsLong();
                lastTrafficNs = nowNs;
                takeDoorbells(nowNs);
                work(nowNs);
                lastPostNs = nowNs;
            } finally {
                letGo();
            }
        }
    }

    private boolean takeDoorbells(long nowNs) {
        EngineQueuePair first = rung.getAndSet(null);
        EngineQueuePair queuePair = first;
        while (queuePair != null) {
            EngineQueuePair next = queuePair.nextRung;
            queuePair.nextRung = null;
            engine.onDoorbells(queuePair, nowNs);
            queuePair = next;
        }
        return first != null;
    }

    // ---------------------------------------------------------------- in the background, and waiting

    /** {@return whether the engine is to be run, and by other threads than those that post and poll} */
    boolean isServed() {
        return background != null && !isEnded;
    }

    /** The engine cannot go on. */
    void fail(Throwable fatal) {
        LOG.log(System.Logger.Level.ERROR, "the device has failed and serves nobody any more",
                fatal);
        isEnded = true;
        wakeBackground();
        onFatal.run();
    }

    /**
     * Runs a round as soon as it can.
     *
     * @param waiter whose thread this is, null for the background thread
     * @param spin is told whether anything has come
     * @return when the next is due, or {@link #AT_ONCE}
     */
    long serve(ProgressDriver.@Nullable Waiter waiter, AdaptiveSpin spin) {
        owner.lock();
        try {
            long nowNs = clock.getAsLong();
            boolean hasDoorbells = takeDoorbells(nowNs);
            boolean more = receive(nowNs, false);
            if (hasDoorbells || waiter == null || !waiter.isDone() || !holdsBack()) {
                more |= transmit(nowNs);
            }
            spin.onRound(engine.hasReceived(), nowNs);
            return more ? AT_ONCE : engine.deadlineNs();
        } finally {
            letGo();
        }
    }

    /**
     * Sleeps in the network, for who has the place there, unless there is something to do.
     *
     * @param wantedNs when a round is due, as far as is known
     * @param spin is told if it has slept
     */
    void sleep(long wantedNs, AdaptiveSpin spin) {
        // Announced first: the thread that runs the engine from now on wakes us, and whoever did before
        // is seen by the time of its traffic.
        asleepUntilNs = wantedNs;
        long nowNs = clock.getAsLong();
        boolean isRecent = nowNs - lastTrafficNs < RECENT_NS;
        long wakeNs = isRecent ? Math.min(wantedNs, nowNs + RECENT_SLEEP_NS) : wantedNs;
        asleepUntilNs = wakeNs;
        // A thread that polls may have held something back, and sees from now on that it has to wake.
        if (!isNeeded() && !waiters.isWanted() && !isPolled()) {
            engine.link().await(wakeNs == Long.MAX_VALUE ? wakeNs : wakeNs - nowNs);
            spin.onWoken(clock.getAsLong());
        }
        asleepUntilNs = Long.MIN_VALUE;
    }

    /** {@return whether somebody wants something of the engine at once} */
    private boolean isNeeded() {
        return isEnded || rung.get() != null || waitingTasks > 0;
    }

    /** The engine was run by a thread that does not look after its timers. */
    void noteTraffic(long nowNs) {
        lastTrafficNs = nowNs;
        wakeIfDueEarlier(nowNs);
    }

    /** A thread that sleeps does so by what it knew; a deadline may have come nearer since. */
    private void wakeIfDueEarlier(long nowNs) {
        if (background != null && asleepUntilNs > nowNs + 2 * RECENT_SLEEP_NS) {
            wake();
        }
    }

    /** Wakes the thread that sleeps in the network. */
    void wake() {
        if (background != null) {
            engine.link().wake();
        }
    }

    /** Wakes the background thread where it stays away. */
    void wakeBackground() {
        if (background != null) {
            background.unpark();
        }
    }

    /**
     * A waiter has left.
     *
     * @param hasMoreToDo what nobody may do for a while
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
