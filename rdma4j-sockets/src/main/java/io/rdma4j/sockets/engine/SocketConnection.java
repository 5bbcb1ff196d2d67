// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.sockets.observe.jfr.SocketEvents;
import io.rdma4j.sockets.observe.jmx.SocketConnectionData;
import io.rdma4j.sockets.protocol.ConnectionData;
import io.rdma4j.sockets.protocol.RsocketException;
import io.rdma4j.sockets.protocol.RsocketStream;
import io.rdma4j.sockets.protocol.StreamSettings;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One stream on a queue pair, from the moment its id has a device until it is freed. It is made by a {@link SocketConnector} or a
 * {@link SocketListener}.
 *
 * <p>Thread safe, but one thread at a time reads and one writes. Only the engine's thread frees it. It has one lock, under which its parts do their work: {@link
 * ConnectionProgress} handles what completes, {@link StreamInput} and {@link StreamOutput} copy, {@link ConnectionEnd} ends it.
 */
public final class SocketConnection
        implements
            EngineEvents.CompletionUser,
            EngineEvents.EventUser,
            OpenSockets.Stream {
    /** For ever: a peer that has no receive is busy, not gone. */
    private static final int RNR_RETRIES = 7;
    private static final int RETRIES = 7;

    private final SocketEngine engine;
    private final CmId id;
    private final Observer observer;
    private final StreamSettings settings;
    private final StreamMemory memory;
    private final StreamQueue queue;

    /** Whether this side has asked for it. Of the engine's thread. */
    private boolean hasConnected;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition readable = lock.newCondition();
    private final Condition writable = lock.newCondition();
    private final ConnectionState state = new ConnectionState();
    private final ConnectionProgress progress;
    private final Copying copying;
    private final StreamInput input;
    private final StreamOutput output;
    private final OwnMappings mapped = new OwnMappings();
    private final PeerProbes probes;
    private final ConnectionEnd end;
    private final ShownConnection shown;
    private final ConnectionWait wait;
    private final ConnectionWait.Done isReadable = state::isReadable;
    private final ConnectionWait.Done isWritable = state::isWritable;
    private ReadinessListener listener = ReadinessListener.NONE;

    /** What is told of the beginning and of the end. */
    interface Observer {
        /** Bytes may be sent and received. Under the lock of the connection. */
        void onEstablished(SocketConnection connection);

        /** It has ended before it was established. Under the lock of the connection. */
        void onRefused(SocketConnection connection, IOException why);

        /** Everything is freed. */
        void onFreed(SocketConnection connection);
    }

    /** What its parts ask of it. */
    private final class OfParts implements ConnectionProgress.User, ConnectionEnd.Steps {
        @Override
        public void onFirstMessage() {
            SocketConnection.this.establish();
        }

        @Override
        public void onProgress() {
            SocketConnection.this.signal();
        }

        @Override
        public void onLie() {
            engine.execute(this::disconnect);
        }

        @Override
        public void disconnect() {
            SocketConnection.this.disconnect();
        }

        @Override
        public void free() {
            SocketConnection.this.free();
        }
    }

    /** @param id has a device; it belongs to the connection, unless this throws */
    SocketConnection(SocketEngine engine, CmId id, SocketSettings wanted, Observer observer)
            throws RdmaException {
        this.engine = engine;
        this.id = id;
        this.observer = observer;
        settings = wanted.on(id.context());
        memory = new StreamMemory(id.protectionDomain(), settings, engine.largerBuffers());
        queue = queue();
        OfParts parts = new OfParts();
        progress = new ConnectionProgress(state, queue, memory, parts);
        copying = new Copying(engine, progress, parts::free);
        BufferGrowth growth = new BufferGrowth(memory, wanted);
        input = new StreamInput(engine, lock, state, progress, memory, growth, copying);
        probes = new PeerProbes(engine, lock, state, progress,
                wanted.keepalive() ? wanted.keepaliveSeconds() : 0);
        output = new StreamOutput(engine, lock, state, progress, queue, memory, growth, probes,
                copying);
        shown = new ShownConnection(state, settings, id, queue.queuePair().number(),
                wanted.rule());
        end = new ConnectionEnd(engine, lock, state, copying, shown, parts);
        wait = new ConnectionWait(engine, lock);
    }

    private StreamQueue queue() throws RdmaException {
        StreamQueue made = null;
        try {
            made = new StreamQueue(engine, id, this, settings, memory);
            made.postReceives();
            return made;
        } catch (RdmaException | RuntimeException e) {
            if (made != null) {
                made.close();
            }
            memory.close();
            throw e;
        }
    }

    // ---------------------------------------------------------------- what it is

    public InetSocketAddress localAddress() {
        return shown.localAddress();
    }

    public InetSocketAddress peerAddress() {
        return shown.peerAddress();
    }

    /** {@return what it has on its device} */
    public StreamSettings settings() {
        return settings;
    }

    @Override
    public @Nullable SocketConnectionData data() {
        lock.lock();
        try {
            return shown.data(probes.keepaliveSeconds());
        } finally {
            lock.unlock();
        }
    }

    /** {@return what events tell of it} */
    SocketEvents.Ends ends() {
        return shown.ends();
    }

    /** The application has accepted it. */
    void recordAccept() {
        shown.recordAccept();
    }

    // ---------------------------------------------------------------- the beginning

    private byte[] connectionData() {
        return RsocketStream.connectionData(settings, memory.slots(), memory.receiveBuffer())
                .encode();
    }

    /** Asks the peer. */
    void connect() throws RdmaException {
        engine.open().add(this);
        hasConnected = true;
        id.userContext(this);
        // As librdmacm's sockets, whose iWARP devices need a READ to begin a connection.
        int reads = settings.hasImmediates() ? 0 : 1;
        id.connect(new ConnectionParameters().privateData(connectionData()).flowControl(true)
                .retryCount(RETRIES).rnrRetryCount(RNR_RETRIES).responderResources(0)
                .initiatorDepth(reads));
    }

    /** Answers the peer. */
    void accept(ConnectionParameters asked, ConnectionData peer) throws RdmaException {
        engine.open().add(this);
        lock.lock();
        try {
            shown.onAccepting();
            begin(peer);
            id.userContext(this);
            queue.requestNotification();
            id.accept(new ConnectionParameters(asked).privateData(connectionData()));
        } finally {
            lock.unlock();
        }
    }

    private void begin(ConnectionData peer) {
        queue.onPeer(peer);
        state.begin(new RsocketStream(settings, memory.receiveBuffer(), peer));
    }

    @Override
    public void onEvent(CmEvent event) {
        lock.lock();
        try {
            switch (event.type()) {
                case ESTABLISHED -> onEstablished(event);
                case REJECTED, UNREACHABLE, CONNECT_ERROR -> {
                    if (state.isConnecting()) {
                        refuse(event.failure("connect"));
                    }
                }
                case DISCONNECTED -> onEnded("Connection reset");
                case DEVICE_REMOVAL -> onEnded("Connection reset: its device is gone");
                default -> {
                    // Waiting times and changed addresses: an existing connection goes on.
                }
            }
        } finally {
            lock.unlock();
        }
    }

    private void onEstablished(CmEvent event) {
        if (!state.isConnecting() || state.isClosing()) {
            return;
        }
        try {
            if (state.stream() == null) {
                begin(ConnectionData.decode(event.privateData()));
            }
            establish();
            progress.process(true);
        } catch (RsocketException e) {
            refuse(e);
        }
    }

    private void establish() {
        state.establish();
        shown.onEstablished();
        probes.start();
        observer.onEstablished(this);
    }

    private void refuse(IOException why) {
        state.refuse(why);
        observer.onRefused(this, why);
        close(0);
    }

    private void onEnded(String reset) {
        if (state.isConnecting() && !state.isClosing()) {
            refuse(new SocketException(reset));
            return;
        }
        RsocketStream open = state.stream();
        if (state.isFreed() || open == null) {
            return;
        }
        // What came before the end counts.
        progress.process(false);
        open.onConnectionEnded();
        if (open.wasReset()) {
            state.reset(reset);
        }
        state.breakOff();
        signal();
    }

    /**
     * Probes an idle peer from now on.
     *
     * @param seconds after which time, and how often; 0 not to
     */
    public void keepalive(int seconds) {
        lock.lock();
        try {
            probes.keepalive(seconds);
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- progress

    @Override
    public void onCompletions() {
        lock.lock();
        try {
            progress.look(true);
        } finally {
            lock.unlock();
        }
    }

    private void signal() {
        boolean hasInput = state.isReadable();
        boolean hasOutput = state.isWritable();
        if (hasInput) {
            readable.signalAll();
        }
        if (hasOutput || state.isMappedWritable()) {
            writable.signalAll();
        }
        if (hasInput || hasOutput) {
            listener.onReady(hasInput, hasOutput);
        }
        wait.signal();
        end.leaveIfEnded();
        end.freeIfOver();
    }

    // ---------------------------------------------------------------- reading and writing

    /**
     * Reads what is there.
     *
     * @param to buffers with room, which move on
     * @param wanted how many bytes they have room for, from {@code first} on
     * @return how many bytes were read; 0 if none are there, -1 if none will come
     * @throws IOException if the connection was reset or lost, and its bytes are read
     */
    public long read(ByteBuffer[] to, int first, long wanted) throws IOException {
        lock.lock();
        try {
            return input.read(to, first, wanted, listener.isSelected());
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until something can be read, or nothing will come. An interrupted thread returns at once; but one that sleeps, and
     * does not lead, only if the connection is closed.
     *
     * @param timeoutNs {@link Long#MAX_VALUE} to wait without limit
     */
    public void awaitReadable(long timeoutNs) {
        wait.await(readable, isReadable, timeoutNs);
    }

    /**
     * Writes as much as is possible now.
     *
     * @param from buffers, which move on by what was written
     * @param wanted how many bytes they have, from {@code first} on
     * @return how many bytes were written
     * @throws IOException if the connection was reset or lost, or the peer has closed it
     */
    public long write(ByteBuffer[] from, int first, long wanted) throws IOException {
        lock.lock();
        try {
            return output.write(from, first, wanted);
        } finally {
            lock.unlock();
        }
    }

    /** Waits until something can be written, or nothing can any more. As {@link #awaitReadable}. */
    public void awaitWritable(long timeoutNs) {
        wait.await(writable, isWritable, timeoutNs);
    }

    // ---------------------------------------------------------------- mappings

    /**
     * Lets the peer write memory at any time.
     *
     * @throws IOException if the peer keeps no more mappings, or the memory cannot be registered
     */
    public void map(long offset, MemorySegment segment) throws IOException {
        lock.lock();
        try {
            RsocketStream open = state.requireOpen();
            state.requireOutput(open);
            mapped.add(open, id.protectionDomain(), offset, segment);
            progress.process(false);
        } finally {
            lock.unlock();
        }
    }

    /** Ends that. */
    public void unmap(long offset) throws IOException {
        lock.lock();
        try {
            mapped.remove(state.requireOpen(), offset);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Writes to memory that the peer has mapped, as much as is possible now. As {@link #write}.
     *
     * @throws IOException also if the peer has mapped nothing there
     */
    public int writeMapped(ByteBuffer[] from, int wanted, long offset) throws IOException {
        lock.lock();
        try {
            return output.writeMapped(from, wanted, offset);
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #awaitWritable}. */
    public void awaitMappedWritable(long timeoutNs) {
        wait.await(writable, state::isMappedWritable, timeoutNs);
    }

    // ---------------------------------------------------------------- waiting

    /** Tells from now on when a read or a write does not wait. */
    public void listener(ReadinessListener told) {
        lock.lock();
        try {
            listener = told;
        } finally {
            lock.unlock();
        }
    }

    /** Handles what has completed. With it the calling thread runs a software device, whose other connections get events. */
    public void poll() {
        lock.lock();
        try {
            progress.look(false);
        } finally {
            lock.unlock();
        }
    }

    /** {@return how many bytes can be read without a wait} */
    public int available() {
        lock.lock();
        try {
            RsocketStream open = state.stream();
            return open == null || state.isFreed() ? 0 : open.readable();
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether a read does not wait} */
    public boolean hasInput() {
        return wait.holds(isReadable);
    }

    /** {@return whether a write does not wait} */
    public boolean hasOutput() {
        return wait.holds(isWritable);
    }

    // ---------------------------------------------------------------- the end

    /** Ends the output; what was written still leaves. */
    public void shutdownOutput() {
        lock.lock();
        try {
            RsocketStream open = state.stream();
            state.endOutput();
            if (open != null) {
                open.shutdownOutput();
                progress.process(false);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends the input; what comes is dropped. */
    public void shutdownInput() {
        lock.lock();
        try {
            RsocketStream open = state.stream();
            if (open != null) {
                copying.shutdownInput(open);
                progress.process(false);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Ends the connection and wakes who waits; what was written still leaves. Idempotent.
     *
     * @param lingerSeconds how long that may take; 0 to drop it; negative for a limit that is not the application's
     */
    public void close(int lingerSeconds) {
        lock.lock();
        try {
            if (state.isClosing()) {
                return;
            }
            end.close(lingerSeconds);
            progress.process(false);
            signal();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until both sides know that the peer has everything, or the connection has ended otherwise.
     *
     * @param lingerSeconds how long at most; negative to wait as long as bytes go on to arrive
     * @return whether that came in time
     */
    public boolean awaitOver(int lingerSeconds) {
        return end.awaitOver(lingerSeconds);
    }

    private void disconnect() {
        try {
            id.disconnect();
        } catch (RdmaException _) {
            // It is over already, or never stood.
        }
    }

    private void free() {
        lock.lock();
        try {
            if (!copying.mayFree()) {
                return;
            }
            state.free();
            probes.cancel();
            end.cancel();
        } finally {
            lock.unlock();
        }
        disconnect();
        mapped.close();
        if (hasConnected) {
            engine.keptDevices().onEnd(id);
        }
        Freeing.all(queue::close, memory::close, id::close);
        engine.open().remove(this);
        observer.onFreed(this);
    }

    @Override
    public String toString() {
        return shown.toString();
    }
}
