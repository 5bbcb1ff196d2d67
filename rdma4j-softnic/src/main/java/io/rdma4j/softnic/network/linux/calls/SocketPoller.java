// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/**
 * Waits until a socket has something, a thread calls {@link #wake}, or another process writes to a {@link Source}. One
 * thread waits at a time.
 *
 * <p>The sockets are in an epoll set, which they join and leave while a thread waits.
 * The wait itself is a ppoll on that set, for its time-out counts nanoseconds.
 */
public final class SocketPoller {
    private static final int EPOLL_CLOEXEC = 0x8_0000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;
    private static final int EFD_CLOEXEC = 0x8_0000;
    private static final int EFD_NONBLOCK = 0x800;
    private static final short POLLIN = 1;
    private static final int POLL_ENTRY = 8;
    private static final int FIRST_SOURCE_ENTRY = 2 * POLL_ENTRY;
    private static final int REVENTS = 6;
    private static final long SECOND_NS = 1_000_000_000;

    /** A descriptor by which other processes end a wait, by what they write or by their own end. */
    public interface Source {
        /** {@return the file descriptor to read from} */
        int readable();

        /** It has something: empties it, or has the owner of the engine do so in its next round. */
        void drain();
    }

    private final LinuxCalls waiterCalls;
    private final LinuxCalls wakerCalls;
    private final int epoll;
    private final int eventfd;
    private final MemorySegment polled;
    private final MemorySegment also;
    private final MemorySegment timeout;
    private final MemorySegment taken;
    private final MemorySegment one;
    private final Object waking = new Object();
    private final Source[] sources;
    /** The last entry is that of one more descriptor. */
    private final int alsoEntry;
    private final int entries;
    private boolean isClosed;
    /** Of the waiting thread: whether the system has said whether {@link #awaitAlso one more descriptor} has something. */
    private boolean isAlsoAsked;

    /**
     * @param arena may be closed after this object
     * @param sources by which other processes end a wait
     */
    public SocketPoller(Arena arena, Source... sources) throws LinuxSocket.Refused {
        waiterCalls = new LinuxCalls(arena);
        wakerCalls = new LinuxCalls(arena);
        epoll = LinuxSocket.Refused.unlessDone(waiterCalls.epollCreate1(EPOLL_CLOEXEC),
                "epoll_create1");
        int result = waiterCalls.eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (result < 0) {
            LinuxCalls.close(epoll);
        }
        eventfd = LinuxSocket.Refused.unlessDone(result, "eventfd");
        this.sources = sources.clone();
        alsoEntry = sourceEntry(sources.length);
        entries = alsoEntry / POLL_ENTRY + 1;
        polled = arena.allocate((long) entries * POLL_ENTRY, 8);
        also = polled.asSlice(alsoEntry);
        entry(0, epoll);
        entry(POLL_ENTRY, eventfd);
        for (int i = 0; i < sources.length; i++) {
            entry(sourceEntry(i), sources[i].readable());
        }
        // poll(2) ignores negative descriptors.
        entry(alsoEntry, -1);
        timeout = arena.allocate(16, 8);
        taken = arena.allocate(16, 8);
        one = arena.allocate(8, 8);
        one.set(JAVA_LONG, 0, 1);
    }

    private static int sourceEntry(int index) {
        return FIRST_SOURCE_ENTRY + index * POLL_ENTRY;
    }

    /** Writes a {@code struct pollfd}. */
    private void entry(int at, int descriptor) {
        polled.set(JAVA_INT, at, descriptor);
        polled.set(JAVA_SHORT, at + 4, POLLIN);
    }

    /** Registers a socket: received packets end a wait, including a present one. */
    public void watch(int socket) throws LinuxSocket.Refused {
        watch(socket, EpollEvents.EPOLLIN, 0);
        // A waiting thread may sleep for long; it has to wake so that this socket is polled as well.
        wake();
    }

    /**
     * Registers a descriptor: its events end a wait, including a present one, until they are taken.
     *
     * @param bits the kinds of events, of {@link EpollEvents}
     * @param key the key that {@link #take} returns with the events
     */
    public void watch(int descriptor, int bits, long key) throws LinuxSocket.Refused {
        try (Arena call = Arena.ofConfined()) {
            LinuxSocket.Refused.unlessDone(new LinuxCalls(call).epollCtl(epoll, EPOLL_CTL_ADD,
                    descriptor, EpollEvents.one(call, bits, key)), "epoll_ctl");
        }
    }

    /** A socket ends no wait any more. */
    public void forget(int socket) {
        try (Arena call = Arena.ofConfined()) {
            // Refused if the socket is closed, for then the set has forgotten it by itself.
            new LinuxCalls(call).epollCtl(epoll, EPOLL_CTL_DEL, socket, MemorySegment.NULL);
        }
    }

    /** Takes events, as many as there is room for. For one thread at a time, also while another one waits. */
    public void take(EpollEvents events) {
        events.count = Math.max(0,
                LinuxCalls.epollWait(epoll, events.address(), EpollEvents.MOST));
    }

    /**
     * Waits.
     *
     * @param timeoutNs {@link Long#MAX_VALUE} to wait without limit
     * @return false if the system has just said that no socket has anything and that no thread has called {@link #wake}: time is up, or
     *         something else has anything
     */
    public boolean await(long timeoutNs) {
        MemorySegment until = MemorySegment.NULL;
        if (timeoutNs != Long.MAX_VALUE) {
            long waitNs = Math.max(0, timeoutNs);
            timeout.set(JAVA_LONG, 0, waitNs / SECOND_NS);
            timeout.set(JAVA_LONG, 8, waitNs % SECOND_NS);
            until = timeout;
        }
        int ready = waiterCalls.ppoll(polled, entries, until);
        isAlsoAsked = ready >= 0;
        if (ready <= 0) {
            // After a signal the call returns early, which does no harm.
            return ready < 0;
        }
        boolean isWoken = polled.get(JAVA_SHORT, POLL_ENTRY + REVENTS) != 0;
        if (isWoken) {
            waiterCalls.read(eventfd, taken);
        }
        for (int i = 0; i < sources.length; i++) {
            if (polled.get(JAVA_SHORT, sourceEntry(i) + REVENTS) != 0) {
                sources[i].drain();
            }
        }
        return isWoken || polled.get(JAVA_SHORT, REVENTS) != 0;
    }

    /**
     * Lets waits of the calling thread end when one more descriptor has something, until {@link #endAlso}. That is left there.
     *
     * @param descriptor negative for none
     */
    public void awaitAlso(int descriptor) {
        polled.set(JAVA_INT, alsoEntry, descriptor);
        isAlsoAsked = false;
    }

    /** Ends {@link #awaitAlso}. {@return whether that descriptor has something} */
    public boolean endAlso() {
        boolean hasSomething;
        if (isAlsoAsked) {
            hasSomething = polled.get(JAVA_SHORT, alsoEntry + REVENTS) != 0;
        } else {
            timeout.set(JAVA_LONG, 0, 0);
            timeout.set(JAVA_LONG, 8, 0);
            hasSomething = waiterCalls.ppoll(also, 1, timeout) > 0;
        }
        polled.set(JAVA_INT, alsoEntry, -1);
        return hasSomething;
    }

    /** {@return the call for waiting that the system refuses, with its error; null if none} */
    @Nullable
    public String refusal() {
        timeout.set(JAVA_LONG, 0, 0);
        timeout.set(JAVA_LONG, 8, 0);
        String polling = LinuxAccess.refusal("ppoll",
                waiterCalls.ppollOrFail(polled, entries, timeout));
        return polling != null
                ? polling
                : LinuxAccess.refusal("epoll_wait",
                        waiterCalls.epollWaitOrFail(epoll, taken.address()));
    }

    /** Ends a wait under way, or the next one. */
    public void wake() {
        synchronized (waking) {
            // After it is closed, its number may belong to another file.
            if (!isClosed) {
                wakerCalls.write(eventfd, one);
            }
        }
    }

    /** No thread waits any more. */
    public void close() {
        synchronized (waking) {
            if (!isClosed) {
                isClosed = true;
                LinuxCalls.close(eventfd);
                LinuxCalls.close(epoll);
            }
        }
    }
}
