// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.sockets.observe.jfr.SocketEvents;
import io.rdma4j.sockets.observe.jmx.DatagramQueuePairData;
import io.rdma4j.sockets.observe.jmx.DatagramSocketData;
import io.rdma4j.sockets.protocol.DatagramHeader;
import io.rdma4j.sockets.protocol.DatagramPeer;
import io.rdma4j.sockets.protocol.Introduction;
import io.rdma4j.sockets.udp.UdpSocket;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Datagrams of one port: a UDP socket, over which peers introduce themselves, and a UD queue pair for each local address that it is used
 * with. C: a {@code rsocket} of type {@code SOCK_DGRAM}.
 *
 * <p>Bound to one address, it ends with the device of that address. At the wildcard address it outlives them: a side whose device is gone, or
 * whose queue pair has failed, is dropped, and made again when a datagram comes or goes by that address.
 *
 * <p>Thread safe, but one thread at a time waits for input and one for output.
 */
public final class DatagramEndpoint implements OpenSockets.Datagrams {
    private static final System.Logger LOG = System.getLogger(DatagramEndpoint.class.getName());
    /** How many peers are remembered. The one that was used least lately is forgotten, and introduced again. */
    private static final int MOST_PEERS = 4096;
    /** How long the last datagrams may take to leave. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);
    /** How many introductions are read at a time. */
    private static final int BATCH = 64;

    private final SocketEngine engine;
    private final SocketSettings settings;
    private final UdpSocket socket;
    private final InetSocketAddress local;
    private final ReadinessListener listener;
    private final ReentrantLock lock = new ReentrantLock();
    private final SelectorWait reading;
    private final SelectorWait writing;
    private final SelectorWait closing;
    private final Map<InetAddress, Side> sides = new HashMap<>();
    private final Map<InetSocketAddress, Peer> peers = new LinkedHashMap<>(16, 0.75f, true);
    private final Deque<Arrival> arrivals = new ArrayDeque<>();
    private final ByteBuffer introductions = ByteBuffer
            .allocate(Introduction.MOST_BYTES + DatagramHeader.MOST_DATAGRAM + 1);
    private final ByteBuffer introduced = ByteBuffer
            .allocate(Introduction.MOST_BYTES + DatagramHeader.MOST_DATAGRAM);
    private final DatagramCounts counts = new DatagramCounts();
    private final long boundNs = System.nanoTime();
    /** How many arrivals came with an introduction, and how many may. */
    private int unslotted;
    private final int mostUnslotted;
    private @Nullable InetSocketAddress remote;
    private @Nullable IOException failure;
    private boolean isClosed;
    private boolean isFreed;
    /** Whether a side is over that is still among the others. */
    private boolean isAnyOver;

    /** A queue pair, and what handles its completions. */
    private final class Side implements EngineEvents.CompletionUser, EngineEvents.EventUser {
        private final DatagramQueue queue;
        private final CompletionHandler handler = this::onCompletion;
        /** Its device is gone, or its queue pair has failed; the others go on. */
        private boolean isOver;

        Side(InetSocketAddress address) throws RdmaException, SocketException {
            queue = new DatagramQueue(engine, settings, address, this, this);
        }

        @Override
        public void onCompletions() {
            lock.lock();
            try {
                if (!isFreed && !isOver) {
                    queue.requestNotification();
                    process(this);
                }
            } catch (RdmaException e) {
                fail(this, e);
            } finally {
                dropOver();
                lock.unlock();
            }
        }

        private void onCompletion(WorkCompletion completion) throws RdmaException {
            boolean isReceive = DatagramQueue.isReceive(completion.id());
            if (!isReceive) {
                queue.onSent(completion.id());
            }
            if (!completion.isSuccess()) {
                if (!isClosed) {
                    fail(this, new SocketException(
                            "the queue pair has failed: " + completion.explanation()));
                }
            } else if (isReceive) {
                onReceived(this, DatagramQueue.slot(completion.id()), completion.byteLength());
            }
        }

        @Override
        public void onEvent(CmEvent event) {
            if (event.type() == CmEventType.DEVICE_REMOVAL) {
                lock.lock();
                try {
                    fail(this, new SocketException("the device is gone"));
                } finally {
                    dropOver();
                    lock.unlock();
                }
            }
        }
    }

    /** @param side from which it is reached */
    private record Peer(Side side, DatagramPeer state) {}

