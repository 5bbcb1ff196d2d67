// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.sockets.protocol.DatagramHeader;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionHandler;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.GidType;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/**
 * The UD queue pair of one local address of a datagram endpoint, with the memory of its datagrams: one slot for each send and each receive.
 * C: {@code struct ds_qp}. Not thread safe: its endpoint guards it.
 */
final class DatagramQueue {
    /** In front of each received datagram; nobody reads it, so all have one place. */
    private static final int GLOBAL_ROUTE_HEADER = 40;
    private static final int HOP_LIMIT = 64;
    /** How many handles are kept. Senders of made-up addresses must not fill the device. */
    private static final int MOST_HANDLES = 1024;

    private final CmId id;
    private final InetSocketAddress local;
    private final byte[] address;
    private final int mostBytes;
    private final int sends;
    private final int receives;
    private final int stride;
    private final int gidIndex;
    private final int trafficClass;
    private final Arena arena = Arena.ofShared();
    private final ByteBuffer bytes;
    private final MemoryRegion region;
    private final CompletionQueue completions;
    private final CompletionBatch batch = new CompletionBatch();
    private final QueuePair queuePair;
    private final Map<InetAddress, AddressHandle> handles = new HashMap<>();
    private final SendWorkRequest send = new SendWorkRequest();
    private final ReceiveWorkRequest receive = new ReceiveWorkRequest();
    /** The free slots for sends: as many as there are free, at the beginning. */
    private final int[] free;
    private int freeCount;

    /**
     * @param local the address of a device, and the port that peers answer to
     * @throws SocketException if the device has no datagrams
     */
    DatagramQueue(SocketEngine engine, SocketSettings settings, InetSocketAddress local,
            EngineEvents.EventUser events, EngineEvents.CompletionUser user)
            throws RdmaException, SocketException {
        this.local = local;
        address = local.getAddress().getAddress();
        trafficClass = settings.typeOfService();
        id = engine.newId(PortSpace.UDP, events);
        MemoryRegion registered = null;
        CompletionQueue made = null;
        try {
            bind(settings.device());
            DeviceAttributes limits = id.context().queryDevice();
            long deepest = limits.limit(DeviceLimit.MAX_QP_WR);
            int mtu = id.context().queryPort(id.devicePort()).activeMtu().bytes();
            // A datagram that is longer than its receive would end the queue pair.
            stride = Math.max(mtu, DatagramHeader.MOST_DATAGRAM);
            mostBytes = Math.min(mtu, DatagramHeader.MOST_DATAGRAM)
                    - DatagramHeader.length(address);
            sends = count(settings.sendBytes(), settings.sends(), deepest);
            receives = count(settings.receiveBytes(), settings.credits(), deepest);
            gidIndex = gidIndex();
            free = new int[sends];
            for (int i = 0; i < sends; i++) {
                free[freeCount++] = i;
            }
            MemorySegment memory = arena.allocate(
                    GLOBAL_ROUTE_HEADER + (long) stride * (sends + receives), Long.BYTES);
            bytes = memory.asByteBuffer();
            registered = id.protectionDomain().register(memory, AccessFlag.LOCAL_WRITE);
            region = registered;
            made = id.context().createCompletionQueue(new CompletionQueueInitAttributes()
                    .capacity(sends + receives).channel(engine.completions()).userContext(user));
            completions = made;
            queuePair = id.createQueuePair(new QueuePairInitAttributes().completionQueue(made)
                    .capabilities(new QueuePairCapabilities(sends, receives, 1, 2, 0)));
            completions.requestNotification();
            for (int i = 0; i < receives; i++) {
                postReceive(i);
            }
        } catch (RdmaException | SocketException | RuntimeException e) {
            undo(made, registered);
            throw e;
        }
    }

    private void bind(@Nullable String device) throws RdmaException, SocketException {
        if (device != null) {
            id.device(device);
        }
        try {
            id.bindAddress(new InetSocketAddress(local.getAddress(), 0));
        } catch (RdmaException e) {
            if (e.errno() == Errno.EOPNOTSUPP) {
                throw noDatagrams(e);
            }
            throw e;
        }
        if (id.context().device().transport() == TransportType.IWARP) {
            throw noDatagrams(null);
        }
    }

    private SocketException noDatagrams(@Nullable RdmaException cause) {
        SocketException thrown = new SocketException("the device of "
                + local.getAddress().getHostAddress() + " has no datagrams: only RoCE has them,"
                + " iWARP has not");
        thrown.initCause(cause);
        return thrown;
    }

