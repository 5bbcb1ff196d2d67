// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.softnic.network.Selectors;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.spi.SocketErrors;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Byte streams by the JDK's channels.
 *
 * <p>All channels are registered with two selectors. The thread that drives the network polls one, while another thread may
 * sleep in the other. A channel is really closed only when both selectors have selected once more.
 */
public final class PortableStreams implements StreamNetwork {
    private static final System.Logger LOG = System.getLogger(PortableStreams.class.getName());
    private static final long REST_NS = 100_000_000;

    private final Selector ready;
    private final Selector sleeper;
    /** Created once, so that a poll allocates nothing. */
    private final Consumer<SelectionKey> takeReady = this::onReady;
    private final ReentrantLock sleeping = new ReentrantLock();
    private volatile boolean isWoken;
    /** Streams of which it was known at once whether they are connected. */
    private final List<NioStream> decided = new ArrayList<>();
    /** Listeners that are left alone until then. */
    private final Set<Listener> resting = new LinkedHashSet<>();
    private volatile long restEndsNs = Long.MAX_VALUE;
    /** The stream that had something to read last. */
    private @Nullable NioStream busy;
    private boolean hasHappened;
    /** The selectors have to remove a closed channel. */
    private volatile boolean hasClosed;
    private volatile boolean isClosed;

    /**
     * @throws RdmaException as {@link Selectors#open}, ENOMEM if there is no native memory
     */
    public PortableStreams() throws RdmaException {
        Selector first = null;
        try {
            first = Selectors.open();
            ready = first;
            sleeper = Selectors.open();
        } catch (RdmaException e) {
            closeQuietly(first);
            throw e;
        } catch (OutOfMemoryError none) {
            closeQuietly(first);
            throw MemoryErrors.outOfMemory("open device", none);
        }
    }

