// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.sockets.udp.UdpWatch;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaInterruptedException;
import io.rdma4j.verbs.WaitChannel;
import io.rdma4j.verbs.WaitSet;
import org.jspecify.annotations.Nullable;

import java.nio.channels.Selector;
import java.time.Duration;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Drives all connections and listeners of the process, so that none depends on what its application does. One thread at a time
 * leads: it waits for completions and for events of the connection manager, of all, and hands them to whom they belong. It also
 * frees what has ended: nothing is freed while one of its events is handled.
 *
 * <p>A platform thread that has to wait in a channel leads meanwhile, if it can: so a message wakes the thread it is for, and no other.
 * A daemon thread leads while somebody sleeps whom nobody else would wake, and while no application thread has led or polled for some
 * time. If threads sleep, it goes on to lead: to hand over each time would cost more than it saves. But if for some time anything has come for
 * one thread alone, that takes over from whoever leads, and leads for those that sleep beside it. A thread that polls sees to its own
 * connection alone, so the daemon thread handles what there is for others now and then, and does not stay.
 */
public final class SocketEngine implements Leadership {
    private static final System.Logger LOG = System.getLogger(SocketEngine.class.getName());
    private static final int BATCH = 64;
    private static final long FOREVER_NS = Long.MAX_VALUE;
    /** How long the daemon thread leaves events to application threads that come and go. */
    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(1);
    /**
     * How long the daemon thread leaves threads that poll alone, after it has handled something: its own look at the device brings a
     * second thread there, which costs them more than the look.
     */
    private static final long OTHERS_NS = TimeUnit.MILLISECONDS.toNanos(20);
    /** How long threads that have slept leave it to lead, and how long a thread has to be the only one that gets anything. */
    private static final long SETTLED_NS = TimeUnit.MILLISECONDS.toNanos(10);
    /** How long one leads until the daemon thread rests for longer than threads settle. */
    private static final long LULL_NS = TimeUnit.MILLISECONDS.toNanos(100);
    /** How long it rests then, unless the leader stops. */
    private static final long LONG_REST_NS = TimeUnit.SECONDS.toNanos(1);
    /** How long it may take to give way. */
    private static final long HAND_OVER_NS = TimeUnit.MICROSECONDS.toNanos(500);
    private static final long HAND_OVER_STEP_NS = TimeUnit.MICROSECONDS.toNanos(10);

    private final WaitSet set = WaitSet.create();
    private final CompletionChannel completions = CompletionChannel.create(set);
    private final CmEventChannel events = CmEventChannel.create(set);
    private final OpenSockets open = new OpenSockets();
    private final LargerBuffers largerBuffers = new LargerBuffers();
    private final UdpWatch introductions = new UdpWatch();
    private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isWoken = new AtomicBoolean();
    private final AtomicLong numbers = new AtomicLong();
    /** Of the leader alone. */
    private final TreeSet<Timer> timers = new TreeSet<>();
    /** When the first of them is due. Written by the leader. */
    private volatile long timerNs = FOREVER_NS;
    private final Thread thread;
    /** Stands for no connection: its events wake the leader. */
    private final CmId waker;

    private final AtomicBoolean isLed = new AtomicBoolean();
    private volatile @Nullable Thread leader;
    /** Application threads that wait and do not lead, and that want to lead instead of another. */
    private final AtomicInteger sleepers = new AtomicInteger();
    private final AtomicInteger wanting = new AtomicInteger();
    /** When an application thread has led or polled, and when one has slept. */
    private volatile long movedNs = System.nanoTime();
    /** When a thread has led that alone gets anything. */
    private volatile long ledAloneNs = movedNs - QUIET_NS;
    private volatile long sleptNs = System.nanoTime();
    /** A thread has left bytes that wait for events, with nobody who leads; and when the daemon thread has seen that. */
    private volatile boolean isWatched;
    private long watchedNs = movedNs - SETTLED_NS;
    /** When the daemon thread has last handled something beside threads that poll. Its own. */
    private long lookedNs = movedNs - OTHERS_NS;
    /** How long the daemon thread rests now, 0 while it does not. */
    private volatile long restNs;
    /** Who alone gets anything, and who alone is woken, be it for a channel of the JDK's. */
    private final LoneThread served = new LoneThread(SETTLED_NS, LULL_NS);
    private final LoneThread woken = new LoneThread(SETTLED_NS, FOREVER_NS);

