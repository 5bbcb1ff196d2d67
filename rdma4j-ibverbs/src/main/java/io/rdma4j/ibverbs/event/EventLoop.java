// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.event;

import io.rdma4j.ibverbs.abi.ErrorNumbers;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.Outcome;
import io.rdma4j.ibverbs.abi.SystemLayout.PollDescriptor;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A platform thread that waits until file descriptors are readable and calls their handlers, one after the other. So no
 * other thread, and no virtual one, ever blocks in a call of the libraries. Thread safe.
 *
 * <p>Handlers must not wait for other threads. Exceptions of a handler are logged and do not affect other handlers.
 */
public final class EventLoop implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(EventLoop.class.getName());
    private static final int EFD_NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    private static final int POLLIN = 1;
    private static final int F_SETFL = 4;
    private static final int O_NONBLOCK = 0x800;
    private static final long WORD = 8;
    /** For poll(2). */
    private static final int FOR_EVER = -1;
    private static final long NS_PER_MS = 1_000_000;

    private final Library<SystemSymbol> system;
    private final int wakeUp;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition turnOver = lock.newCondition();
    private final Map<Integer, Runnable> handlers = new LinkedHashMap<>();
    /** The handlers whose last call failed; only for the loop's thread. */
    private final Set<Runnable> failing = Collections.newSetFromMap(new WeakHashMap<>());
    private final Thread thread;
    private @Nullable Runnable task;
    private long periodNs;
    /** When the task is due, by {@link System#nanoTime}. */
    private long dueNs;
    private long turns;
    private boolean isClosed;
    /** Whether the thread has ended, and the number of its wake-up descriptor may belong to another file. */
    private boolean hasEnded;

    /**
     * Starts the thread, a daemon.
     *
     * @param name of the thread
     * @throws RdmaException ENOMEM if the system gives no descriptor
     */
    public EventLoop(Library<SystemSymbol> system, String name) throws RdmaException {
        this.system = system;
        Outcome descriptor = system.get(SystemSymbol.EVENTFD).call(0, EFD_NONBLOCK_CLOEXEC);
        if (descriptor.value() < 0) {
            throw ErrorNumbers.failure("open device", descriptor.errno(),
                    "the system gives no file descriptor to be woken by; raise ulimit -n");
        }
        wakeUp = (int) descriptor.value();
        thread = Thread.ofPlatform().name(name).daemon().unstarted(this::run);
        thread.start();
    }

    /**
     * Registers a handler for a descriptor, and makes the descriptor non-blocking, because the event may be gone by the
     * time it is read. A descriptor that has failed and has nothing to read is removed.
     *
     * @param handler reads the events; called only by the loop's thread
     */
    public void add(int descriptor, Runnable handler) {
        system.get(SystemSymbol.FCNTL).call(descriptor, F_SETFL, O_NONBLOCK);
        change(() -> handlers.put(descriptor, handler));
    }

    /**
     * Removes a descriptor. After the return the handler does not run and is not called again, unless the handler itself
     * calls this.
     */
    public void remove(int descriptor) {
        lock.lock();
        try {
            handlers.remove(descriptor);
            wake();
            long begun = turns;
            while (turns == begun && !hasEnded && !thread.equals(Thread.currentThread())) {
                turnOver.awaitUninterruptibly();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Runs a task periodically in the loop's thread, until {@link #rest}. There is one such task at a time.
     *
     * @param periodMs the time between two runs, also if there are always events; handlers of events delay it
     */
    public void every(int periodMs, Runnable newTask) {
        change(() -> {
            periodNs = periodMs * NS_PER_MS;
            dueNs = System.nanoTime() + periodNs;
            task = newTask;
        });
    }

    /** Ends the periodic task. */
    public void rest() {
        change(() -> task = null);
    }

    private void change(Runnable change) {
        lock.lock();
        try {
            change.run();
            wake();
        } finally {
            lock.unlock();
        }
    }

    /** Under the lock. */
    private void wake() {
        if (hasEnded) {
            return;
        }
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment one = arena.allocate(WORD);
            Native.putLong(one, 0, 1);
            system.get(SystemSymbol.WRITE).call(wakeUp, one.address(), WORD);
        }
    }

    private void run() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment word = arena.allocate(WORD);
            while (true) {
                List<Map.Entry<Integer, Runnable>> now = beginTurn();
                if (now.isEmpty()) {
                    return;
                }
                try (Arena ofTurn = Arena.ofConfined()) {
                    turn(now, ofTurn.allocate(PollDescriptor.SIZE * (now.size() + 1),
                            PollDescriptor.SIZE), word);
                }
            }
        } finally {
            endTurn(true);
            system.get(SystemSymbol.CLOSE).call(wakeUp);
        }
    }

    /** {@return the descriptors to wait for; empty if the loop is closed} */
    private List<Map.Entry<Integer, Runnable>> beginTurn() {
        endTurn(false);
        lock.lock();
        try {
            return isClosed ? List.of() : withWakeUp();
        } finally {
            lock.unlock();
        }
    }

    private List<Map.Entry<Integer, Runnable>> withWakeUp() {
        Map<Integer, Runnable> all = new LinkedHashMap<>();
        all.put(wakeUp, () -> {});
        all.putAll(handlers);
        return List.copyOf(all.entrySet());
    }

    private void endTurn(boolean isLast) {
        lock.lock();
        try {
            turns++;
            isClosed |= isLast;
            hasEnded = isLast;
            turnOver.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void turn(List<Map.Entry<Integer, Runnable>> now, MemorySegment descriptors,
            MemorySegment word) {
        for (int i = 0; i < now.size(); i++) {
            long at = i * PollDescriptor.SIZE;
            Native.putInt(descriptors, at + PollDescriptor.FD, now.get(i).getKey());
            Native.putShort(descriptors, at + PollDescriptor.EVENTS, POLLIN);
        }
        // A signal ends it early, and is a turn without anything to do.
        long ready = system.get(SystemSymbol.POLL)
                .call(descriptors.address(), now.size(), timeout()).value();
        doTaskIfDue();
        if (ready <= 0) {
            return;
        }
        if (Native.getShort(descriptors, PollDescriptor.REVENTS) != 0) {
            system.get(SystemSymbol.READ).call(wakeUp, word.address(), WORD);
        }
        for (int i = 1; i < now.size(); i++) {
            int found = Native.getShort(descriptors,
                    i * PollDescriptor.SIZE + PollDescriptor.REVENTS);
            if (found != 0 && isWanted(now.get(i).getKey(), now.get(i).getValue())) {
                call(now.get(i).getValue());
                if ((found & POLLIN) == 0) {
                    // It has failed, for example because its device was removed, and would always be ready.
                    forget(now.get(i).getKey(), now.get(i).getValue());
                }
            }
        }
    }

    /** {@return how long to wait for events, in milliseconds} */
    private int timeout() {
        lock.lock();
        try {
            if (task == null) {
                return FOR_EVER;
            }
            long leftNs = Math.max(0, dueNs - System.nanoTime());
            return (int) ((leftNs + NS_PER_MS - 1) / NS_PER_MS);
        } finally {
            lock.unlock();
        }
    }

    private void doTaskIfDue() {
        Runnable now = null;
        lock.lock();
        try {
            long nowNs = System.nanoTime();
            if (!isClosed && nowNs - dueNs >= 0) {
                now = task;
                dueNs = nowNs + periodNs;
            }
        } finally {
            lock.unlock();
        }
        if (now != null) {
            call(now);
        }
    }

    /** Calls a handler; whatever it throws, the thread continues for all others. A failure that repeats is logged once. */
    private void call(Runnable handler) {
        try {
            handler.run();
            failing.remove(handler);
        } catch (RuntimeException | Error e) {
            if (failing.add(handler)) {
                LOG.log(System.Logger.Level.ERROR,
                        "a handler of events of " + thread.getName() + " has failed", e);
            }
        }
    }

    private void forget(int descriptor, Runnable handler) {
        lock.lock();
        try {
            handlers.remove(descriptor, handler);
        } finally {
            lock.unlock();
        }
    }

    private boolean isWanted(int descriptor, Runnable handler) {
        lock.lock();
        try {
            return !isClosed && handler.equals(handlers.get(descriptor));
        } finally {
            lock.unlock();
        }
    }

    /** Ends the thread. Idempotent. */
    @Override
    public void close() {
        change(() -> isClosed = true);
    }
}
