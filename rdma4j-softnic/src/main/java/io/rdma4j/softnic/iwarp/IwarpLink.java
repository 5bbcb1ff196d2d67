// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.protocol.iwarp.wire.Crc32c;
import io.rdma4j.protocol.iwarp.wire.FpduView;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.softnic.engine.BriefPolls;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.Link;
import io.rdma4j.softnic.network.stream.StreamNetwork;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * iWARP on a network of byte streams. Each queue pair has a stream of its own, so a full stream delays no other queue pair. For
 * the engine's owner.
 */
final class IwarpLink implements Link, StreamServices {
    /**
     * The buffer for one read and for received bytes that are not used yet. It holds the longest unit and fits the cache.
     */
    private static final int INBOUND = 128 << 10;
    /**
     * The most sent by one call: a message of 1 MiB with the headers of its units. The more a call sends, the more rarely
     * the system runs out of data and sets a timer for what follows, which costs as much as copying 100 KiB.
     */
    private static final int OUTBOUND = (1 << 20) + (128 << 10);
    /** A call that has more than this to send takes no further unit: usually, and while memory is scarce. */
    private static final int BURST = OUTBOUND - FpduView.MAX_LENGTH;
    private static final int SHORT_BURST = 16 << 10;
    /** The maximum number of connections that peers have opened without sending a request yet. */
    static final int MOST_ASKING = 1024;

    private final StreamNetwork network;
    private final BriefPolls briefPolls = new BriefPolls();
    private final IwarpSettings settings;
    private final Engine engine;
    private final Arena arena;
    private final MemorySegment inbound;
    private final ByteBuffer inboundBuffer;
    private final MemorySegment outbound;
    private final ByteBuffer outboundBuffer;
    private final UnsentBuffers unsentBuffers;
    private final OutgoingFpdu unit;
    private final Crc32c crc = new Crc32c();
    /** Those that are being set up, in the order of the times when that is over. */
    private final Set<IwarpConnection> initiating = new LinkedHashSet<>();
    private final Set<IwarpConnection> responding = new LinkedHashSet<>();
    /** Accepted connections whose initiator has promised to send first. */
    private final Set<IwarpConnection> accepted = new LinkedHashSet<>();
    /** Connections that end as soon as all posted work is sent. */
    private final Set<IwarpConnection> leaving = new LinkedHashSet<>();
    /** Queue pairs with work that has to make progress, in the order of the times when that is checked. */
    private final Set<StreamQueuePair> working = new LinkedHashSet<>();
    /** When the first of them is checked, or one that has left. An iterator in each round would be garbage. */
    private long checkNs = Long.MAX_VALUE;
    private final LingeringConnections lingering;
    /** Connections with an event that must not be reported in the middle of a call. */
    private final List<ResponderConnection> established = new ArrayList<>();
    private final Set<IwarpListener> listeners = new LinkedHashSet<>();
    private volatile boolean hasRefusedListener;
    private boolean hasReceived;
    private boolean hasMore;
    private boolean isClosed;

    /** @param random numbers that others cannot guess, for the engine's queue pairs */
    IwarpLink(StreamNetwork network, IwarpSettings settings, IntSupplier random) {
        this(network, settings, random,
                new UnsentBuffers(OUTBOUND, SHORT_BURST + FpduView.MAX_LENGTH));
    }

    /** @param unsentBuffers memory for what the network does not take at once */
    IwarpLink(StreamNetwork network, IwarpSettings settings, IntSupplier random,
            UnsentBuffers unsentBuffers) {
        this.network = network;
        this.unsentBuffers = unsentBuffers;
        this.settings = settings;
        engine = new Engine(random, this);
        lingering = new LingeringConnections(settings.patience().lingerNs());
        arena = Arena.ofShared();
        try {
            unit = new OutgoingFpdu(arena);
            inbound = arena.allocate(INBOUND, 64);
            inboundBuffer = inbound.asByteBuffer();
            outbound = arena.allocate(OUTBOUND, 64);
            outboundBuffer = outbound.asByteBuffer();
        } catch (OutOfMemoryError none) {
            arena.close();
            throw none;
        }
    }

    @Override
    public UnsentBuffers unsentBuffers() {
        return unsentBuffers;
    }