    /** What is due at a time. */
    static final class Timer implements Comparable<Timer> {
        private final long atNs;
        /** Tells those apart that are due at the same time. */
        private final long number;
        private final Runnable task;
        private volatile boolean isCancelled;

        private Timer(long atNs, long number, Runnable task) {
            this.atNs = atNs;
            this.number = number;
            this.task = task;
        }

        @Override
        public int compareTo(Timer other) {
            int order = Long.signum(atNs - other.atNs);
            return order == 0 ? Long.compare(number, other.number) : order;
        }
    }

    /** What handles completions; the user context of its queue. */
    interface CompletionUser {
        /** Its queue has an event. */
        void onCompletions();
    }

    /** What handles events; the user context of its id. */
    interface EventUser {
        /**
         * Something has happened to its id.
         *
         * @param event acknowledged by the caller
         */
        void onEvent(CmEvent event) throws RdmaException;
    }

    /** Made by the first use, with its thread. */
    private static final class OfProcess {
        static final SocketEngine ENGINE = new SocketEngine();
    }

    private SocketEngine() {
        try {
            waker = CmId.create(events, PortSpace.TCP);
        } catch (RdmaException e) {
            throw new IllegalStateException("a new channel takes ids", e);
        }
        thread = Thread.ofPlatform().daemon().name("rdma4j-sockets").unstarted(this::run);
        thread.start();
    }

    /** {@return the engine of the process} */
    public static SocketEngine ofProcess() {
        return OfProcess.ENGINE;
    }

    /** {@return what it drives} */
    OpenSockets open() {
        return open;
    }

    /** {@return how much memory buffers may grow by} */
    LargerBuffers largerBuffers() {
        return largerBuffers;
    }

    /** {@return what waits for the introductions of datagram endpoints} */
    UdpWatch introductions() {
        return introductions;
    }

    /** {@return where completion queues report, whose user context is a {@link CompletionUser}} */
    CompletionChannel completions() {
        return completions;
    }

    /** {@return a new id whose events go to a user} */
    CmId newId(EventUser user) throws RdmaException {
        return newId(PortSpace.TCP, user);
    }

    /** {@return a new id whose events go to a user} */
    CmId newId(PortSpace space, EventUser user) throws RdmaException {
        CmId id = CmId.create(events, space);
        id.userContext(user);
        return id;
    }

    /** Lets the leader run something, soon. */
    void execute(Runnable task) {
        tasks.add(task);
        if (leader == null) {
            LockSupport.unpark(thread);
        } else {
            wakeLeader();
        }
    }

    /** Lets the leader run something after a time. {@return what {@link #cancel} takes} */
    Timer schedule(Duration delay, Runnable task) {
        Timer timer = new Timer(System.nanoTime() + delay.toNanos(), numbers.getAndIncrement(),
                task);
        execute(() -> add(timer));
        return timer;
    }

    private void add(Timer timer) {
        if (!timer.isCancelled) {
            timers.add(timer);
        }
    }

    /** Forgets what was scheduled, if anything was, unless it has run. It holds what it would have needed no longer. */
    void cancel(@Nullable Timer timer) {
        if (timer != null) {
            timer.isCancelled = true;
            execute(() -> timers.remove(timer));
        }
    }

    /** {@return whether the calling thread is the one that handles what happens} It must not wait for that then. */
    boolean isLedByCaller() {
        return Thread.currentThread().equals(leader);
    }