    /**
     * A datagram that nobody has taken.
     *
     * @param side null if it occupies no slot
     * @param data behind its header
     * @param slot that it occupies, negative for none
     */
    private record Arrival(@Nullable Side side, InetSocketAddress source, ByteBuffer data,
            int slot) {}

    private DatagramEndpoint(SocketEngine engine, SocketSettings settings, UdpSocket socket,
            ReadinessListener listener) {
        this.engine = engine;
        this.settings = settings;
        this.socket = socket;
        local = socket.local();
        this.listener = listener;
        mostUnslotted = Math.min(settings.credits(),
                Math.max(1, settings.receiveBytes() / DatagramHeader.MOST_DATAGRAM));
        reading = new SelectorWait(engine, this::hasInput);
        writing = new SelectorWait(engine, this::hasOutput);
        closing = new SelectorWait(engine, this::isDrained);
    }

    /**
     * {@return an endpoint that receives}
     *
     * @param family of the addresses, null for both
     * @param local the address, perhaps the wildcard address; null for any; port 0 for any
     * @param listener is told when a datagram has come, or can be sent
     * @throws java.net.BindException if the address or the port cannot be had
     * @throws SocketException if the device of the address has no datagrams
     */
    public static DatagramEndpoint bind(SocketEngine engine, SocketSettings settings,
            @Nullable ProtocolFamily family, @Nullable InetSocketAddress local,
            ReadinessListener listener) throws IOException {
        UdpSocket socket = UdpSocket.bind(family, settings.reuseAddress(), local);
        try {
            DatagramEndpoint made = new DatagramEndpoint(engine, settings, socket, listener);
            InetAddress address = made.local.getAddress();
            if (!address.isAnyLocalAddress()) {
                made.openSide(address);
            }
            engine.introductions().add(socket, made::onIntroductions);
            engine.open().add(made);
            return made;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }

    /** {@return where it is bound, perhaps to the wildcard address} */
    public InetSocketAddress localAddress() {
        return local;
    }

    /** {@return the local address from which a peer is reached, with the port} */
    public InetSocketAddress localAddress(InetSocketAddress peer) throws IOException {
        if (!local.getAddress().isAnyLocalAddress()) {
            return local;
        }
        return new InetSocketAddress(UdpSocket.sourceFor(peer), local.getPort());
    }

    private Side openSide(InetAddress address) throws IOException {
        Side known = sides.get(address);
        if (known != null) {
            return known;
        }
        try {
            Side made = new Side(new InetSocketAddress(address, local.getPort()));
            sides.put(address, made);
            return made;
        } catch (RdmaException e) {
            throw SocketConnector.ofBinding(e);
        }
    }

    private Peer peer(InetSocketAddress address) throws IOException {
        Peer known = peers.get(address);
        if (known == null) {
            known = new Peer(openSide(localAddress(address).getAddress()), new DatagramPeer());
            peers.put(address, known);
            if (peers.size() > MOST_PEERS) {
                Iterator<Peer> eldest = peers.values().iterator();
                eldest.next();
                eldest.remove();
            }
        }
        return known;
    }

    // ---------------------------------------------------------------- what it shows

    @Override
    public @Nullable DatagramSocketData data() {
        lock.lock();
        try {
            if (isFreed) {
                return null;
            }
            InetSocketAddress peer = remote;
            SocketEvents.Datagrams done = counts.now();
            List<DatagramQueuePairData> pairs = sides.values().stream().map(each -> each.queue)
                    .map(each -> new DatagramQueuePairData(each.device(), each.number(),
                            each.local().getAddress().getHostAddress()))
                    .toList();
            return new DatagramSocketData(local.getAddress().getHostAddress(), local.getPort(),
                    peer == null ? "" : peer.getAddress().getHostAddress(),
                    peer == null ? 0 : peer.getPort(), settings.receiveBytes(),
                    settings.sendBytes(), arrivals.size(),
                    sides.values().stream().mapToInt(each -> each.queue.leaving()).sum(),
                    peers.size(), done.received(), done.receivedBytes(), done.dropped(),
                    done.sent(), done.sentBytes(), done.introduced(), settings.rule(),
                    TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - boundNs), pairs);
        } finally {
            lock.unlock();
        }
    }

    // ---------------------------------------------------------------- what comes

