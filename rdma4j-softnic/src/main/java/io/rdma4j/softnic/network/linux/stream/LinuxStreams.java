// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.stream;

import io.rdma4j.softnic.network.linux.calls.BufferAddress;
import io.rdma4j.softnic.network.linux.calls.EpollEvents;
import io.rdma4j.softnic.network.linux.calls.LinuxAccess;
import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.SelectorDescriptors;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.softnic.network.linux.calls.SocketPoller;
import io.rdma4j.softnic.network.linux.calls.TcpCalls;
import io.rdma4j.softnic.network.linux.calls.Watchers;
import io.rdma4j.softnic.network.stream.Stream;
import io.rdma4j.softnic.network.stream.StreamListener;
import io.rdma4j.softnic.network.stream.StreamNetwork;
import io.rdma4j.softnic.network.stream.StreamRefusal;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SystemErrors;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.SOL_SOCKET;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.SO_REUSEADDR;

/**
 * Byte streams on Linux's sockets. All sockets are in one edge-triggered epoll set.
 *
 * <p>The thread that drives the network takes events without waiting, while another thread may wait for the same set. A call
 * of a stream takes 0.05 to 0.1 µs less than by the JDK's channels, and a full stream need not be registered again.
 */
public final class LinuxStreams implements StreamNetwork {
    private static final System.Logger LOG = System.getLogger(LinuxStreams.class.getName());
    private static final long REST_NS = 100_000_000;
    private static final int BETWEEN_BYTES = 64 << 10;

    private static volatile boolean hasWorked;

    private final Arena arena;
    private final SocketPoller poller;
    private final TcpCalls calls;
    private final EpollEvents events;
    private final Watchers watchers = new Watchers();
    /** Bytes of heap buffers are copied through it. */
    private final ByteBuffer between;
    private final BufferAddress sent = new BufferAddress();
    private final BufferAddress received = new BufferAddress();
    /** Streams that may have more to read, and those being read in this round. */
    private List<LinuxStream> unread = new ArrayList<>();
    private List<LinuxStream> readAgain = new ArrayList<>();
    /** Streams that were refused at once. */
    private final List<Refused> refused = new ArrayList<>();
    /** Listeners that are left alone until then. */
    private final Set<Listener> resting = new LinkedHashSet<>();
    private volatile long restEndsNs = Long.MAX_VALUE;
    /** There is work that the epoll set does not report. */
    private volatile boolean isDue;
    /** The stream that had something to read last. */
    private @Nullable LinuxStream busy;
    private boolean hasHappened;
    /** The first of the events that has not been reported. */
    private int nextEvent;
    private volatile boolean isClosed;

    private record Refused(LinuxStream stream, int errno) {}

    /** @throws RdmaException the system's own error, such as EMFILE; ENOMEM if there is no native memory */
    public LinuxStreams() throws RdmaException {
        this(Arena.ofShared());
    }

    private LinuxStreams(Arena arena) throws RdmaException {
        this.arena = arena;
        try {
            calls = new TcpCalls(arena);
            events = new EpollEvents(arena);
            between = arena.allocate(BETWEEN_BYTES, 64).asByteBuffer();
            // Last, so that nothing has to be closed but the arena.
            poller = new SocketPoller(arena);
        } catch (LinuxSocket.Refused e) {
            arena.close();
            throw e.during("open device", "the system gives nothing to wait with");
        } catch (OutOfMemoryError none) {
            arena.close();
            throw MemoryErrors.outOfMemory("open device", none);
        }
    }

    /** {@return why this network does not work here, or null if it does} A success is remembered. */
    public static @Nullable String obstacle() {
        if (hasWorked) {
            return null;
        }
        String found = LinuxAccess.obstacle(StreamSandbox::refusal);
        hasWorked = found == null;
        return found;
    }

    /** {@return whether calls of Linux are tried here at all} Then an {@link #obstacle} is one of those calls. */
    public static boolean isTried() {
        return LinuxAccess.obstacle() == null;
    }