    /**
     * {@return whether another thread leads} It drives the devices. A thread that polls one keeps it from that, so one that is about to wait
     * does not.
     */
    boolean isLedByAnother() {
        Thread now = leader;
        return now != null && !Thread.currentThread().equals(now);
    }

    @Override
    public void wakeLeader() {
        if (!Thread.currentThread().equals(leader) && isWoken.compareAndSet(false, true)) {
            waker.writeEvent(0, 0);
        }
    }

    // ---------------------------------------------------------------- application threads

    /** The calling thread polls, and handles by itself what it waits for. */
    void moved() {
        if (Thread.currentThread().isVirtual()) {
            return;
        }
        movedNs = System.nanoTime();
        if (thread.equals(leader) && sleepers.get() == 0 && mayTakeOver()) {
            wakeLeader();
        }
    }

    /**
     * {@return whether the calling thread may lead instead of another} Threads that sleep settle with the daemon thread, but not the only one there is. Nor does the only one that
     * gets anything, which takes over from whoever leads, unless it mostly does something else.
     */
    private boolean mayTakeOver() {
        long nowNs = System.nanoTime();
        return served.isCaller(nowNs, QUIET_NS) || (thread.equals(leader) && sleepers.get() == 0
                && (nowNs - sleptNs > SETTLED_NS || woken.isCaller(nowNs)));
    }

    @Override
    public boolean tryLead() {
        return tryLeadAtOnce()
                || (!Thread.currentThread().isVirtual() && mayTakeOver() && takeOver());
    }

    /** As {@link #tryLead}, but it takes nobody's place. */
    boolean tryLeadAtOnce() {
        if (Thread.currentThread().isVirtual() || isGivingWay()
                || !isLed.compareAndSet(false, true)) {
            return false;
        }
        leader = Thread.currentThread();
        return true;
    }

    private boolean takeOver() {
        wanting.incrementAndGet();
        try {
            wakeLeader();
            long startNs = System.nanoTime();
            while (!isLed.compareAndSet(false, true)) {
                long nowNs = System.nanoTime();
                if (nowNs - startNs > HAND_OVER_NS) {
                    if (served.isCaller(nowNs)) {
                        // Not each time that it waits.
                        served.startAgain(nowNs);
                    }
                    return false;
                }
                LockSupport.parkNanos(HAND_OVER_STEP_NS);
            }
            leader = Thread.currentThread();
            return true;
        } finally {
            wanting.decrementAndGet();
        }
    }

    /** {@return whether the leader makes room for a thread that takes over} */
    private boolean isGivingWay() {
        return wanting.get() > 0;
    }

    @Override
    public void lead(BooleanSupplier isDone, long endNs) {
        // Who wakes the leader after it has looked must find it not woken.
        isWoken.set(false);
        while (!isDone.getAsBoolean() && !Thread.currentThread().isInterrupted()
                && !isGivingWay()) {
            long leftNs = endNs == FOREVER_NS ? FOREVER_NS : endNs - System.nanoTime();
            if (leftNs <= 0) {
                return;
            }
            turn(leftNs);
            isWoken.set(false);
        }
    }

    /**
     * As {@link #lead}, but it returns after what came first: it waits for a selector as well, at which the caller has to look then. The time is up
     * early if anything is due.
     */
    void leadOnce(BooleanSupplier isDone, long endNs, Selector selector) {
        isWoken.set(false);
        if (isDone.getAsBoolean() || Thread.currentThread().isInterrupted() || isGivingWay()) {
            return;
        }
        long leftNs = endNs == FOREVER_NS ? FOREVER_NS : endNs - System.nanoTime();
        if (leftNs > 0) {
            turn(leftNs, selector);
        }
    }

    /** Handles what is there, without a wait, unless another thread leads. It runs no device. */
    void lookAtOnce() {
        if (!isWorthLeading() || !tryLeadAtOnce()) {
            return;
        }
        try {
            isWoken.set(false);
            turn(0);
        } finally {
            stopLeading();
        }
    }

