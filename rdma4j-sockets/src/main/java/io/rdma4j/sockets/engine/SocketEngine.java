// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.sockets.udp.UdpWatch;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.nio.channels.Selector;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Drives all connections and listeners of the process, so that none depends on what its application does. One thread at a time
 * leads: it runs what is due ({@link LeaderTasks}), waits for what happens to any of them, and handles it ({@link EngineEvents}). It also
 * frees what has ended: nothing is freed while one of its events is handled. Here is decided who leads.
 *
 * <p>A platform thread that has to wait in a channel leads meanwhile, if it can: so a message wakes the thread it is for, and no other.
 * A daemon thread leads while somebody sleeps whom nobody else would wake, and while no application thread has led or polled for some
 * time. If threads sleep, it goes on to lead: to hand over each time would cost more than it saves. But if for some time anything has come for
 * one thread alone, that takes over from whoever leads, and leads for those that sleep beside it. A thread that polls sees to its own
 * connection alone, so the daemon thread handles what there is for others now and then, and does not stay.
 */
public final class SocketEngine implements Leadership {
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

    private final EngineEvents events = new EngineEvents();
    private final LeaderTasks tasks = new LeaderTasks();
    private final OpenSockets open = new OpenSockets();
    private final LargerBuffers largerBuffers = new LargerBuffers();
    private final KeptDevices keptDevices = new KeptDevices(this);
    private final UdpWatch introductions = new UdpWatch();
    private final Thread thread;

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

    /** Made by the first use, with its thread. */
    private static final class OfProcess {
        static final SocketEngine ENGINE = new SocketEngine();
    }

    private SocketEngine() {
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

    /** {@return the devices that stay open for a moment} For the leader. */
    KeptDevices keptDevices() {
        return keptDevices;
    }

    /** {@return what waits for the introductions of datagram endpoints} */
    UdpWatch introductions() {
        return introductions;
    }

    /** {@return where completion queues report, whose user context is an {@link EngineEvents.CompletionUser}} */
    CompletionChannel completions() {
        return events.completions();
    }

    /** {@return a new id whose events go to a user} */
    CmId newId(EngineEvents.EventUser user) throws RdmaException {
        return newId(PortSpace.TCP, user);
    }

    /** {@return a new id whose events go to a user} */
    CmId newId(PortSpace space, EngineEvents.EventUser user) throws RdmaException {
        return events.newId(space, user);
    }

    /** Lets the leader run something, soon. */
    void execute(Runnable task) {
        tasks.add(task);
        attendToTasks();
    }

    /** Lets the leader run something after a time. {@return what {@link #cancel} takes} */
    LeaderTasks.Timer schedule(Duration delay, Runnable task) {
        LeaderTasks.Timer timer = tasks.add(delay, task);
        attendToTasks();
        return timer;
    }

    /** Forgets what was scheduled, if anything was, unless it has run. It holds what it would have needed no longer. */
    void cancel(LeaderTasks.@Nullable Timer timer) {
        if (timer != null) {
            tasks.cancel(timer);
            attendToTasks();
        }
    }

    private void attendToTasks() {
        if (leader == null) {
            LockSupport.unpark(thread);
        } else {
            wakeLeader();
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
        if (!Thread.currentThread().equals(leader)) {
            events.wake();
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
        events.beginLook();
        while (!isDone.getAsBoolean() && !Thread.currentThread().isInterrupted()
                && !isGivingWay()) {
            long leftNs = endNs == FOREVER_NS ? FOREVER_NS : endNs - System.nanoTime();
            if (leftNs <= 0) {
                return;
            }
            turn(leftNs);
            events.beginLook();
        }
    }

    /**
     * As {@link #lead}, but it returns after what came first: it waits for a selector as well, at which the caller has to look then. The time is up
     * early if anything is due.
     */
    void leadOnce(BooleanSupplier isDone, long endNs, Selector selector) {
        events.beginLook();
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
            events.beginLook();
            turn(0);
        } finally {
            stopLeading();
        }
    }

    /** {@return whether a leader has something to do} A thread that selects again and again mostly finds nothing. */
    private boolean isWorthLeading() {
        return tasks.isDue() || events.isAny();
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
        events.waitElsewhere();
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
                    events.beginLook();
                    while (mayLead()) {
                        if (!turnOnItsOwn(FOREVER_NS)) {
                            LockSupport.parkNanos(QUIET_NS);
                        }
                        events.beginLook();
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
        events.beginLook();
        boolean _ = turnOnItsOwn(0);
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

    /** Runs what is due, waits for events, and handles them. */
    private void turn(long limitNs) {
        turn(limitNs, null);
    }

    /** @param selector what else it waits for, null for nothing */
    private void turn(long limitNs, @Nullable Selector selector) {
        long timeoutNs = Math.min(tasks.run(), limitNs);
        if (tasks.isEmpty()) {
            events.await(timeoutNs == 0 ? Duration.ZERO : Duration.ofNanos(timeoutNs), selector);
        }
    }

    /** As {@link #turn}, of the daemon thread, which nobody ends by an interruption. {@return whether nothing was thrown} */
    private boolean turnOnItsOwn(long limitNs) {
        boolean isWell = Defects.contain(() -> turn(limitNs));
        boolean _ = Thread.interrupted();
        return isWell;
    }
}