    /** Keeps the datagrams of this peer alone from now on, or those of all. */
    public void connect(@Nullable InetSocketAddress to) throws IOException {
        lock.lock();
        try {
            if (to != null) {
                peer(to);
            }
            // What has come until now is for whom it was connected to until now.
            poll();
            remote = to;
            Deque<Arrival> kept = new ArrayDeque<>();
            for (Arrival each : arrivals) {
                if (isWanted(each.source())) {
                    kept.add(each);
                } else {
                    release(each);
                }
            }
            arrivals.clear();
            arrivals.addAll(kept);
        } finally {
            dropOver();
            lock.unlock();
        }
    }

    private boolean isWanted(InetSocketAddress source) {
        return remote == null || source.equals(remote);
    }

    private void onReceived(Side side, int slot, long length) throws RdmaException {
        ByteBuffer data = side.queue.received(slot, length);
        DatagramHeader header = DatagramHeader.read(data);
        if (header == null || isClosed) {
            counts.onDropped();
            side.queue.postReceive(slot);
            return;
        }
        InetSocketAddress scoped = source(header, side.queue.local().getAddress());
        Peer known = peers.get(scoped);
        if (known != null) {
            known.state().onDatagram(System.nanoTime());
        }
        if (isWanted(scoped)) {
            counts.onReceived(data.remaining());
            arrivals.add(new Arrival(side, scoped, data, slot));
        } else {
            counts.onDropped();
            side.queue.postReceive(slot);
        }
    }

    /** {@return the sender as this host knows it} A link-local address is on the link where the datagram was received. */
    private static InetSocketAddress source(DatagramHeader header, InetAddress by) {
        try {
            InetAddress address = InetAddress.getByAddress(header.address());
            boolean isOfLink = address.isLinkLocalAddress() && address instanceof Inet6Address;
            return new InetSocketAddress(isOfLink && by instanceof Inet6Address own
                    ? Inet6Address.getByAddress(null, header.address(), own.getScopeId())
                    : address, header.port());
        } catch (UnknownHostException e) {
            throw new IllegalStateException("an address has 4 or 16 bytes", e);
        }
    }

    /** Reads what has come to the socket. Called by the thread of the service. */
    private void onIntroductions() {
        lock.lock();
        try {
            for (int i = 0; i < BATCH && !isClosed; i++) {
                introductions.clear();
                InetSocketAddress source = socket.receive(introductions);
                if (source == null) {
                    break;
                }
                introductions.flip();
                Introduction read = Introduction.read(introductions,
                        source.getAddress().getAddress());
                if (read == null) {
                    counts.onDropped();
                } else {
                    onIntroduction(read, source);
                }
            }
        } catch (IOException e) {
            // Of one peer: an address that no device leads to.
            LOG.log(System.Logger.Level.DEBUG, "an introduction was dropped", e);
        } finally {
            lock.unlock();
            signal();
        }
    }

    private void onIntroduction(Introduction read, InetSocketAddress source) throws IOException {
        if (read.hasData()) {
            // First: it has arrived, even if the peer cannot be answered at this moment.
            onIntroduced(source);
        }
        Peer from = peer(source);
        boolean isNew = !from.state().isKnown()
                || from.state().queuePairNumber() != read.queuePairNumber();
        from.state().onIntroduction(read, System.nanoTime());
        if (isNew && SocketEvents.recordsDatagramPeers()) {
            DatagramQueue queue = from.side().queue;
            SocketEvents.datagramPeer(new SocketEvents.Ends(queue.local(), source, queue.device(),
                    queue.number(), settings.rule()), read.queuePairNumber());
        }
        if (read.hasData()) {
            introduce(from, source, false);
        }
    }

    /** A datagram has come behind an introduction. */
    private void onIntroduced(InetSocketAddress source) {
        boolean fits = introductions.remaining() <= DatagramHeader.MOST_DATAGRAM;
        if (fits && isWanted(source) && unslotted < mostUnslotted) {
            ByteBuffer copy = ByteBuffer.allocate(introductions.remaining()).put(introductions)
                    .flip();
            unslotted++;
            counts.onReceived(copy.remaining());
            arrivals.add(new Arrival(null, source, copy, -1));
        } else {
            counts.onDropped();
        }
    }

    private void release(Arrival taken) {
        try {
            Side side = taken.side();
            if (side == null) {
                unslotted--;
            } else if (!isFreed) {
                side.queue.postReceive(taken.slot());
            }
        } catch (RdmaException e) {
            fail(taken.side(), e);
        }
    }