    private static int family(InetSocketAddress address) {
        return address.getAddress() instanceof Inet4Address
                ? SocketAddress.AF_INET
                : SocketAddress.AF_INET6;
    }

    private static RdmaException refusal(String operation, InetSocketAddress at,
            LinuxSocket.Refused e) {
        return switch (e.errno()) {
            case LinuxCalls.EADDRINUSE -> StreamRefusal.inUse(operation, at, e);
            case LinuxCalls.EADDRNOTAVAIL -> StreamRefusal.notAvailable(operation, at, e);
            case LinuxCalls.EMFILE -> StreamRefusal.noDescriptor(operation, e);
            case LinuxCalls.ENFILE -> StreamRefusal.noDescriptorOfSystem(operation, e);
            default -> e.during(operation, StreamRefusal.text(at));
        };
    }

    // ---------------------------------------------------------------- listening

    private final class Listener implements StreamListener, Watchers.Watcher {
        private final int socket;
        private final InetSocketAddress local;
        private final Handler handler;
        private final long key;
        private boolean isOver;
        private boolean hasWarned;

        Listener(int socket, Handler handler) throws LinuxSocket.Refused {
            this.socket = socket;
            this.handler = handler;
            local = calls.local(socket);
            key = watch(socket, EpollEvents.EPOLLIN | EpollEvents.EPOLLET, this);
        }

        @Override
        public void onEvents(int bits) {
            accept();
        }

        /** Accepts all waiting connections, because their arrival is reported only once. */
        void accept() {
            boolean isDone = false;
            try {
                acceptAll();
                isDone = true;
            } finally {
                if (!isDone && !isOver) {
                    // An Error has ended this, in the middle of the queue perhaps.
                    rest(this);
                }
            }
        }

        private void acceptAll() {
            while (!isOver) {
                int accepted = calls.accept(socket);
                if (accepted >= 0) {
                    begin(accepted);
                } else if (accepted == -LinuxCalls.EAGAIN) {
                    return;
                } else if (!isOfOneConnection(-accepted)) {
                    onRefused(-accepted);
                    return;
                }
                // Otherwise the system has taken the connection off its queue, so the loop comes to an end.
            }
        }

        /** A client that waits to be accepted continues to wait. */
        private void onRefused(int errno) {
            rest(this);
            if (!isOutOfResources(errno) && !hasWarned) {
                // It may be for good: a security module, a filter of system calls.
                hasWarned = true;
                LOG.log(System.Logger.Level.WARNING,
                        "no connection can be accepted at {0}: accept4: {1}; it is tried again every"
                                + " {2} ms",
                        StreamRefusal.text(local), SystemErrors.text(errno), REST_NS / 1_000_000);
            }
        }

        private void begin(int accepted) {
            LinuxStream stream;
            try {
                stream = new LinuxStream(LinuxStreams.this, accepted, calls.remote(accepted));
                stream.watch(false);
            } catch (LinuxSocket.Refused itsPeerHasGone) {
                LinuxCalls.close(accepted);
                return;
            }
            handler.onStream(stream);
        }

        @Override
        public InetSocketAddress local() {
            return local;
        }

        @Override
        public void close() {
            if (!isOver) {
                isOver = true;
                resting.remove(this);
                watchers.remove(key);
                LinuxCalls.close(socket);
            }
        }
    }

    /**
     * {@return whether an error of accept4 means that one connection has ended before it was accepted} All others concern
     * the listener, and may come again at once and for ever. Source: accept(2), the errors of TCP.
     */
    private static boolean isOfOneConnection(int errno) {
        return switch (errno) {
            case LinuxCalls.ECONNABORTED, LinuxCalls.EINTR, LinuxCalls.EPROTO,
                    LinuxCalls.ENETDOWN, LinuxCalls.ENETUNREACH, LinuxCalls.ENONET,
                    LinuxCalls.EHOSTDOWN, LinuxCalls.EHOSTUNREACH, LinuxCalls.ETIMEDOUT,
                    LinuxCalls.ENOPROTOOPT, LinuxCalls.EOPNOTSUPP ->
                true;
            default -> false;
        };
    }

