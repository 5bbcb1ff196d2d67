package io.rdma4j.softnic.iwarp;

import io.rdma4j.protocol.iwarp.wire.Crc32c;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.softnic.engine.BriefLooks;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.Link;
import io.rdma4j.softnic.network.stream.StreamNetwork;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
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
final class IwarpLink implements Link {
    /** What has arrived and is not used, and what is read at once. Room for the longest unit, and little enough for the cache. */
    private static final int INBOUND = 128 << 10;
    /**
     * What is sent at once: a message of 1 MiB with the headers of its units. The more a call brings, the more seldom the system
     * finds nothing to send and sets a timer for what follows, which costs as much as to copy 100 KiB.
     */
    private static final int OUTBOUND = (1 << 20) + (128 << 10);
    /** The most connections that others have opened, and have not asked for anything yet. */
    static final int MOST_ASKING = 1024;

    private final StreamNetwork network;
    private final BriefLooks looks = new BriefLooks();
    private final IwarpSettings settings;
    private final Engine engine;
    private final MemorySegment inbound;
    private final ByteBuffer inboundBuffer;
    private final MemorySegment outbound;
    private final ByteBuffer outboundBuffer;
    private final UnsentBuffers unsentBuffers;
    private final OutgoingFpdu unit = new OutgoingFpdu();
    private final Crc32c crc = new Crc32c();
    /** Those that are being set up, in the order of the times when that is over. */
    private final Set<IwarpConnection> initiating = new LinkedHashSet<>();
    private final Set<IwarpConnection> responding = new LinkedHashSet<>();
    /** Those that were accepted, and whose initiator has promised to speak. */
    private final Set<IwarpConnection> accepted = new LinkedHashSet<>();
    /** Those that are to end once all that was posted is sent. */
    private final Set<IwarpConnection> leaving = new LinkedHashSet<>();
    private final LingeringConnections lingering;
    /** Those that have something to tell which must not be told in the middle of a call. */
    private final List<ResponderConnection> established = new ArrayList<>();
    private final Set<IwarpListener> listeners = new LinkedHashSet<>();
    private boolean hasReceived;
    private boolean hasMore;
    private boolean isClosed;

    /** @param random numbers that others cannot guess, for the engine's queue pairs */
    IwarpLink(StreamNetwork network, IwarpSettings settings, IntSupplier random) {
        this(network, settings, random, new UnsentBuffers(OUTBOUND));
    }

    /** @param unsentBuffers memory for what the network does not take at once */
    IwarpLink(StreamNetwork network, IwarpSettings settings, IntSupplier random,
            UnsentBuffers unsentBuffers) {
        this.network = network;
        this.unsentBuffers = unsentBuffers;
        this.settings = settings;
        engine = new Engine(random, this);
        lingering = new LingeringConnections(settings.patience().lingerNs());
        Arena arena = Arena.ofAuto();
        inbound = arena.allocate(INBOUND, 64);
        inboundBuffer = inbound.asByteBuffer();
        outbound = arena.allocate(OUTBOUND, 64);
        outboundBuffer = outbound.asByteBuffer();
    }

    /** {@return memory for what the network does not take at once} */
    UnsentBuffers unsentBuffers() {
        return unsentBuffers;
    }

    Engine engine() {
        return engine;
    }

    StreamNetwork network() {
        return network;
    }

    IwarpSettings settings() {
        return settings;
    }

    /** {@return where a connection reads to, for the length of a call} */
    MemorySegment inbound() {
        return inbound;
    }

    ByteBuffer inboundBuffer() {
        return inboundBuffer;
    }

    /** {@return where units are put together, for the length of a call} */
    MemorySegment outbound() {
        return outbound;
    }

    ByteBuffer outboundBuffer() {
        return outboundBuffer;
    }

    /** {@return a unit to fill, for the length of a call} */
    OutgoingFpdu unit() {
        return unit;
    }

    Crc32c crc() {
        return crc;
    }

    /** {@return connections that are over, and have not quite ended} */
    LingeringConnections lingering() {
        return lingering;
    }

    // ---------------------------------------------------------------- listeners

    /** It hears from now on which addresses the device gets, and loses. */
    void addListener(IwarpListener listener) {
        listeners.add(listener);
    }

    /** It hears nothing more, nor is it asked any more by those that it has accepted. */
    void removeListener(IwarpListener listener) {
        listeners.remove(listener);
        for (IwarpConnection each : List.copyOf(responding)) {
            if (each instanceof ResponderConnection accepted && accepted.isOf(listener)) {
                accepted.onSetUpTooLong();
            }
        }
    }

    /** The device has got an address. */
    void onAddressHeld(InetAddress address) {
        listeners.forEach(listener -> listener.onAddressHeld(address));
    }

    /** The device has lost an address. */
    void onAddressReleased(InetAddress address) {
        listeners.forEach(listener -> listener.onAddressReleased(address));
    }

    // ---------------------------------------------------------------- connections that are set up

    /** A connection has so long to be set up as all of its kind. Of too many that say nothing the oldest has to go. */
    void awaitSetUp(IwarpConnection connection) {
        if (connection.isInitiator()) {
            initiating.add(connection);
            return;
        }
        responding.add(connection);
        if (responding.size() > MOST_ASKING) {
            IwarpConnection oldest = responding.iterator().next();
            responding.remove(oldest);
            oldest.onTooLong();
        }
    }

    /** A connection was accepted, and its initiator has so long to speak as all of them. */
    void awaitFirstUnit(ResponderConnection connection) {
        accepted.add(connection);
    }

    /** A connection is to end, and has so long for what was posted as all of them. */
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

    /** A connection is established by the call under way; in the next round it is told so. */
    void onEstablished(ResponderConnection connection) {
        established.add(connection);
    }

    private static void giveUp(Set<IwarpConnection> waiting, long nowNs) {
        // Who hears of one may end another, so each is looked for anew. Nearly always there is none.
        while (!waiting.isEmpty()) {
            IwarpConnection oldest = waiting.iterator().next();
            if (oldest.waitEndsNs() > nowNs) {
                return;
            }
            waiting.remove(oldest);
            oldest.onTooLong();
        }
    }

    private static long firstEndNs(Set<IwarpConnection> waiting) {
        return waiting.isEmpty() ? Long.MAX_VALUE : waiting.iterator().next().waitEndsNs();
    }

    // ---------------------------------------------------------------- rounds

    @Override
    public boolean receive(long nowNs, boolean isOften) {
        hasMore = false;
        boolean isBrief = looks.isBrief(nowNs, isOften);
        hasReceived = isBrief ? network.pollBriefly() : network.poll();
        if (isBrief) {
            looks.onBriefLook(hasReceived);
        }
        return hasMore;
    }

    /** A stream has more than is read at once. */
    void onMore() {
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
        lingering.onTime(nowNs);
        while (!established.isEmpty()) {
            established.removeLast().tellEstablished();
        }
    }

    @Override
    public boolean beginTransmit(long nowNs) {
        return true;
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
        return Math.min(setUpNs, Math.min(firstEndNs(leaving), lingering.deadlineNs()));
    }

    @Override
    public void await(long timeoutNs) {
        network.await(timeoutNs);
    }

    @Override
    public void wake() {
        network.wake();
    }

    // ---------------------------------------------------------------- the end

    /**
     * Ends all that there is, and waits for a while until what was sent has left. Nobody else uses the network any more.
     *
     * @param clock that of the engine
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
}