    static void closeQuietly(@Nullable AutoCloseable closing) {
        if (closing != null) {
            try {
                closing.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }

    static StandardProtocolFamily family(InetSocketAddress address) {
        return address.getAddress() instanceof Inet4Address
                ? StandardProtocolFamily.INET
                : StandardProtocolFamily.INET6;
    }

    // ---------------------------------------------------------------- listening

    private final class Listener implements StreamListener {
        private final ServerSocketChannel channel;
        private final InetSocketAddress local;
        private final Handler handler;
        private boolean hasWarned;

        Listener(ServerSocketChannel channel, Handler handler) throws IOException {
            this.channel = channel;
            this.handler = handler;
            local = (InetSocketAddress) channel.getLocalAddress();
        }

        /** {@return whether it has accepted all that wait} If not, it rests. */
        boolean accept() {
            try {
                for (SocketChannel accepted = channel
                        .accept(); accepted != null; accepted = channel.accept()) {
                    begin(accepted);
                }
                return true;
            } catch (IOException outOfDescriptorsOrClosed) {
                // A client that waits for this connection continues to wait, or learns that no program listens any
                // more.
                rest(this);
                warnOf(outOfDescriptorsOrClosed);
                return false;
            }
        }

        private void warnOf(IOException e) {
            int number = SocketErrors.numberOf(e);
            if (channel.isOpen() && !hasWarned && number != Errno.EMFILE.number()
                    && number != Errno.ENFILE.number()) {
                // It may be for good: a security module, a filter of system calls.
                hasWarned = true;
                LOG.log(System.Logger.Level.WARNING,
                        "no connection can be accepted at {0}: accept: {1}; it is tried again every"
                                + " {2} ms",
                        StreamRefusal.text(local), e.getMessage(), REST_NS / 1_000_000);
            }
        }

        private void begin(SocketChannel accepted) {
            NioStream stream;
            try {
                stream = new NioStream(PortableStreams.this, accepted,
                        (InetSocketAddress) accepted.getRemoteAddress());
                stream.configure();
                stream.watch(SelectionKey.OP_READ);
            } catch (IOException itsPeerHasGone) {
                closeQuietly(accepted);
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
            resting.remove(this);
            closeQuietly(channel);
            forgetClosed();
        }
    }

    @Override
    public StreamListener listen(InetSocketAddress at, int backlog, StreamListener.Handler handler)
            throws RdmaException {
        ServerSocketChannel channel = null;
        try {
            channel = JdkProvider.provider().openServerSocketChannel(family(at));
            channel.configureBlocking(false);
            channel.bind(at, backlog);
            Listener listener = new Listener(channel, handler);
            register(channel, SelectionKey.OP_ACCEPT, listener);
            return listener;
        } catch (IOException e) {
            closeQuietly(channel);
            throw StreamRefusal.of("listen", at, e);
        }
    }

    /**
     * Ignores a listener for a while: the system has no file descriptors for its waiting connections and would report them
     * again and again.
     */
    private void rest(Listener listener) {
        if (listener.channel.isOpen() && !resting.contains(listener)) {
            interest(listener.channel, 0);
            if (resting.isEmpty()) {
                // The first one's rest is not made longer by others.
                restEndsNs = System.nanoTime() + REST_NS;
            }
            resting.add(listener);
        }
    }

    private void endRest() {
        if (restEndsNs == Long.MAX_VALUE || restEndsNs - System.nanoTime() > 0) {
            return;
        }
        for (Listener each : List.copyOf(resting)) {
            // Tried first: a change of what it is registered for wakes the thread that sleeps, each time.
            if (each.accept()) {
                resting.remove(each);
                interest(each.channel, SelectionKey.OP_ACCEPT);
            }
        }
        restEndsNs = resting.isEmpty() ? Long.MAX_VALUE : System.nanoTime() + REST_NS;
    }

    // ---------------------------------------------------------------- connecting

    @Override
    public Stream connect(@Nullable InetSocketAddress source, InetSocketAddress destination)
            throws RdmaException {
        SocketChannel channel = null;
        try {
            channel = JdkProvider.provider().openSocketChannel(family(destination));
            NioStream stream = new NioStream(this, channel, destination);
            stream.configure();
            if (source != null) {
                channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
                channel.bind(source);
            }
            stream.connect();
            return stream;
        } catch (IOException e) {
            closeQuietly(channel);
            // Without a requested address, the error is not about an address.
            throw source == null && e instanceof BindException
                    ? StreamRefusal.noPortLeft("connect", e)
                    : StreamRefusal.of("connect", source == null ? destination : source, e);
        }
    }

    // ---------------------------------------------------------------- for streams

    /** Registers a channel with both selectors, for a kind of event. */
    void register(SelectableChannel channel, int interest, Object attachment) throws IOException {
        channel.register(ready, interest, attachment);
        channel.register(sleeper, interest, attachment);
        sleeper.wakeup();
    }

    /** Changes the events that a channel is registered for. */
    void interest(SelectableChannel channel, int interest) {
        SelectionKey own = channel.keyFor(ready);
        SelectionKey other = channel.keyFor(sleeper);
        if (own != null && own.isValid() && other != null && other.isValid()) {
            own.interestOps(interest);
            other.interestOps(interest);
            sleeper.wakeup();
        }
    }

    /** The next round reports whether a stream is connected. */
    void onDecided(NioStream stream) {
        decided.add(stream);
    }

    /** A channel is closed: both selectors remove it in the next round. */
    void forgetClosed() {
        busy = null;
        hasHappened = true;
        hasClosed = true;
    }

    private void letGoOfClosed() {
        hasClosed = false;
        look();
        if (!sleeping.tryLock()) {
            // The sleeping thread's selector removes it when it wakes.
            sleeper.wakeup();
            return;
        }
        try {
            sleeper.selectNow(PortableStreams::leaveToDriver);
            if (isWoken) {
                // That was for the next thread that sleeps.
                sleeper.wakeup();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            sleeping.unlock();
        }
    }

    // ---------------------------------------------------------------- working

    @Override
    public boolean poll() {
        hasHappened = false;
        if (isClosed) {
            return false;
        }
        endRest();
        if (!decided.isEmpty()) {
            hasHappened = true;
            List<NioStream> now = List.copyOf(decided);
            decided.clear();
            now.forEach(NioStream::finishConnecting);
        }
        if (hasClosed) {
            letGoOfClosed();
        } else {
            look();
        }
        return hasHappened;
    }

    @Override
    public boolean pollBriefly() {
        NioStream last = busy;
        if (last == null || last.isWriteWanted() || hasClosed || isClosed || !decided.isEmpty()) {
            return poll();
        }
        hasHappened = false;
        last.onReadable();
        return hasHappened;
    }

    /** A stream has had something to read. */
    void onRead(NioStream stream) {
        busy = stream;
        hasHappened = true;
    }

    private void look() {
        try {
            ready.selectNow(takeReady);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void onReady(SelectionKey key) {
        if (!key.isValid()) {
            return;
        }
        hasHappened = true;
        if (key.attachment() instanceof Listener listener) {
            listener.accept();
        } else if (key.attachment() instanceof NioStream stream) {
            stream.onReady(key.readyOps());
        }
    }

    @Override
    public void await(long timeoutNs) {
        if (isClosed) {
            return;
        }
        sleeping.lock();
        try {
            boolean wasWoken = isWoken;
            isWoken = false;
            if (timeoutNs <= 0 || wasWoken || hasClosed) {
                sleeper.selectNow(PortableStreams::leaveToDriver);
            } else {
                long timeout = restEndsNs == Long.MAX_VALUE ? timeoutNs
                        : Math.min(timeoutNs, REST_NS);
                // Zero would mean without end, and a millisecond is the shortest possible wait.
                sleeper.select(PortableStreams::leaveToDriver,
                        timeout == Long.MAX_VALUE ? 0 : Math.max(1, timeout / 1_000_000));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            sleeping.unlock();
        }
    }

    private static void leaveToDriver(SelectionKey key) {
        // The thread that drives the network looks by itself.
    }

    @Override
    public void wake() {
        isWoken = true;
        sleeper.wakeup();
    }

    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        for (SelectionKey key : List.copyOf(ready.keys())) {
            if (key.attachment() instanceof NioStream stream) {
                stream.reset();
            } else {
                closeQuietly(key.channel());
            }
        }
        closeQuietly(ready);
        closeQuietly(sleeper);
    }
}