    private static boolean isOutOfResources(int errno) {
        return switch (errno) {
            case LinuxCalls.EMFILE, LinuxCalls.ENFILE, LinuxCalls.ENOBUFS, LinuxCalls.ENOMEM ->
                true;
            default -> false;
        };
    }

    @Override
    public StreamListener listen(InetSocketAddress at, int backlog, StreamListener.Handler handler)
            throws RdmaException {
        int socket = -1;
        try {
            socket = LinuxSocket.Refused.unlessDone(calls.socket(family(at)), "socket");
            calls.setOption(socket, SOL_SOCKET, SO_REUSEADDR, 1);
            LinuxSocket.Refused.unlessDone(calls.bind(socket, at), "bind");
            LinuxSocket.Refused.unlessDone(calls.listen(socket, backlog), "listen");
            return new Listener(socket, handler);
        } catch (LinuxSocket.Refused e) {
            close(socket);
            throw refusal("listen", at, e);
        }
    }

    private static void close(int socket) {
        if (socket >= 0) {
            LinuxCalls.close(socket);
        }
    }

    /** Ignores a listener for a while, because the system gives none of its waiting connections. */
    private void rest(Listener listener) {
        if (resting.isEmpty()) {
            // The first one's rest is not made longer by others.
            restEndsNs = System.nanoTime() + REST_NS;
        }
        resting.add(listener);
    }

    private void endRest() {
        if (restEndsNs == Long.MAX_VALUE || restEndsNs - System.nanoTime() > 0) {
            return;
        }
        for (Listener each : List.copyOf(resting)) {
            // It may have to rest again; those behind it rest until it is their turn.
            resting.remove(each);
            each.accept();
        }
        restEndsNs = resting.isEmpty() ? Long.MAX_VALUE : System.nanoTime() + REST_NS;
    }

    // ---------------------------------------------------------------- connecting

    @Override
    public Stream connect(@Nullable InetSocketAddress source, InetSocketAddress destination)
            throws RdmaException {
        int socket = -1;
        try {
            socket = LinuxSocket.Refused.unlessDone(calls.socket(family(destination)), "socket");
            LinuxStream stream = new LinuxStream(this, socket, destination);
            if (source != null) {
                calls.setOption(socket, SOL_SOCKET, SO_REUSEADDR, 1);
                LinuxSocket.Refused.unlessDone(calls.bind(socket, source), "bind");
            }
            connect(stream, calls.connect(socket, destination));
            return stream;
        } catch (LinuxSocket.Refused e) {
            close(socket);
            // Without a requested address, the error is not about an address.
            throw source == null && e.errno() == LinuxCalls.EADDRNOTAVAIL
                    ? StreamRefusal.noPortLeft("connect", e)
                    : refusal("connect", source == null ? destination : source, e);
        }
    }

    /** @param outcome the result of connect(2) */
    private void connect(LinuxStream stream, int outcome) throws LinuxSocket.Refused {
        switch (-outcome) {
            case 0, LinuxCalls.EINPROGRESS -> stream.watch(true);
            case LinuxCalls.EADDRINUSE, LinuxCalls.EADDRNOTAVAIL ->
                throw new LinuxSocket.Refused(-outcome, "connect");
            default -> {
                // Reported in the next round.
                refused.add(new Refused(stream, -outcome));
                onDue();
            }
        }
    }

    // ---------------------------------------------------------------- for streams

    TcpCalls calls() {
        return calls;
    }

    /** {@return memory for the length of a call} */
    ByteBuffer between() {
        return between;
    }

    /** {@return the address of a buffer to send from} */
    BufferAddress sent() {
        return sent;
    }

    /** {@return the address of a buffer to receive into} */
    BufferAddress received() {
        return received;
    }

