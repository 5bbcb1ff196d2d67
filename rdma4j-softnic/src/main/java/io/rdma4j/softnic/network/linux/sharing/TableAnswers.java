// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.sharing;

import io.rdma4j.softnic.network.linux.calls.EpollEvents;
import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.UnixSocket;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * Hands the table to the processes that look for it: a thread that sleeps until somebody connects to the {@link
 * TableSocket}. Of the processes that have the same socket the system wakes one, and none that is stopped.
 */
final class TableAnswers implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(TableAnswers.class.getName());
    private static final int EPOLL_CLOEXEC = 0x8_0000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EFD_CLOEXEC = 0x8_0000;
    /** After an error: who waits to be accepted makes each sleep end at once. */
    private static final long REST_NS = 100_000_000;

    private final UnixSocket listener;
    private final UnixSocket.Message answer;
    private final ThreadFactory threads;
    private final Arena arena = Arena.ofShared();
    /** Null while the system gives no thread, or nothing to wait with. */
    private @Nullable Thread thread;
    private int epoll = -1;
    private int end = -1;
    private volatile boolean isEnded;
    /** Written by the thread alone. */
    private volatile int rests;

    /**
     * @param listener from now on this object's
     * @param answer what everybody of this user gets who connects
     */
    TableAnswers(UnixSocket listener, UnixSocket.Message answer) {
        this(listener, answer, Thread.ofPlatform().daemon().name("rdma4j-table").factory());
    }

    TableAnswers(UnixSocket listener, UnixSocket.Message answer, ThreadFactory threads) {
        this.listener = listener;
        this.answer = answer;
        this.threads = threads;
        tryToStart();
    }

    /** Begins to answer, unless it does already. If it cannot, the table is found otherwise meanwhile: see {@link TableSocket}. */
    synchronized void tryToStart() {
        if (thread != null) {
            return;
        }
        Thread next = threads.newThread(this::run);
        boolean isStarted = false;
        try (Arena call = Arena.ofConfined()) {
            LinuxCalls calls = new LinuxCalls(call);
            epoll = calls.epollCreate1(EPOLL_CLOEXEC);
            end = calls.eventfd(0, EFD_CLOEXEC);
            watch(calls, call, listener.descriptor(),
                    EpollEvents.EPOLLIN | EpollEvents.EPOLLEXCLUSIVE);
            watch(calls, call, end, EpollEvents.EPOLLIN);
            next.start();
            thread = next;
            isStarted = true;
        } catch (LinuxSocket.Refused | OutOfMemoryError e) {
            LOG.log(System.Logger.Level.DEBUG, "nobody is told of the table", e);
        } finally {
            if (!isStarted) {
                closeBoth();
            }
        }
    }

    private void watch(LinuxCalls calls, Arena call, int descriptor, int bits)
            throws LinuxSocket.Refused {
        LinuxSocket.Refused.unlessDone(calls.epollCtl(epoll, EPOLL_CTL_ADD, descriptor,
                EpollEvents.one(call, bits, 0)), "epoll_ctl");
    }

    private void closeBoth() {
        for (int descriptor : new int[]{epoll, end}) {
            if (descriptor >= 0) {
                LinuxCalls.close(descriptor);
            }
        }
        epoll = -1;
        end = -1;
    }

    private void run() {
        EpollEvents events = new EpollEvents(arena);
        while (!isEnded) {
            try {
                if (LinuxCalls.epollWait(epoll, events.address(), EpollEvents.MOST, -1) < 0) {
                    // A signal, or the call is not allowed any more.
                    rest();
                }
                for (UnixSocket next = listener.accept(); next != null; next = listener
                        .accept()) {
                    answer(next);
                }
            } catch (LinuxSocket.Refused | RuntimeException | Error e) {
                logFailure(e);
                rest();
            }
        }
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // by this thread alone
    private void rest() {
        rests++;
        if (!isEnded) {
            LockSupport.parkNanos(REST_NS);
        }
    }

    private static void logFailure(Throwable failure) {
        try {
            LOG.log(System.Logger.Level.DEBUG, "a process that asks for the table waits", failure);
        } catch (RuntimeException | Error notEvenLogged) {
            // Memory is short; who asks is answered when there is some again.
        }
    }

    /** {@return how often it had to rest after an error} */
    int rests() {
        return rests;
    }

    private void answer(UnixSocket connection) {
        try (connection) {
            if (connection.peer().isOfThisUser()) {
                connection.send(answer);
            }
        } catch (LinuxSocket.Refused e) {
            // It has ended, or gets no answer and asks again.
            LOG.log(System.Logger.Level.DEBUG, "a process was not told of the table", e);
        }
    }

    /** Others go on answering. */
    @Override
    public synchronized void close() {
        isEnded = true;
        Thread running = thread;
        if (running != null) {
            MemorySegment one = arena.allocate(8, 8);
            one.set(JAVA_LONG, 0, 1);
            new LinuxCalls(arena).write(end, one);
            LockSupport.unpark(running);
            join(running);
        }
        listener.close();
        closeBoth();
        arena.close();
    }

    private static void join(Thread thread) {
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
}