    private static int count(int bufferBytes, int wanted, long deepest) {
        int fitting = Math.max(1, bufferBytes / DatagramHeader.MOST_DATAGRAM);
        return (int) Math.min(deepest, Math.min(fitting, wanted));
    }

    private int gidIndex() throws RdmaException {
        Gid own = Gid.of(local.getAddress());
        for (GidEntry each : id.context().queryGidTable()) {
            if (each.port() == id.devicePort() && each.type() == GidType.ROCE_V2
                    && each.gid().equals(own)) {
                return each.index();
            }
        }
        throw new RdmaException(Errno.EADDRNOTAVAIL, "open a datagram channel",
                id.context().device().name() + " has no RoCE v2 GID for "
                        + local.getAddress().getHostAddress());
    }

    private void undo(@Nullable CompletionQueue made, @Nullable MemoryRegion registered) {
        Freeing.all(() -> {
            if (made != null) {
                id.closeQueuePair();
                made.close();
            }
        }, () -> {
            if (registered != null) {
                registered.close();
            }
        }, id::close, arena::close);
    }

    InetSocketAddress local() {
        return local;
    }

    /** {@return the bytes of its address, which the caller must not change} */
    byte[] address() {
        return address;
    }

    String device() {
        return id.context().device().name();
    }

    int number() {
        return queuePair.number();
    }

    /** {@return how long a datagram may be, without its header} */
    int mostBytes() {
        return mostBytes;
    }

    int receives() {
        return receives;
    }

    // ---------------------------------------------------------------- sends

    boolean isRoomy() {
        return freeCount > 0;
    }

    boolean isDrained() {
        return leaving() == 0;
    }

    /** {@return how many datagrams are on their way} */
    int leaving() {
        return sends - freeCount;
    }

    /** {@return the handle of a peer's address, which is made once} */
    private AddressHandle handle(InetAddress peer) throws RdmaException {
        AddressHandle known = handles.get(peer);
        if (known == null) {
            if (handles.size() >= MOST_HANDLES && isDrained()) {
                closeHandles();
            }
            known = id.protectionDomain()
                    .createAddressHandle(AddressHandleAttributes.to(Gid.of(peer), gidIndex)
                            .withHopLimit(HOP_LIMIT).withTrafficClass(trafficClass)
                            .withPort(id.devicePort()));
            handles.put(peer, known);
        }
        return known;
    }

    /** Sends a datagram, for which there is room. The buffers move on. */
    void send(ByteBuffer[] from, int first, int buffers, InetAddress peer, int number)
            throws RdmaException {
        AddressHandle handle = handle(peer);
        int slot = free[freeCount - 1];
        int at = slot * stride;
        ByteBuffer to = bytes.duplicate().limit(at + stride).position(at);
        DatagramHeader.put(to, address, local.getPort());
        for (int i = first; i < first + buffers; i++) {
            to.put(from[i]);
        }
        queuePair.postSend(send.clear().send().id(slot)
                .to(handle, number, DatagramParameters.UDP_QKEY)
                .add(region, at, to.position() - at).set(SendFlag.SIGNALED));
        freeCount--;
    }

    /** A send has completed. */
    void onSent(long slot) {
        free[freeCount++] = (int) slot;
    }

    // ---------------------------------------------------------------- receives

    /** {@return whether the ID of a request is that of a receive} */
    static boolean isReceive(long requestId) {
        return requestId < 0;
    }

    /** {@return the slot of a receive} */
    static int slot(long requestId) {
        return (int) ~requestId;
    }

    private int receiveOffset(int slot) {
        return (sends + slot) * stride;
    }

    /** {@return what was received into a slot} */
    ByteBuffer received(int slot, long length) {
        int at = receiveOffset(slot);
        return bytes.duplicate().limit(at + (int) length - GLOBAL_ROUTE_HEADER).position(at);
    }

    /** Has room for a further datagram in a slot. */
    void postReceive(int slot) throws RdmaException {
        queuePair.postReceive(receive.clear().id(~(long) slot)
                .add(region, (long) stride * (sends + receives), GLOBAL_ROUTE_HEADER)
                .add(region, receiveOffset(slot), stride));
    }

    void poll(CompletionHandler handler) throws RdmaException {
        batch.poll(completions, handler);
    }

    void requestNotification() throws RdmaException {
        completions.requestNotification();
    }

    private void closeHandles() {
        handles.values().forEach(each -> Freeing.all(each::close));
        handles.clear();
    }

    /** Frees everything. */
    void close() {
        Freeing.all(id::closeQueuePair);
        closeHandles();
        Freeing.all(completions::close, region::close, id::close, arena::close);
    }
}
