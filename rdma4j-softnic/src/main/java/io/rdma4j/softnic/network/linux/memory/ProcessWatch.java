// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.memory;

import io.rdma4j.softnic.network.PortSharing;
import io.rdma4j.softnic.network.linux.calls.EpollEvents;
import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.ProcessFiles;
import io.rdma4j.softnic.network.linux.calls.SocketPoller;
import io.rdma4j.verbs.Gid;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Notices the ends of the processes that a device is connected to. The end of one ends the wait of a thread that sleeps in the network;
 * threads that never sleep ask once a second. For the owner of the engine, but for {@link #drain}. Source: pidfd_open(2).
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
    private final Map<Long, Watched> watched = new HashMap<>();
    private final List<Peer> ended = new ArrayList<>();
    /** A thread that slept was woken by the end of one. */
    private volatile boolean isAnyOver;
    private long askedNs;

    /**
     * What a process has that the device is connected to.
     *
     * @param address of its device
     * @param first the first prefix of its process
     * @param prefix that of its queue pairs
     */
    record Peer(Gid address, int first, int prefix) {
        static Peer of(Gid address, int first, int queuePair) {
            return new Peer(address, first, queuePair >>> PortSharing.QUEUE_PAIR_BITS);
        }

        boolean had(int queuePair) {
            return queuePair >>> PortSharing.QUEUE_PAIR_BITS == prefix;
        }
    }

    /** A process, by a descriptor that is readable once it has ended. */
    private record Watched(int descriptor, Set<Peer> peers) {}

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
     * Watches the process of a peer. If there is none any more, that is its end; if the system does not let this process watch it, its end is not
     * noticed.
     *
     * @param process as {@link io.rdma4j.softnic.network.linux.calls.ProcessIdentity} names it
     * @return whether it was not watched before, and is now: then its number may be that of another process by now, and the caller makes sure that it lives
     */
    boolean watch(long process, Peer peer) {
        Watched known = watched.get(process);
        if (known != null) {
            known.peers.add(peer);
            return false;
        }
        try {
            watched.put(process, new Watched(open(process), new LinkedHashSet<>(Set.of(peer))));
            return true;
        } catch (LinuxSocket.Refused e) {
            if (e.errno() == LinuxCalls.ESRCH) {
                ended.add(peer);
            } else {
                LOG.log(System.Logger.Level.DEBUG, "the end of a process is not noticed", e);
            }
            return false;
        }
    }

    private int open(long process) throws LinuxSocket.Refused {
        int descriptor = ProcessFiles.openProcess(process);
        try (Arena call = Arena.ofConfined()) {
            LinuxSocket.Refused.unlessDone(calls.epollCtl(epoll, EPOLL_CTL_ADD, descriptor,
                    EpollEvents.one(call, EpollEvents.EPOLLIN, process)), "epoll_ctl");
            return descriptor;
        } catch (LinuxSocket.Refused e) {
            LinuxCalls.close(descriptor);
            throw e;
        }
    }

    /** A process that is watched has ended. */
    void end(long process) {
        Watched gone = watched.remove(process);
        if (gone != null) {
            // The set forgets it with that, for nobody else has it.
            LinuxCalls.close(gone.descriptor);
            ended.addAll(gone.peers);
        }
    }

    /** Looks which processes have ended, if it is time. */
    void look(long nowNs) {
        if (isAnyOver || (nowNs - askedNs >= ASK_NS && !watched.isEmpty())) {
            askedNs = nowNs;
            isAnyOver = false;
            do {
                events.count = LinuxCalls.epollWait(epoll, events.address(), EpollEvents.MOST);
                for (int i = 0; i < events.count; i++) {
                    end(events.key(i));
                }
            } while (events.count == EpollEvents.MOST);
        }
    }

    /** {@return the peers whose processes have been seen to have ended, and which nobody has taken out of this list; to be changed by the caller} */
    List<Peer> ended() {
        return ended;
    }

    @Override
    public int readable() {
        return epoll;
    }

    /** What has ended stays there until the owner of the engine looks. */
    @Override
    public void drain() {
        isAnyOver = true;
    }

    @Override
    public void close() {
        List.copyOf(watched.keySet()).forEach(this::end);
        ended.clear();
        LinuxCalls.close(epoll);
        arena.close();
    }
}