    /** {@return whether a leader has something to do} A thread that selects again and again mostly finds nothing. */
    private boolean isWorthLeading() {
        return !tasks.isEmpty() || isDue(timerNs) || hasEvent();
    }

    private static boolean isDue(long atNs) {
        return atNs != FOREVER_NS && atNs - System.nanoTime() <= 0;
    }

    private boolean hasEvent() {
        try {
            return set.poll(Duration.ZERO) != null;
        } catch (RdmaException e) {
            throw new IllegalStateException("the set of the engine stays open", e);
        }
    }

    @Override
    public void stopLeading() {
        long nowNs = System.nanoTime();
        boolean isLone = served.isCaller(nowNs);
        movedNs = nowNs;
        if (isLone) {
            ledAloneNs = nowNs;
        }
        leader = null;
        isLed.set(false);
        boolean areOthersAsleep = sleepers.get() > 0;
        if (!tasks.isEmpty() || (areOthersAsleep && !isLone)) {
            LockSupport.unpark(thread);
        } else {
            endRest(areOthersAsleep ? QUIET_NS : SETTLED_NS);
        }
    }

    /** Something waits for events that the calling thread, which leads no more, may not come back for. If nobody leads, the daemon thread sees to it. */
    void watch() {
        // Who writes again and again finds that said already.
        if (!isWatched && leader == null) {
            isWatched = true;
            endRest(QUIET_NS);
        }
    }

    /** Wakes the daemon thread if it rests for longer than that. */
    private void endRest(long longestNs) {
        if (restNs > longestNs) {
            restNs = 0;
            LockSupport.unpark(thread);
        }
    }

    @Override
    public void onSleep() {
        sleepers.incrementAndGet();
        if (leader == null) {
            LockSupport.unpark(thread);
        }
        // It has perhaps polled a device, which expects it to do so again.
        set.waitElsewhere();
    }

    @Override
    public void onAwake() {
        long nowNs = System.nanoTime();
        woken.note(nowNs);
        sleptNs = nowNs;
        sleepers.decrementAndGet();
    }

    @Override
    public void onServed() {
        served.note(System.nanoTime());
    }

    // ---------------------------------------------------------------- leading

    private void run() {
        while (true) {
            if (mayLead() && isLed.compareAndSet(false, true)) {
                leader = thread;
                try {
                    isWoken.set(false);
                    while (mayLead()) {
                        if (!contain(() -> turn(FOREVER_NS))) {
                            LockSupport.parkNanos(QUIET_NS);
                        }
                        isWoken.set(false);
                    }
                } finally {
                    leader = null;
                    isLed.set(false);
                }
            } else {
                lookForOthers();
                rest();
            }
        }
    }

    private void rest() {
        if (isWatched) {
            isWatched = false;
            watchedNs = System.nanoTime();
        }
        long forNs = restLimit();
        restNs = forNs;
        // Who changes the limit from now on sees that this thread rests.
        if (forNs > 0 && restLimit() >= forNs) {
            LockSupport.parkNanos(this, forNs);
        }
        restNs = 0;
    }

    /**
     * {@return how long the daemon thread may rest; 0 if it has to lead} If a thread leads, that sees to everything; but it may stop and not come back, and to
     * wake this thread each time would cost more than a look now and then.
     */
    private long restLimit() {
        if (!isLed.get()) {
            return mayLead() ? 0 : QUIET_NS;
        }
        long nowNs = System.nanoTime();
        if (isWatched || nowNs - watchedNs < SETTLED_NS) {
            return QUIET_NS;
        }
        if (nowNs - movedNs >= LULL_NS) {
            return LONG_REST_NS;
        }
        return sleepers.get() > 0 ? QUIET_NS : SETTLED_NS;
    }

