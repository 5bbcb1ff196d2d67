// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.softnic.network.linux.calls.EpollEvents;
import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.ProcessFiles;
import io.rdma4j.softnic.network.linux.calls.SocketPoller;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Says which of some processes have ended. The end of one ends the wait of a thread that sleeps in the network; a thread that never sleeps
 * asks once a second. For the owner of the engine, but for {@link #drain}. Source: pidfd_open(2).
 */
final class ProcessWatch implements SocketPoller.Source, AutoCloseable {
    private static final System.Logger LOG = System.getLogger(ProcessWatch.class.getName());
    /** How often somebody asks who does not sleep. */
    static final long ASK_NS = 1_000_000_000;
    private static final int EPOLL_CLOEXEC = 0x8_0000;
    private static final int EPOLL_CTL_ADD = 1;

    private final Arena arena;
    private final LinuxCalls calls;
    private final EpollEvents events;
    private final int epoll;
    /** The descriptors of the processes, by their keys. */
    private final Map<Long, Integer> watched = new HashMap<>();
    /** A thread that slept was woken by the end of one. */
    private volatile boolean isAnyOver;
    private long askedNs;

    /** @throws LinuxSocket.Refused if the system gives nothing to wait with */
    ProcessWatch() throws LinuxSocket.Refused {
        arena = Arena.ofShared();
        int opened = -1;
        try {
            calls = new LinuxCalls(arena);
            events = new EpollEvents(arena);
            opened = LinuxSocket.Refused.unlessDone(calls.epollCreate1(EPOLL_CLOEXEC),
                    "epoll_create1");
        } catch (OutOfMemoryError none) {
            throw new LinuxSocket.Refused(LinuxCalls.ENOMEM, "a watch's memory");
        } finally {
            if (opened < 0) {
                arena.close();
            }
        }
        epoll = opened;
    }

    /**
     * Watches a process, unless it is watched already, or the system does not let this process do so.
     *
     * @param process as {@link io.rdma4j.softnic.network.linux.calls.ProcessIdentity} names it
     * @param key what {@link #takeEnded} says when it has ended; each process has one of its own
     */
    void watch(long process, long key) {
        if (watched.containsKey(key)) {
            return;
        }
        int descriptor = -1;
        try (Arena call = Arena.ofConfined()) {
            descriptor = ProcessFiles.openProcess(process);
            LinuxSocket.Refused.unlessDone(calls.epollCtl(epoll, EPOLL_CTL_ADD, descriptor,
                    EpollEvents.one(call, EpollEvents.EPOLLIN, key)), "epoll_ctl");
            watched.put(key, descriptor);
        } catch (LinuxSocket.Refused e) {
            if (descriptor >= 0) {
                LinuxCalls.close(descriptor);
            }
            LOG.log(System.Logger.Level.DEBUG, "the end of a process is not seen", e);
        }
    }

    /** {@return whether any process is watched} */
    boolean isAnyWatched() {
        return !watched.isEmpty();
    }

    /** Watches the others no longer. */
    void keepThoseOf(Set<Long> keys) {
        List.copyOf(watched.keySet()).forEach(key -> {
            if (!keys.contains(key)) {
                forget(key);
            }
        });
    }

    private void forget(long key) {
        Integer descriptor = watched.remove(key);
        if (descriptor != null) {
            // The set forgets it with that, for nobody else has it.
            LinuxCalls.close(descriptor);
        }
    }

    /** {@return whether it is time for {@link #takeEnded}} */
    boolean isDue(long nowNs) {
        return isAnyOver || (nowNs - askedNs >= ASK_NS && !watched.isEmpty());
    }

    /** {@return the keys of those that have ended, which are watched no longer} */
    List<Long> takeEnded(long nowNs) {
        askedNs = nowNs;
        isAnyOver = false;
        List<Long> ended = new ArrayList<>();
        events.count = LinuxCalls.epollWait(epoll, events.address(), EpollEvents.MOST);
        for (int i = 0; i < events.count; i++) {
            long key = events.key(i);
            forget(key);
            ended.add(key);
        }
        return ended;
    }

    @Override
    public int readable() {
        return epoll;
    }

    /** What has ended stays there until the owner of the engine has taken it. */
    @Override
    public void drain() {
        isAnyOver = true;
    }

    @Override
    public void close() {
        List.copyOf(watched.keySet()).forEach(this::forget);
        LinuxCalls.close(epoll);
        arena.close();
    }
}