    @Override
    public Engine engine() {
        return engine;
    }

    StreamNetwork network() {
        return network;
    }

    IwarpSettings settings() {
        return settings;
    }

    @Override
    public MemorySegment inbound() {
        return inbound;
    }

    @Override
    public ByteBuffer inboundBuffer() {
        return inboundBuffer;
    }

    /** {@return the buffer for building units, valid during one call} */
    MemorySegment outbound() {
        return outbound;
    }

    ByteBuffer outboundBuffer() {
        return outboundBuffer;
    }

    /** {@return whether so many bytes are enough for one call} */
    boolean isBurst(int length) {
        return length > (unsentBuffers.isScarce() ? SHORT_BURST : BURST);
    }

    /** {@return a unit to fill, for the length of a call} */
    OutgoingFpdu unit() {
        return unit;
    }

    Crc32c crc() {
        return crc;
    }

    @Override
    public LingeringConnections lingering() {
        return lingering;
    }

    // ---------------------------------------------------------------- listeners

    /** Adds a listener, which is notified of addresses that the device gets or loses. */
    void addListener(IwarpListener listener) {
        listeners.add(listener);
        updateRefused();
    }

    /** Removes a listener; connections that it has accepted no longer call it. */
    void removeListener(IwarpListener listener) {
        listeners.remove(listener);
        for (IwarpConnection each : List.copyOf(responding)) {
            if (each instanceof ResponderConnection asking && asking.isOf(listener)) {
                asking.onSetUpTooLong();
            }
        }
    }

    /** The device has got an address. */
    void onAddressHeld(InetAddress address) {
        listeners.forEach(listener -> listener.onAddressHeld(address));
        updateRefused();
    }

    /** The device has lost an address. */
    void onAddressReleased(InetAddress address) {
        listeners.forEach(listener -> listener.onAddressReleased(address));
    }

    /** {@return whether a listener cannot listen at an address of the device} For any thread, which may see it late. */
    boolean hasRefusedListener() {
        return hasRefusedListener;
    }

    /** Listeners try again where they could not listen. */
    void listenAgain() {
        listeners.forEach(IwarpListener::tryAgain);
        updateRefused();
    }

    private void updateRefused() {
        hasRefusedListener = listeners.stream().anyMatch(IwarpListener::hasRefused);
    }

    // ---------------------------------------------------------------- connections that are set up

    /** Starts the time limit for the set-up of a connection. If too many connections send nothing, the oldest is ended. */
    void awaitSetUp(IwarpConnection connection) {
        if (connection.isInitiator()) {
            initiating.add(connection);
            return;
        }
        responding.add(connection);
        if (responding.size() > MOST_ASKING) {
            IwarpConnection oldest = responding.iterator().next();
            responding.remove(oldest);
            reportTooLong(oldest);
        }
    }

    /** Starts the time limit for the first unit of an accepted connection's initiator. */
    void awaitFirstUnit(ResponderConnection connection) {
        accepted.add(connection);
    }

    /** Starts the time limit for a disconnecting connection to send the posted work. */
    void awaitLeaving(IwarpConnection connection) {
        leaving.add(connection);
    }

    /** It has been set up, has failed, or has left. */
    void forgetWait(IwarpConnection connection) {
        leaving.remove(connection);
        if (connection.isInitiator()) {
            initiating.remove(connection);
        } else {
            responding.remove(connection);
            accepted.remove(connection);
        }
    }

    /** A connection was established by the present call; the next round reports it. */
    void onEstablished(ResponderConnection connection) {
        established.add(connection);
    }

    /** The work of a queue pair has to make progress from now on. */
    void awaitProgress(StreamQueuePair queuePair) {
        working.add(queuePair);
        checkNs = Math.min(checkNs, queuePair.checkNs());
    }

    /** It has no connection any more. */
    void forgetWork(StreamQueuePair queuePair) {
        working.remove(queuePair);
    }

    private void checkProgress(long nowNs) {
        if (nowNs < checkNs) {
            return;
        }
        checkNs = Long.MAX_VALUE;
        while (!working.isEmpty()) {
            StreamQueuePair first = working.iterator().next();
            if (first.checkNs() > nowNs) {
                checkNs = first.checkNs();
                return;
            }
            working.remove(first);
            first.checkProgress(nowNs);
        }
    }