    /**
     * Handles what there is, while threads poll that look at their own connections alone. It comes back after a rest, however much there was: each event
     * makes a connection ask for the next one, which the thread that polls it does without.
     */
    private void lookForOthers() {
        if (isLed.get() || System.nanoTime() - lookedNs < OTHERS_NS
                || !isWorthLeading() || !tryLeadAtOnce()) {
            return;
        }
        lookedNs = System.nanoTime();
        isWoken.set(false);
        boolean _ = contain(() -> turn(0));
        leader = null;
        isLed.set(false);
    }

    /** {@return whether the daemon thread has to lead} While threads sleep it leaves that to one that alone gets anything, which is mostly back soon. */
    private boolean mayLead() {
        if (isGivingWay()) {
            return false;
        }
        long nowNs = System.nanoTime();
        return !tasks.isEmpty() || nowNs - movedNs > QUIET_NS || (sleepers.get() > 0
                && !(nowNs - ledAloneNs <= QUIET_NS && served.isThere(nowNs)));
    }

    /** Runs what is due, waits for events, and handles them. The mark of being woken was cleared before. */
    private void turn(long limitNs) {
        turn(limitNs, null);
    }

    /** @param selector what else it waits for, null for nothing */
    private void turn(long limitNs, @Nullable Selector selector) {
        runTasks();
        long timeoutNs = Math.min(runTimers(), limitNs);
        if (tasks.isEmpty()) {
            await(timeoutNs == 0 ? Duration.ZERO : Duration.ofNanos(timeoutNs), selector);
        }
    }

    private void runTasks() {
        for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
            boolean _ = contain(task);
        }
    }

    /** {@return how long until the next is due, in nanoseconds} */
    private long runTimers() {
        while (!timers.isEmpty()) {
            Timer next = timers.first();
            long leftNs = next.atNs - System.nanoTime();
            if (leftNs > 0) {
                timerNs = next.atNs;
                return leftNs;
            }
            timers.remove(next);
            boolean _ = contain(next.task);
        }
        timerNs = FOREVER_NS;
        return FOREVER_NS;
    }

    private void await(Duration timeout, @Nullable Selector selector) {
        try {
            WaitChannel<?> next = selector == null
                    ? set.poll(timeout)
                    : set.poll(timeout, selector);
            for (int i = 0; i < BATCH && next != null; i++) {
                if (next.equals(completions)) {
                    handleCompletions();
                } else {
                    handleEvent();
                }
                next = set.poll(Duration.ZERO);
            }
        } catch (RdmaInterruptedException e) {
            if (!Thread.currentThread().equals(thread)) {
                Thread.currentThread().interrupt();
            }
        } catch (RdmaException e) {
            throw new IllegalStateException("the channels of the engine stay open", e);
        }
    }

    private void handleCompletions() throws RdmaException {
        CompletionQueue queue = completions.pollEvent(Duration.ZERO);
        if (queue == null) {
            return;
        }
        queue.acknowledgeEvents(1);
        if (queue.userContext() instanceof CompletionUser user) {
            boolean _ = contain(user::onCompletions);
        }
    }

    private void handleEvent() throws RdmaException {
        CmEvent event = events.pollEvent(Duration.ZERO);
        if (event == null) {
            return;
        }
        try (event) {
            if (event.id().userContext() instanceof EventUser user) {
                boolean _ = contain(() -> handle(user, event));
            }
        }
    }

    private static void handle(EventUser user, CmEvent event) {
        try {
            user.onEvent(event);
        } catch (RdmaException e) {
            LOG.log(System.Logger.Level.WARNING, "an event was not handled: " + event, e);
        }
    }

    /** A defect of one connection must not end the others, nor the thread that leads for them. {@return whether there was none} */
    private static boolean contain(Runnable task) {
        try {
            task.run();
            return true;
        } catch (RuntimeException | Error e) {
            try {
                LOG.log(System.Logger.Level.ERROR, "the connections go on after a defect of one",
                        e);
            } catch (RuntimeException | Error notLogged) {
                // Such as without memory or file descriptors.
            }
            return false;
        }
    }
}