    /** Registers a watcher for the events of a socket. {@return the number to remove it with} */
    long watch(int socket, int bits, Watchers.Watcher watcher) throws LinuxSocket.Refused {
        long key = watchers.add(watcher);
        try {
            poller.watch(socket, bits, key);
            return key;
        } catch (LinuxSocket.Refused e) {
            watchers.remove(key);
            throw e;
        }
    }

    /** A stream is about to be closed. */
    void forget(LinuxStream stream, long key) {
        if (stream.equals(busy)) {
            busy = null;
        }
        hasHappened = true;
        watchers.remove(key);
    }

    /** A stream has had something to read. */
    void onRead(LinuxStream stream) {
        busy = stream;
        hasHappened = true;
    }

    /** A stream was not read to its end. */
    void onUnread(LinuxStream stream) {
        if (!unread.contains(stream)) {
            unread.add(stream);
        }
        isDue = true;
    }

    // ---------------------------------------------------------------- working

    @Override
    public boolean poll() {
        hasHappened = false;
        if (isClosed) {
            return false;
        }
        endRest();
        if (isDue) {
            lookAtDue();
        }
        report();
        if (isClosed) {
            return hasHappened;
        }
        poller.take(events);
        nextEvent = 0;
        report();
        return hasHappened;
    }

    /** Reports the events that were taken and not reported yet: those behind one whose handler has thrown an error are left. */
    private void report() {
        try {
            // A handler may close this network.
            while (nextEvent < events.count && !isClosed) {
                int next = nextEvent++;
                Watchers.Watcher watcher = watchers.find(events.key(next));
                if (watcher != null) {
                    hasHappened = true;
                    watcher.onEvents(events.bits(next));
                }
            }
        } finally {
            // The epoll set reports them only once.
            if (nextEvent < events.count) {
                isDue = true;
            }
        }
    }

    private void lookAtDue() {
        isDue = false;
        hasHappened = true;
        if (!refused.isEmpty()) {
            List<Refused> now = List.copyOf(refused);
            refused.clear();
            now.forEach(each -> each.stream.refuse(each.errno));
        }
        List<LinuxStream> now = unread;
        unread = readAgain;
        readAgain = now;
        int looked = 0;
        try {
            while (looked < now.size()) {
                now.get(looked++).onReadable();
            }
        } finally {
            // A handler that has thrown an error keeps no other stream from being read.
            while (looked < now.size()) {
                onUnread(now.get(looked++));
            }
            now.clear();
        }
    }

    @Override
    public boolean pollBriefly() {
        LinuxStream last = busy;
        if (last == null || last.isWriteWanted() || isDue || isClosed) {
            return poll();
        }
        hasHappened = false;
        last.onReadable();
        return hasHappened;
    }

    /** Wakes the thread that sleeps or is about to, so that the network is polled. */
    private void onDue() {
        isDue = true;
        poller.wake();
    }

    @Override
    public void await(long timeoutNs) {
        if (isClosed) {
            return;
        }
        boolean isResting = restEndsNs != Long.MAX_VALUE;
        long mostNs = isResting ? Math.min(timeoutNs, REST_NS) : timeoutNs;
        poller.await(isDue ? 0 : mostNs);
    }

    @Override
    public boolean canAwait(Selector selector) {
        return SelectorDescriptors.find(selector) >= 0;
    }

    @Override
    public boolean await(long timeoutNs, Selector selector) {
        poller.awaitAlso(SelectorDescriptors.known(selector));
        if (timeoutNs > 0) {
            await(timeoutNs);
        }
        return poller.endAlso();
    }

    @Override
    public void wake() {
        poller.wake();
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        for (Watchers.Watcher each : watchers.all()) {
            if (each instanceof LinuxStream stream) {
                stream.reset();
            } else if (each instanceof Listener listener) {
                listener.close();
            }
        }
        refused.forEach(each -> each.stream.close());
        isClosed = true;
        poller.close();
        // No thread waits any more, and one that wakes others sees that the poller is closed.
        arena.close();
    }
}
