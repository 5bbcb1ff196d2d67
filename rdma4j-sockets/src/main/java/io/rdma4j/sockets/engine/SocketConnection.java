// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.sockets.observe.jfr.SocketEvents;
import io.rdma4j.sockets.observe.jfr.SocketEvents.End;
import io.rdma4j.sockets.observe.jmx.SocketConnectionData;
import io.rdma4j.sockets.protocol.ConnectionData;
import io.rdma4j.sockets.protocol.Mapping;
import io.rdma4j.sockets.protocol.Message;
import io.rdma4j.sockets.protocol.RemoteRange;
import io.rdma4j.sockets.protocol.RsocketException;
import io.rdma4j.sockets.protocol.RsocketStream;
import io.rdma4j.sockets.protocol.StreamFigures;
import io.rdma4j.sockets.protocol.StreamSettings;
import io.rdma4j.sockets.protocol.Transmission;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One stream on a queue pair, from the moment its id has a device until it is freed. It is made by a {@link SocketConnector} or a
 * {@link SocketListener}.
 *
 * <p>Thread safe, but one thread at a time reads and one writes. Only the engine's thread frees it.
 */
public final class SocketConnection
        implements
            SocketEngine.CompletionUser,
            SocketEngine.EventUser,
            OpenSockets.Stream {
    /** How long the last bytes of a closed connection may take if its application does not say. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** How long messages of a peer that has ended are answered; longer than it waits before it repeats one. */
    private static final Duration LAST_ANSWERS = Duration.ofSeconds(10);
    /** How long the application waits for credits before the peer is asked whether it lives, and how often then. */
    private static final Duration STARVED = Duration.ofSeconds(10);
    /** For ever: a peer that has no receive is busy, not gone. */
    private static final int RNR_RETRIES = 7;
    private static final int RETRIES = 7;

    private enum Phase {
        CONNECTING, ESTABLISHED, FREED
    }

    private final SocketEngine engine;
    private final CmId id;
    private final Observer observer;
    private final String device;
    private final InetSocketAddress localAddress;
    private final InetSocketAddress peerAddress;
    private final StreamSettings settings;
    private final StreamMemory memory;
    private final StreamQueue queue;
    private final int queuePair;

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition readable = lock.newCondition();
    private final Condition writable = lock.newCondition();
    private final Condition over = lock.newCondition();
    private final Transmission out = new Transmission();
    private final CompletionHandler handler = this::onCompletion;
    private final ConnectionWait wait;
    private final ConnectionWait.Done isReadable = this::isReadable;
    private final ConnectionWait.Done isWritable = this::isWritable;
    private Phase phase = Phase.CONNECTING;
    private @Nullable RsocketStream stream;
    private @Nullable IOException failure;
    /** Nothing can be sent or will come any more. */
    private boolean isBroken;
    /** The peer has broken the protocol, and is not listened to any more. */
    private boolean hasLied;
    private boolean isClosing;
    private boolean wasAccepted;
    private boolean wasClosedByPeer;
    private boolean isAborted;
    private boolean isGivenUp;
    /** When it was established. */
    private long establishedNs;
    /** Everything that was written is acknowledged, or lost. */
    private boolean isOver;
    private boolean isFreeing;
    /** It was ended for the connection manager, though the application has not closed it. */
    private boolean hasLeft;
    /** A thread copies from or to the memory, without the lock. */
    private boolean isReading;
    private boolean isWriting;
    /** Whether a buffer may still become larger. */
    private boolean mayGrowInput;
    private boolean mayGrowOutput;
    /** The last write has written a part. The next one is the rest of it, for which the messages need not begin short again. */
    private boolean hasStalled;
    /** The last read has found bytes. */
    private boolean hasJustRead;
    private ReadinessListener listener = ReadinessListener.NONE;
    /** What the end of the copying is waited for with. */
    private boolean owesInputShutdown;
    private boolean owesDisconnect;
    private boolean owesFreeing;
    private final OwnMappings mapped = new OwnMappings();
    private int keepaliveSeconds;
    private int keepaliveChanges;
    /** What is scheduled for it, which holds it until it is cancelled. */
    private SocketEngine.@Nullable Timer probing;
    private SocketEngine.@Nullable Timer starving;
    private SocketEngine.@Nullable Timer closing;
    private SocketEngine.@Nullable Timer answering;
    /** Whether the peer has shown that it lives since the last look. */
    private boolean hasMoved;

    /** What is told of the beginning and of the end. */
    interface Observer {
        /** Bytes may be sent and received. Under the lock of the connection. */
        void onEstablished(SocketConnection connection);

        /** It has ended before it was established. Under the lock of the connection. */
        void onRefused(SocketConnection connection, IOException why);

        /** Everything is freed. */
        void onFreed(SocketConnection connection);
    }

    /** @param id has a device; it belongs to the connection, unless this throws */
    SocketConnection(SocketEngine engine, CmId id, SocketSettings wanted, Observer observer)
            throws RdmaException {
        this.engine = engine;
        this.id = id;
        this.observer = observer;
        wait = new ConnectionWait(engine, lock);
        device = id.context().device().name();
        localAddress = id.localAddress();
        peerAddress = id.peerAddress();
        settings = wanted.on(id.context());
        keepaliveSeconds = wanted.keepalive() ? wanted.keepaliveSeconds() : 0;
        mayGrowInput = wanted.growsReceive();
        mayGrowOutput = wanted.growsSend();
        memory = new StreamMemory(id.protectionDomain(), settings, engine.largerBuffers());
        queue = queue();
        queuePair = queue.queuePair().number();
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
        return localAddress;
    }

    public InetSocketAddress peerAddress() {
        return peerAddress;
    }

    /** {@return what it has on its device} */
    public StreamSettings settings() {
        return settings;
    }

    // ---------------------------------------------------------------- what it shows

    @Override
    public @Nullable SocketConnectionData data() {
        lock.lock();
        try {
            if (phase == Phase.FREED) {
                return null;
            }
            StreamFigures figures = figures();
            return new SocketConnectionData(device, queuePair,
                    wasAccepted ? "accept" : "connect", state(),
                    localAddress.getAddress().getHostAddress(), localAddress.getPort(),
                    peerAddress.getAddress().getHostAddress(), peerAddress.getPort(),
                    figures.receiveBuffer(), figures.sendBuffer(), figures.readable(),
                    figures.unacknowledged(), figures.receiveCredits(), figures.sendCredits(),
                    figures.receiveRoom(), figures.sendRoom(), figures.receivedBytes(),
                    figures.sentBytes(), figures.mappedBytes(), keepaliveSeconds,
                    phase == Phase.CONNECTING
                            ? 0
                            : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - establishedNs));
        } finally {
            lock.unlock();
        }
    }

    /** {@return what events tell of it} */
    SocketEvents.Ends ends() {
        return new SocketEvents.Ends(localAddress, peerAddress, device, queuePair);
    }

    /** The application has accepted it. */
    void recordAccept() {
        if (SocketEvents.recordsAccepts()) {
            SocketEvents.accept(ends(), System.nanoTime() - establishedNs);
        }
    }

    private void recordEnd() {
        if (phase != Phase.ESTABLISHED || !SocketEvents.recordsCloses()) {
            return;
        }
        StreamFigures figures = figures();
        End end = end();
        SocketEvents.close(end, ends(), System.nanoTime() - establishedNs, figures.sentBytes(),
                figures.receivedBytes(), figures.mappedBytes(), end == End.BROKEN ? failure : null);
    }

    private End end() {
        if (failure != null) {
            return End.BROKEN;
        }
        if (isGivenUp) {
            return End.GIVEN_UP;
        }
        if (isAborted) {
            return End.ABORTED;
        }
        return wasClosedByPeer ? End.CLOSED_BY_PEER : End.CLOSED;
    }

    private StreamFigures figures() {
        RsocketStream open = stream;
        return open == null ? StreamFigures.ofNone(settings) : open.figures();
    }

    private String state() {
        RsocketStream open = stream;
        if (isClosing) {
            return "CLOSING";
        }
        if (phase == Phase.CONNECTING || open == null) {
            return "CONNECTING";
        }
        if (failure != null) {
            return "BROKEN";
        }
        if (open.isInputEnded()) {
            return open.isOutputEnded() ? "ENDED" : "INPUT_ENDED";
        }
        return open.isOutputEnded() ? "OUTPUT_ENDED" : "ESTABLISHED";
    }

    // ---------------------------------------------------------------- the beginning

    private byte[] connectionData() {
        return RsocketStream.connectionData(settings, memory.slots(), memory.receiveBuffer())
                .encode();
    }

    /** Asks the peer. */
    void connect() throws RdmaException {
        engine.open().add(this);
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
            wasAccepted = true;
            begin(peer);
            id.userContext(this);
            queue.requestNotification();
            id.accept(new ConnectionParameters(asked).privateData(connectionData()));
        } finally {
            lock.unlock();
        }
    }

    private RsocketStream begin(ConnectionData peer) {
        queue.onPeer(peer);
        RsocketStream begun = new RsocketStream(settings, memory.receiveBuffer(), peer);
        stream = begun;
        return begun;
    }

    @Override
    public void onEvent(CmEvent event) {
        lock.lock();
        try {
            switch (event.type()) {
                case ESTABLISHED -> onEstablished(event);
                case REJECTED, UNREACHABLE, CONNECT_ERROR -> {
                    if (phase == Phase.CONNECTING) {
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
        if (phase != Phase.CONNECTING || isClosing) {
            return;
        }
        try {
            if (stream == null) {
                begin(ConnectionData.decode(event.privateData()));
            }
            establish();
            process(true);
        } catch (RsocketException e) {
            refuse(e);
        }
    }

    private void establish() {
        phase = Phase.ESTABLISHED;
        establishedNs = System.nanoTime();
        scheduleProbe();
        observer.onEstablished(this);
    }

    private void refuse(IOException why) {
        failure = why;
        isBroken = true;
        observer.onRefused(this, why);
        close(0);
    }

    private void onEnded(String reset) {
        if (phase == Phase.CONNECTING && !isClosing) {
            refuse(new SocketException(reset));
            return;
        }
        RsocketStream open = stream;
        if (phase == Phase.FREED || open == null) {
            return;
        }
        // What came before the end counts.
        process(false);
        open.onConnectionEnded();
        if (open.wasReset()) {
            fail(new SocketException(reset));
        }
        isBroken = true;
        signal();
    }

    // ---------------------------------------------------------------- keepalive

    /**
     * Probes an idle peer from now on.
     *
     * @param seconds after which time, and how often; 0 not to
     */
    public void keepalive(int seconds) {
        lock.lock();
        try {
            if (seconds == keepaliveSeconds) {
                return;
            }
            keepaliveSeconds = seconds;
            keepaliveChanges++;
            if (phase == Phase.ESTABLISHED) {
                scheduleProbe();
            }
        } finally {
            lock.unlock();
        }
    }

    private void scheduleProbe() {
        cancel(probing);
        if (keepaliveSeconds > 0) {
            int changes = keepaliveChanges;
            probing = engine.schedule(Duration.ofSeconds(keepaliveSeconds), () -> probe(changes));
        }
    }

    /** A dead peer does not acknowledge, and the device ends the connection. */
    private void probe(int changes) {
        lock.lock();
        try {
            RsocketStream open = stream;
            if (changes != keepaliveChanges) {
                // Another time was set since, from when on it counts.
                return;
            }
            if (phase != Phase.ESTABLISHED || isBroken || open == null) {
                return;
            }
            if (!hasMoved) {
                open.probe();
                process(false);
            }
            hasMoved = false;
            scheduleProbe();
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- starving

    /**
     * The application cannot write. If the peer has acknowledged everything, nothing is on its way that a dead one would not
     * acknowledge, and the application would wait for its credits for ever.
     */
    private void watchStarving() {
        if (starving == null && !isWritable()) {
            starving = engine.schedule(STARVED, this::probeStarved);
        }
    }

    private void probeStarved() {
        lock.lock();
        try {
            starving = null;
            RsocketStream open = stream;
            if (open == null || isWritable()) {
                return;
            }
            if (open.isDrained()) {
                open.probe();
                process(false);
            }
            watchStarving();
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- progress

    @Override
    public void onCompletions() {
        lock.lock();
        try {
            look(true);
        } finally {
            lock.unlock();
        }
    }

    /** Handles what has completed, posts what follows, and tells of that and of what the caller has changed. */
    private void process(boolean isArming) {
        RsocketStream open = stream;
        if (open != null && phase != Phase.FREED) {
            boolean _ = advance(open, isArming);
            signal();
        }
    }

    /** As {@link #process}, where the caller has changed nothing: those who look again and again mostly find nothing to tell. */
    private void look(boolean isArming) {
        RsocketStream open = stream;
        if (open != null && phase != Phase.FREED && advance(open, isArming)) {
            signal();
        }
    }

    /** {@return whether there was anything to handle or to post} */
    private boolean advance(RsocketStream open, boolean isArming) {
        try {
            if (isArming) {
                queue.requestNotification();
            }
            boolean hadCompletions = queue.poll(handler);
            return transmit(open) || hadCompletions;
        } catch (RdmaException e) {
            fail(e);
            return true;
        }
    }

    /** {@return whether anything was to be sent} */
    private boolean transmit(RsocketStream open) throws RdmaException {
        boolean isAny = false;
        while (!isBroken && open.pollTransmit(out)) {
            queue.post(out);
            isAny = true;
        }
        return isAny;
    }

    private void onCompletion(WorkCompletion completion) throws RdmaException {
        boolean isReceive = StreamQueue.isReceive(completion.id());
        RsocketStream open = Objects.requireNonNull(stream);
        if (!completion.isSuccess()) {
            onFailed(open, completion, isReceive);
            return;
        }
        hasMoved = true;
        if (!isReceive) {
            open.onSent(completion.id());
            return;
        }
        int word = queue.nextWord(completion.immediate());
        if (!isBroken) {
            queue.postReceiveAgain();
        }
        // Sends fail once the peer has gone, and what it sent before counts.
        if (!hasLied) {
            onWord(open, word);
        }
    }

    private void onWord(RsocketStream open, int word) {
        if (phase == Phase.CONNECTING) {
            // The peer has the answer, whether or not its confirmation has arrived.
            establish();
        }
        try {
            if (Message.isCredits(word)) {
                open.onCredits(word, memory.takeSlot(open.nextSlot()));
            } else if (Message.isMapping(word)) {
                open.onMapping(Message.index(word), memory::mapping);
            } else {
                open.onMessage(word);
            }
            if (open.hasPeerDisconnected() && failure instanceof SocketException) {
                // A send has failed first, because the peer had closed.
                failure = null;
            }
        } catch (RsocketException e) {
            hasLied = true;
            fail(e);
            open.onConnectionEnded();
            // The peer learns that there is no connection any more.
            engine.execute(this::disconnect);
        }
    }

    /** After the end, requests fail that nobody needs any more. Receives that fail say nothing. */
    private void onFailed(RsocketStream open, WorkCompletion completion, boolean isReceive) {
        if (isReceive || isBroken) {
            return;
        }
        if (!open.isDisconnected()) {
            boolean isCause = completion.status() != WorkCompletionStatus.WORK_REQUEST_FLUSHED;
            fail(isCause
                    ? new SocketException("Connection lost: " + completion.explanation())
                    : new SocketException("Connection reset"));
        }
        isBroken = true;
        open.onConnectionEnded();
    }

    private void fail(IOException why) {
        if (failure == null) {
            failure = why;
        }
        isBroken = true;
    }

    private void signal() {
        boolean hasInput = isReadable();
        boolean hasOutput = isWritable();
        if (hasInput) {
            readable.signalAll();
        }
        if (hasOutput || isMappedWritable()) {
            writable.signalAll();
        }
        if (hasInput || hasOutput) {
            listener.onReady(hasInput, hasOutput);
        }
        wait.signal();
        leaveIfEnded();
        freeIfOver();
    }

    // ---------------------------------------------------------------- reading

    private boolean isReadable() {
        RsocketStream open = stream;
        return isClosing || isBroken || open == null || open.readable() > 0
                || open.isInputEnded();
    }

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
            RsocketStream open = requireOpen();
            if (open.readable() == 0 && !isLeftToSelector()) {
                engine.moved();
                look(false);
            }
            hasJustRead = false;
            if (open.readable() == 0 || phase == Phase.FREED) {
                throwFailure();
                open.onEmpty();
                return open.isInputEnded() ? -1 : 0;
            }
            isReading = true;
            hasJustRead = true;
            try {
                return copy(open, to, first, wanted);
            } finally {
                isReading = false;
                stopCopying(open);
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * {@return whether a read that finds nothing leaves the device to others} Event loops read until nothing is left, also in threads that go away
     * then: the device would wait for one of these to come back, and not run for the thread that selects.
     */
    private boolean isLeftToSelector() {
        return hasJustRead || listener.isSelected();
    }

    private long copy(RsocketStream open, ByteBuffer[] to, int first, long wanted) {
        long copied = 0;
        int buffer = first;
        while (copied < wanted && open.readable() > 0) {
            while (!to[buffer].hasRemaining()) {
                buffer++;
            }
            int count = (int) Math.min(wanted - copied, open.readableRun());
            int offset = open.readOffset();
            boolean isLarger = open.isReadingLarger();
            lock.unlock();
            try {
                memory.get(isLarger, offset, count, to, buffer);
            } finally {
                lock.lock();
            }
            open.read(count);
            copied += count;
        }
        if (mayGrowInput && open.wantsLargerInput()) {
            mayGrowInput = false;
            RemoteRange larger = memory.enlargeInput();
            if (larger != null) {
                open.enlargeInput(larger);
            }
        }
        return copied;
    }

    /** Does what had to wait for the thread that copied, and gives the peer its credits. */
    private void stopCopying(RsocketStream open) {
        if (!isReading && owesInputShutdown) {
            owesInputShutdown = false;
            open.shutdownInput();
        }
        if (!isReading && !isWriting && owesDisconnect) {
            owesDisconnect = false;
            open.disconnect();
        }
        if (!isReading && !isWriting && owesFreeing) {
            owesFreeing = false;
            engine.execute(this::free);
            return;
        }
        try {
            boolean _ = transmit(open);
        } catch (RdmaException e) {
            fail(e);
            signal();
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

    // ---------------------------------------------------------------- writing

    private boolean isWritable() {
        RsocketStream open = stream;
        return isClosing || isBroken || open == null || open.isOutputEnded()
                || open.isRoomy();
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
            RsocketStream open = requireOpen();
            requireOutput(open);
            if (!hasStalled) {
                open.startWrite();
            }
            isWriting = true;
            try {
                long written = copy(open, wanted, from, first);
                hasStalled = written < wanted;
                return written;
            } finally {
                isWriting = false;
                stopCopying(open);
            }
        } finally {
            lock.unlock();
        }
    }

    private long copy(RsocketStream open, long wanted, ByteBuffer[] from, int first)
            throws IOException {
        if (mayGrowOutput && open.wantsLargerOutput()) {
            mayGrowOutput = false;
            int larger = memory.enlargeOutput();
            if (larger > 0) {
                open.enlargeOutput(larger);
            }
        }
        long written = 0;
        int buffer = first;
        boolean hasLooked = false;
        while (written < wanted) {
            int count = isBroken
                    ? 0
                    : open.writable((int) Math.min(wanted - written, Integer.MAX_VALUE));
            if (count == 0) {
                if (hasLooked || isBroken) {
                    watchStarving();
                    return written;
                }
                engine.moved();
                if (!engine.isLedByAnother()) {
                    look(false);
                }
                hasLooked = true;
                continue;
            }
            if (!writeOne(open, count, from, buffer)) {
                return written;
            }
            buffer = StreamMemory.advance(from, buffer, count);
            written += count;
            hasLooked = false;
        }
        return written;
    }

    /** {@return whether the bytes were sent} The output may end while they are copied. */
    private boolean writeOne(RsocketStream open, int count, ByteBuffer[] from, int buffer)
            throws IOException {
        boolean isInline = open.isInline(count);
        int offset = open.writeOffset();
        boolean isLarger = open.isWritingLarger();
        lock.unlock();
        try {
            if (isInline) {
                queue.putInline(count, from, buffer);
            } else {
                memory.put(isLarger, offset, count, from, buffer);
            }
        } finally {
            lock.lock();
        }
        if (isBroken || open.isOutputEnded() || owesDisconnect) {
            return false;
        }
        open.write(count, out);
        try {
            queue.post(out);
        } catch (RdmaException e) {
            fail(e);
            signal();
            throw e;
        }
        return true;
    }

    /** Waits until something can be written, or nothing can any more. As {@link #awaitReadable}. */
    public void awaitWritable(long timeoutNs) {
        wait.await(writable, isWritable, timeoutNs);
    }

    private void requireOutput(RsocketStream open) throws IOException {
        if (isBroken || open.isOutputEnded()) {
            throwFailure();
            throw new IOException("Broken pipe");
        }
    }

    private RsocketStream requireOpen() throws IOException {
        RsocketStream open = stream;
        if (open == null) {
            throwFailure();
            throw new SocketException("Socket is not connected");
        }
        return open;
    }

    private void throwFailure() throws IOException {
        IOException why = failure;
        if (why instanceof SocketException) {
            SocketException again = new SocketException(why.getMessage());
            again.initCause(why);
            throw again;
        }
        if (why != null) {
            throw new IOException(why.getMessage(), why);
        }
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
            RsocketStream open = requireOpen();
            requireOutput(open);
            mapped.add(open, id.protectionDomain(), offset, segment);
            process(false);
        } finally {
            lock.unlock();
        }
    }

    /** Ends that. */
    public void unmap(long offset) throws IOException {
        lock.lock();
        try {
            mapped.remove(requireOpen(), offset);
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
            RsocketStream open = requireOpen();
            requireOutput(open);
            process(false);
            isWriting = true;
            try {
                return copyMapped(open, from, wanted, offset);
            } finally {
                isWriting = false;
                stopCopying(open);
            }
        } finally {
            lock.unlock();
        }
    }

    private int copyMapped(RsocketStream open, ByteBuffer[] from, int wanted, long offset)
            throws IOException {
        int written = 0;
        while (written < wanted) {
            long at = offset + written;
            Mapping to = open.mapping(at);
            if (to == null) {
                if (written > 0) {
                    return written;
                }
                throw new IOException("the peer has mapped nothing at offset " + at);
            }
            int count = isBroken ? 0 : open.mappedWritable(to, at, wanted - written);
            if (count == 0) {
                return written;
            }
            int buffered = open.writeOffset();
            boolean isLarger = open.isWritingLarger();
            lock.unlock();
            try {
                memory.put(isLarger, buffered, count, from, 0);
            } finally {
                lock.lock();
            }
            if (isBroken || open.isOutputEnded()) {
                return written;
            }
            open.writeMapped(to, at, count, out);
            queue.post(out);
            StreamMemory.advance(from, 0, count);
            written += count;
        }
        return written;
    }

    /** {@return whether more can be written to mappings} */
    private boolean isMappedWritable() {
        RsocketStream open = stream;
        return isClosing || isBroken || open == null || open.isOutputEnded()
                || open.hasMappedRoom();
    }

    /** As {@link #awaitWritable}. */
    public void awaitMappedWritable(long timeoutNs) {
        wait.await(writable, this::isMappedWritable, timeoutNs);
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
            look(false);
        } finally {
            lock.unlock();
        }
    }

    /** {@return how many bytes can be read without a wait} */
    public int available() {
        lock.lock();
        try {
            RsocketStream open = stream;
            return open == null || phase == Phase.FREED ? 0 : open.readable();
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
            RsocketStream open = stream;
            if (open != null) {
                open.shutdownOutput();
                process(false);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Ends the input; what comes is dropped. */
    public void shutdownInput() {
        lock.lock();
        try {
            RsocketStream open = stream;
            if (open == null) {
                return;
            }
            if (isReading) {
                owesInputShutdown = true;
            } else {
                open.shutdownInput();
            }
            process(false);
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
            if (isClosing) {
                return;
            }
            isClosing = true;
            RsocketStream open = stream;
            wasClosedByPeer = open != null && open.hasPeerDisconnected();
            if (phase != Phase.ESTABLISHED || open == null || lingerSeconds == 0) {
                isAborted = !isBroken;
                isBroken = true;
            } else if (!isBroken) {
                if (isReading || isWriting) {
                    owesDisconnect = true;
                } else {
                    open.disconnect();
                }
                closing = engine.schedule(
                        lingerSeconds < 0 ? PATIENCE : Duration.ofSeconds(lingerSeconds),
                        this::giveUp);
            }
            process(false);
            signal();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until both sides know that the peer has everything, or the connection has ended otherwise.
     *
     * @return whether that came in time
     */
    public boolean awaitOver(long timeoutNs) {
        long endNs = System.nanoTime() + timeoutNs;
        engine.onSleep();
        lock.lock();
        try {
            while (!isFreeing) {
                long leftNs = endNs - System.nanoTime();
                if (leftNs <= 0) {
                    return false;
                }
                long _ = over.awaitNanos(leftNs);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
            engine.onAwake();
        }
    }

    private void giveUp() {
        lock.lock();
        try {
            isGivenUp = !isOver;
            isBroken = true;
            freeIfOver();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Both directions have ended, and the peer's device knows it. The peer's {@code close} waits for that to be said: it need not
     * wait for this side's application.
     */
    private void leaveIfEnded() {
        RsocketStream open = stream;
        if (!hasLeft && !isClosing && !isBroken && open != null && open.hasToldEnd()) {
            hasLeft = true;
            engine.execute(this::disconnect);
        }
    }

    private void freeIfOver() {
        RsocketStream open = stream;
        boolean isDrained = open == null || (open.isDisconnected() && open.isDrained());
        if (!isClosing || isFreeing || !(isBroken || isDrained)) {
            return;
        }
        if (!isOver) {
            isOver = true;
            recordEnd();
            if (!isBroken && open != null && !open.hasToldEnd()) {
                // The peer's last message may come again, if it has not heard of its arrival. Then it disconnects.
                answering = engine.schedule(LAST_ANSWERS, this::giveUp);
            }
        }
        if (isBroken || open == null || open.hasToldEnd()) {
            isFreeing = true;
            over.signalAll();
            engine.execute(this::free);
        }
    }

    private void cancel(SocketEngine.@Nullable Timer timer) {
        if (timer != null) {
            engine.cancel(timer);
        }
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
            if (isReading || isWriting) {
                owesFreeing = true;
                return;
            }
            phase = Phase.FREED;
            stream = ended();
            cancel(probing);
            cancel(starving);
            cancel(closing);
            cancel(answering);
        } finally {
            lock.unlock();
        }
        disconnect();
        mapped.close();
        Freeing.all(queue::close, memory::close, id::close);
        engine.open().remove(this);
        observer.onFreed(this);
    }

    /** {@return the stream, of which nothing can be read or written any more} */
    private @Nullable RsocketStream ended() {
        RsocketStream open = stream;
        if (open != null) {
            open.onConnectionEnded();
            open.shutdownInput();
        }
        return open;
    }

    @Override
    public String toString() {
        return localAddress + " → " + peerAddress;
    }
}