    private static void giveUp(Set<IwarpConnection> waiting, long nowNs) {
        // A handler may end another connection, so each iteration takes the first anew. The list is nearly always
        // empty.
        while (!waiting.isEmpty()) {
            IwarpConnection oldest = waiting.iterator().next();
            if (oldest.waitEndsNs() > nowNs) {
                return;
            }
            waiting.remove(oldest);
            boolean isReported = false;
            try {
                reportTooLong(oldest);
                isReported = true;
            } finally {
                if (!isReported) {
                    // An Error has ended this: another round reports it.
                    waiting.add(oldest);
                }
            }
        }
    }

    private static void reportTooLong(IwarpConnection connection) {
        connection.stream().take(connection::onTooLong);
    }

    private static long firstEndNs(Set<IwarpConnection> waiting) {
        return waiting.isEmpty() ? Long.MAX_VALUE : waiting.iterator().next().waitEndsNs();
    }

    // ---------------------------------------------------------------- rounds

    @Override
    public boolean receive(long nowNs, boolean isOften) {
        hasMore = false;
        if (isClosed) {
            free();
            return false;
        }
        boolean isBrief = briefPolls.isBrief(nowNs, isOften);
        hasReceived = isBrief ? network.pollBriefly() : network.poll();
        if (isBrief) {
            briefPolls.onBriefPoll(hasReceived);
        }
        return hasMore;
    }

    @Override
    public void onMore() {
        hasMore = true;
    }

    @Override
    public boolean hasReceived() {
        return hasReceived;
    }

    @Override
    public void onTime(long nowNs) {
        giveUp(initiating, nowNs);
        giveUp(responding, nowNs);
        giveUp(accepted, nowNs);
        giveUp(leaving, nowNs);
        checkProgress(nowNs);
        lingering.onTime(nowNs);
        while (!established.isEmpty()) {
            // Before it is removed: an Error leaves it to the next round.
            ResponderConnection connection = established.getLast();
            connection.stream().take(connection::reportEstablished);
            established.remove(connection);
        }
    }

    @Override
    public boolean beginTransmit(long nowNs) {
        if (isClosed) {
            free();
        }
        return !isClosed;
    }

    @Override
    public boolean isFull() {
        return false;
    }

    @Override
    public boolean endTransmit() {
        unit.release();
        return true;
    }

    @Override
    public long deadlineNs() {
        if (!established.isEmpty()) {
            return engine.timeNs();
        }
        long setUpNs = Math.min(firstEndNs(initiating),
                Math.min(firstEndNs(responding), firstEndNs(accepted)));
        return Math.min(Math.min(setUpNs, checkNs),
                Math.min(firstEndNs(leaving), lingering.deadlineNs()));
    }

    @Override
    public void await(long timeoutNs) {
        network.await(timeoutNs);
    }

    @Override
    public boolean canAwait(Selector selector) {
        return network.canAwait(selector);
    }

    @Override
    public boolean await(long timeoutNs, Selector selector) {
        return network.await(timeoutNs, selector);
    }

    @Override
    public void wake() {
        network.wake();
    }

    // ---------------------------------------------------------------- the end

    /**
     * Ends all connections, and waits for a bounded time until the sent bytes have left. No other thread uses the network
     * any more. The next round frees the memory: an event may close the device while a call of this object uses it.
     *
     * @param clock the engine's clock
     */
    void close(LongSupplier clock) {
        if (isClosed) {
            return;
        }
        isClosed = true;
        List.copyOf(listeners).forEach(IwarpListener::close);
        long endNs = clock.getAsLong() + settings.patience().closeNs();
        // A thread that is interrupted would not wait: a selector returns at once.
        boolean wasInterrupted = Thread.interrupted();
        for (long leftNs = endNs - clock.getAsLong(); leftNs > 0
                && !lingering.isEmpty(); leftNs = endNs - clock.getAsLong()) {
            network.await(leftNs);
            network.poll();
            wasInterrupted |= Thread.interrupted();
        }
        lingering.letGoOfAll();
        network.close();
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** All streams are closed, so that the system is never given an address of the memory again. */
    private void free() {
        if (arena.scope().isAlive()) {
            arena.close();
            unsentBuffers.close();
        }
    }
}
