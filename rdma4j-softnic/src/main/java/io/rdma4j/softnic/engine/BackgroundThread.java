package io.rdma4j.softnic.engine;

import java.util.concurrent.locks.LockSupport;

/** Runs the engine while nobody polls or waits, and keeps out of the way while somebody does. */
final class BackgroundThread {
    /** How long to look for packets after the last. */
    private static final long LINGER_NS = 50_000;

    private final EngineDriver driver;
    private final EngineRoom room;
    private final Thread thread;
    /** Sleeps until a guest leaves. */
    private volatile boolean isDozing;
    private long lastVisit;
    /** The last round found packets, and when the last did that has. */
    private boolean hasServed;
    private long lastServiceNs;

    BackgroundThread(EngineDriver driver, EngineRoom room, String name, long nowNs) {
        this.driver = driver;
        this.room = room;
        lastServiceNs = nowNs - LINGER_NS;
        thread = Thread.ofPlatform().daemon().name(name).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    /** Wakes it where it stays away; who sleeps in the rim is woken there. */
    void unpark() {
        LockSupport.unpark(thread);
    }

    /** Waits until it has ended. */
    void join() {
        boolean isInterrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** A guest has left; nobody may do for a while what it leaves behind. */
    void onGuestLeft(boolean hasMoreToDo) {
        if (isDozing || hasMoreToDo) {
            unpark();
        }
    }

    /** This thread has run a round. */
    void onServed(boolean hasReceived) {
        hasServed = hasReceived;
    }

    private void run() {
        try {
            while (driver.isServed()) {
                runOrStayAway();
            }
        } catch (RuntimeException | Error fatal) {
            driver.fail(fatal);
        }
    }

    private void runOrStayAway() {
        long busyNs = Math.max(driver.lastPollNs(), room.lastVisitNs());
        long awayNs = EngineDriver.POLLING_NS - (driver.nowNs() - busyNs);
        if (awayNs > 0) {
            LockSupport.parkNanos(driver, awayNs);
        } else if (room.isOccupied()) {
            doze();
        } else {
            long dueNs = driver.serve(null);
            if (dueNs != EngineDriver.AT_ONCE && !isMoreExpected()) {
                room.sleepInBackground(dueNs);
            }
        }
    }

    /**
     * {@return whether to look once more before going to sleep} Packets of a stream follow each other closely: to be
     * woken for each burst of them would cost the sender's processor more than looking costs this one.
     */
    @SuppressWarnings("ThreadPriorityCheck") // Nothing but speed depends on it.
    private boolean isMoreExpected() {
        long nowNs = driver.nowNs();
        if (hasServed) {
            hasServed = false;
            lastServiceNs = nowNs;
            return true;
        }
        if (nowNs - lastServiceNs >= LINGER_NS) {
            return false;
        }
        Thread.yield();
        return true;
    }

    /** A guest drives the engine. Nobody has to wake this thread until guests have become rare. */
    private void doze() {
        long visit = room.lastVisit();
        if (visit != lastVisit) {
            lastVisit = visit;
            LockSupport.parkNanos(driver, EngineDriver.POLLING_NS);
            return;
        }
        isDozing = true;
        // Behind the announcement: who has left since has not seen it.
        if (room.isOccupied() && driver.isServed()) {
            LockSupport.park(driver);
        }
        isDozing = false;
    }
}