    /**
     * Takes the oldest datagram. What the buffers have no room for is lost.
     *
     * @param to buffers that move on
     * @return from whom it is; null if there is none, or the endpoint is closed
     * @throws IOException if the device is gone, or its queue pair has failed
     */
    public @Nullable InetSocketAddress receive(ByteBuffer[] to, int first, int buffers)
            throws IOException {
        lock.lock();
        try {
            if (arrivals.isEmpty()) {
                poll();
            }
            Arrival taken = arrivals.poll();
            if (taken == null) {
                requireWorking();
                return null;
            }
            ByteBuffer data = taken.data();
            for (int i = first; i < first + buffers && data.hasRemaining(); i++) {
                int count = Math.min(to[i].remaining(), data.remaining());
                to[i].put(data.slice(data.position(), count));
                data.position(data.position() + count);
            }
            release(taken);
            return taken.source();
        } finally {
            dropOver();
            lock.unlock();
        }
    }

    private void requireWorking() throws IOException {
        IOException why = failure;
        if (why != null && !isClosed) {
            SocketException again = new SocketException(why.getMessage());
            again.initCause(why);
            throw again;
        }
    }

    // ---------------------------------------------------------------- what leaves

    /**
     * Sends a datagram.
     *
     * @param from buffers that move on
     * @return whether it was sent; not if there is no room, or the endpoint is closed
     * @throws SocketException if it is too long; and as {@link #receive}
     * @throws java.net.BindException if no device leads to the peer
     */
    public boolean send(ByteBuffer[] from, int first, int buffers, InetSocketAddress to)
            throws IOException {
        lock.lock();
        try {
            requireWorking();
            if (isClosed) {
                return false;
            }
            Peer peer = peer(to);
            if (!peer.state().isKnown() || !peer.side().queue.isRoomy()) {
                poll();
                // Its side may be over.
                peer = peer(to);
            }
            DatagramQueue queue = peer.side().queue;
            long length = requireFitting(from, first, buffers, queue);
            if (peer.state().takesIntroduction(System.nanoTime())) {
                introduced.clear().position(Introduction.MOST_BYTES);
                for (int i = first; i < first + buffers; i++) {
                    introduced.put(from[i]);
                }
                introduce(peer, to, true);
                counts.onSent(length, true);
                return true;
            }
            if (!queue.isRoomy()) {
                return false;
            }
            queue.send(from, first, buffers, to.getAddress(), peer.state().queuePairNumber());
            counts.onSent(length, false);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** {@return the length of the datagram, which the queue can send} */
    private static long requireFitting(ByteBuffer[] from, int first, int buffers,
            DatagramQueue queue) throws SocketException {
        long length = 0;
        for (int i = first; i < first + buffers; i++) {
            length += from[i].remaining();
        }
        if (length > queue.mostBytes()) {
            throw new SocketException("Message too long: a datagram over " + queue.device()
                    + " has at most " + queue.mostBytes() + " bytes, not " + length);
        }
        return length;
    }

    /** Sends an introduction, with the datagram behind its place or without one. UDP may lose it, as it may lose any. */
    private void introduce(Peer peer, InetSocketAddress to, boolean hasData) throws IOException {
        DatagramQueue queue = peer.side().queue;
        ByteBuffer head = ByteBuffer.allocate(Introduction.MOST_BYTES);
        new Introduction(hasData, queue.number()).put(head, queue.address());
        if (!hasData) {
            socket.send(head.flip(), to);
            return;
        }
        int end = introduced.position();
        int at = Introduction.MOST_BYTES - head.position();
        introduced.position(at).put(head.flip());
        socket.send(introduced.limit(end).position(at), to);
    }

    // ---------------------------------------------------------------- progress

    /** Handles what has completed. */
    public void poll() {
        lock.lock();
        try {
            if (isFreed) {
                return;
            }
            engine.moved();
            for (Side each : sides.values()) {
                try {
                    process(each);
                } catch (RdmaException e) {
                    fail(each, e);
                }
            }
        } finally {
            dropOver();
            lock.unlock();
        }
    }

    private void process(Side side) throws RdmaException {
        side.queue.poll(side.handler);
        signal();
    }

    /** A side cannot go on, and if it is the only one, the endpoint cannot. Where sides are not looked through, {@link #dropOver} follows. */
    private void fail(@Nullable Side side, IOException why) {
        if (side != null && local.getAddress().isAnyLocalAddress()) {
            isAnyOver |= !side.isOver;
            side.isOver = true;
            return;
        }
        if (failure == null) {
            failure = why;
        }
        signal();
    }

    /**
     * Forgets sides that are over, with what their peers are known by. What has come stays, and what was on its way is lost. Nothing is
     * logged under the lock: whoever closes a device says so.
     */
    private void dropOver() {
        if (!isAnyOver || isFreed) {
            return;
        }
        isAnyOver = false;
        peers.values().removeIf(each -> each.side().isOver);
        keepArrivals();
        for (Iterator<Side> all = sides.values().iterator(); all.hasNext();) {
            Side each = all.next();
            if (each.isOver) {
                all.remove();
                // Not here: it waits for events that this thread may be handling.
                engine.execute(each.queue::close);
            }
        }
        signal();
    }

    /** What lies in memory of a side that is over moves to memory of its own. */
    private void keepArrivals() {
        for (int i = arrivals.size(); i > 0; i--) {
            Arrival each = arrivals.remove();
            Side side = each.side();
            if (side != null && side.isOver) {
                unslotted++;
                arrivals.add(new Arrival(null, each.source(),
                        ByteBuffer.allocate(each.data().remaining()).put(each.data()).flip(), -1));
            } else {
                arrivals.add(each);
            }
        }
    }

    private void signal() {
        boolean hasInput = hasInput();
        boolean hasOutput = hasOutput();
        if (hasInput) {
            reading.wake();
        }
        if (hasOutput) {
            writing.wake();
        }
        closing.wake();
        listener.onReady(hasInput, hasOutput);
    }

    /** {@return whether a receive does not wait} */
    public boolean hasInput() {
        lock.lock();
        try {
            return !arrivals.isEmpty() || isClosed || failure != null;
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether a send does not wait} */
    public boolean hasOutput() {
        lock.lock();
        try {
            return isClosed || failure != null
                    || sides.values().stream().allMatch(each -> each.queue.isRoomy());
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until a receive does not wait. An interrupted thread returns at once.
     *
     * @param timeoutNs {@link Long#MAX_VALUE} to wait without limit
     */
    public void awaitInput(long timeoutNs) {
        reading.await(this::hasInput, end(timeoutNs));
    }

    /** Waits until a send does not wait. As {@link #awaitInput}. */
    public void awaitOutput(long timeoutNs) {
        writing.await(this::hasOutput, end(timeoutNs));
    }

    private static long end(long timeoutNs) {
        return timeoutNs == Long.MAX_VALUE ? timeoutNs : System.nanoTime() + timeoutNs;
    }

    // ---------------------------------------------------------------- the end

    /** Ends it, and wakes who waits. What was sent still leaves. The port is free when it returns. Idempotent. */
    public void close() {
        lock.lock();
        try {
            if (isClosed) {
                return;
            }
            isClosed = true;
            signal();
        } finally {
            lock.unlock();
        }
        CountDownLatch isPortFree = new CountDownLatch(1);
        engine.introductions().close(socket, isPortFree::countDown);
        boolean mayWait = !engine.isLedByCaller();
        if (mayWait) {
            closing.await(this::isDrained, System.nanoTime() + PATIENCE.toNanos());
        }
        recordEnd();
        engine.execute(this::free);
        if (mayWait) {
            awaitFree(isPortFree);
        }
    }

    private void recordEnd() {
        if (!SocketEvents.recordsDatagramCloses()) {
            return;
        }
        lock.lock();
        try {
            SocketEvents.datagramClose(local, remote, settings.rule(),
                    System.nanoTime() - boundNs, counts.now(), failure);
        } finally {
            lock.unlock();
        }
    }

    private boolean isDrained() {
        lock.lock();
        try {
            return failure != null
                    || sides.values().stream().allMatch(each -> each.queue.isDrained());
        } finally {
            lock.unlock();
        }
    }

    private static void awaitFree(CountDownLatch isPortFree) {
        boolean wasInterrupted = false;
        long endNs = System.nanoTime() + PATIENCE.toNanos();
        while (isPortFree.getCount() > 0 && System.nanoTime() - endNs < 0) {
            try {
                boolean _ = isPortFree.await(PATIENCE.toNanos(), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                wasInterrupted = true;
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void free() {
        lock.lock();
        try {
            isFreed = true;
            arrivals.clear();
            sides.values().forEach(each -> each.queue.close());
        } finally {
            lock.unlock();
        }
        engine.open().remove(this);
    }
}
