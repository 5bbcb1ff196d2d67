// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The devices that are open, one under each name, and how many contexts share each. Opening and closing exclude each
 * other only for the same name, so a device that opens or closes slowly does not delay others.
 */
final class OpenDevices {
    private static final System.Logger LOG = System.getLogger(OpenDevices.class.getName());
    /** How long the end of the process waits for threads that open or close a device. */
    private static final long MAX_WAIT_NS = 1_000_000_000;

    /** Opens a device. */
    interface Opener {
        SoftNic open() throws RdmaException;
    }

    /** Joins a device that is open already, or refuses to. */
    interface Joiner {
        void join(SoftNic nic) throws RdmaException;
    }

    /** Never removed: there are few names. */
    private static final class Slot {
        final ReentrantLock lock = new ReentrantLock();
        /** Null if no device is open, or if it is gone: its interface was removed, or it has failed. */
        final AtomicReference<@Nullable SoftNic> nic = new AtomicReference<>();
    }

    private final Map<String, Slot> slots = new ConcurrentHashMap<>();

    /** {@return the open device of this name with a context more, opened or joined} */
    SoftNic open(String name, Opener opener, Joiner joiner) throws RdmaException {
        Slot slot = slot(name);
        slot.lock.lock();
        try {
            SoftNic nic = slot.nic.get();
            if (nic == null) {
                nic = opener.open();
                slot.nic.set(nic);
                if (nic.isGone()) {
                    // It has failed meanwhile, before there was something to forget.
                    slot.nic.set(null);
                }
            } else {
                joiner.join(nic);
            }
            nic.addContext();
            return nic;
        } finally {
            slot.lock.unlock();
        }
    }

    /** A context is closed: with the last one the device. */
    void release(SoftNic nic) {
        Slot slot = slot(nic.name());
        slot.lock.lock();
        try {
            if (nic.removeContext() == 0) {
                slot.nic.compareAndSet(nic, null);
                nic.close();
            }
        } finally {
            slot.lock.unlock();
        }
    }

    /**
     * Forgets a device that is gone: opening a device of that name now creates a new one. It takes no lock: a thread that has it may
     * be waiting for the thread of the device, which calls this.
     */
    void forget(SoftNic nic) {
        slot(nic.name()).nic.compareAndSet(nic, null);
    }

    /**
     * The process ends. A device that another thread is opening, and perhaps waits for another process meanwhile, is waited
     * for only briefly: whoever ends a process by Ctrl-C expects it to end. All are closed at the same time, for each may have to
     * wait for another process.
     */
    void closeAll() {
        long untilNs = System.nanoTime() + MAX_WAIT_NS;
        // Not closed, for that would wait without limit.
        ExecutorService closing = Executors.newThreadPerTaskExecutor(
                Thread.ofPlatform().daemon().name("rdma4j-close").factory());
        for (Slot slot : slots.values()) {
            try {
                closing.execute(() -> closeInTime(slot, untilNs));
            } catch (OutOfMemoryError noThread) {
                closeInTime(slot, untilNs);
            }
        }
        closing.shutdown();
        boolean _ = isDone(until -> closing.awaitTermination(until - System.nanoTime(),
                TimeUnit.NANOSECONDS), untilNs + MAX_WAIT_NS);
    }

    /** A wait up to some time. */
    private interface LimitedWait {
        boolean await(long untilNs) throws InterruptedException;
    }

    /** {@return whether a wait has ended in time} An interrupt is kept for later. */
    private static boolean isDone(LimitedWait wait, long untilNs) {
        boolean wasInterrupted = false;
        try {
            while (true) {
                try {
                    return wait.await(untilNs);
                } catch (InterruptedException e) {
                    wasInterrupted = true;
                }
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void closeInTime(Slot slot, long untilNs) {
        if (!isDone(until -> slot.lock.tryLock(until - System.nanoTime(), TimeUnit.NANOSECONDS),
                untilNs)) {
            return;
        }
        try {
            SoftNic nic = slot.nic.getAndSet(null);
            if (nic != null) {
                nic.shutDown();
            }
        } catch (RuntimeException | Error e) {
            LOG.log(System.Logger.Level.DEBUG, "a device was not closed with the process", e);
        } finally {
            slot.lock.unlock();
        }
    }

    private Slot slot(String name) {
        return slots.computeIfAbsent(name, key -> new Slot());
    }
}
