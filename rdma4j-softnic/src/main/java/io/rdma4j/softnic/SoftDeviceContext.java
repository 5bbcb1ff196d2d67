package io.rdma4j.softnic;

import io.rdma4j.cm.PortSpace;
import io.rdma4j.protocol.wire.OutgoingPacket;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectCall;
import io.rdma4j.spi.EventQueue;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.Counter;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.EthernetAddress;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.ExtendedDeviceAttributes;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.GidType;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PhysicalState;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ThreadDomain;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** An open device. */
final class SoftDeviceContext implements CmContext {
    private static final int PORT = 1;
    private static final int CM_SUPPORTED = 0x0001_0000;

    private final SoftNic nic;
    private final LiveObjects children = new LiveObjects();
    private final LiveObjects totals = new LiveObjects();
    private final EventQueue<AsyncEvent> asyncEvents = new EventQueue<>("await asynchronous event");
    private boolean isClosed;

    SoftDeviceContext(SoftNic nic) {
        this.nic = nic;
    }

    SoftNic nic() {
        return nic;
    }

    /** {@return what must be closed before this} */
    LiveObjects children() {
        return children;
    }

    /** {@return everything made from this, directly or not, for limits} */
    LiveObjects totals() {
        return totals;
    }

    EventQueue<AsyncEvent> asyncEvents() {
        return asyncEvents;
    }

    void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the device context is closed");
        }
    }

    @Override
    public RdmaDevice device() {
        return nic.device();
    }

    @Override
    public DeviceAttributes queryDevice() {
        checkOpen();
        return Limits.attributes(nic.device().nodeGuid());
    }

    @Override
    public ExtendedDeviceAttributes queryDeviceExtended() throws RdmaException {
        throw RdmaException.unsupported("query device", "not yet");
    }

    @Override
    public long queryClock() throws RdmaException {
        throw RdmaException.unsupported("query clock", "not yet");
    }

    @Override
    public long queryPortSpeed(int port) throws RdmaException {
        throw RdmaException.unsupported("query port speed", "not yet");
    }

    @Override
    public AddressHandleAttributes pathBack(int port, WorkCompletion completion,
            MemorySegment header) throws RdmaException {
        throw RdmaException.unsupported("create address handle", "not yet");
    }

    @Override
    public EthernetAddress resolveEthernet(AddressHandleAttributes path) throws RdmaException {
        throw RdmaException.unsupported("resolve Ethernet address", "not yet");
    }

    @Override
    public ExtendedCompletionQueue createCompletionQueue(CompletionQueueInitAttributes attributes)
            throws RdmaException {
        throw RdmaException.unsupported("create completion queue", "not yet");
    }

    @Override
    public ThreadDomain allocateThreadDomain() throws RdmaException {
        throw RdmaException.unsupported("allocate thread domain", "not yet");
    }

    @Override
    public DeviceMemory allocateDeviceMemory(long byteSize, long byteAlignment)
            throws RdmaException {
        throw RdmaException.unsupported("allocate device memory", "not yet");
    }

    @Override
    public PortAttributes queryPort(int port) throws RdmaException {
        checkPort("query port", port);
        boolean isUp = nic.device().isUp();
        return new PortAttributes(isUp ? PortState.ACTIVE : PortState.DOWN, Mtu.MTU_4096,
                nic.device().activeMtu(), Limits.GID_TABLE, CM_SUPPORTED, Limits.MESSAGE,
                (int) counter(Counter.DROPPED_BAD_PKEY), (int) counter(Counter.DROPPED_BAD_QKEY), 1,
                0, 0, 0, 1, 0, 0, 0, 1, 1,
                isUp ? PhysicalState.LINK_UP : PhysicalState.DISABLED, LinkLayer.ETHERNET);
    }

    @Override
    public Gid queryGid(int port, int index) throws RdmaException {
        checkPort("query GID", port);
        Limits.checkRange("query GID", "the index", index, 0, Limits.GID_TABLE - 1);
        List<Gid> gids = nic.gids();
        return index < gids.size() ? gids.get(index) : Gid.ZERO;
    }

    @Override
    public GidEntry queryGidEntry(int port, int index) throws RdmaException {
        Gid gid = queryGid(port, index);
        if (gid.isZero()) {
            throw new RdmaException(Errno.ENOENT, "query GID",
                    "entry " + index + " of the table is empty");
        }
        return new GidEntry(gid, index, port, GidType.ROCE_V2, nic.device().interfaceIndex());
    }

    @Override
    public List<GidEntry> queryGidTable() throws RdmaException {
        List<GidEntry> entries = new ArrayList<>();
        for (int index = 0; index < nic.gids().size(); index++) {
            if (!queryGid(PORT, index).isZero()) {
                entries.add(queryGidEntry(PORT, index));
            }
        }
        return entries;
    }

    @Override
    public int queryPkey(int port, int index) throws RdmaException {
        checkPort("query P_Key", port);
        Limits.checkRange("query P_Key", "the index", index, 0, 0);
        return OutgoingPacket.DEFAULT_PKEY;
    }

    @Override
    public int pkeyIndex(int port, int pkey) throws RdmaException {
        checkPort("find P_Key", port);
        if (pkey != OutgoingPacket.DEFAULT_PKEY) {
            throw new RdmaException(Errno.ENOENT, "find P_Key",
                    String.format("0x%04x is not in the table; 0x%04x is", pkey,
                            OutgoingPacket.DEFAULT_PKEY));
        }
        return 0;
    }

    private void checkPort(String operation, int port) throws RdmaException {
        checkOpen();
        if (port != PORT) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "there is only port " + PORT + ", not " + port);
        }
    }

    @Override
    public long counter(Counter counter) {
        return nic.engine().counters().value(counter);
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() throws RdmaException {
        return nic.driver().call(nowNs -> {
            checkOpen();
            totals.addWithin("protection domain", Limits.DOMAINS, "max_pd");
            children.add("protection domain");
            return new SoftProtectionDomain(this);
        });
    }

    @Override
    public CompletionQueue createCompletionQueue(int capacity,
            @Nullable CompletionChannel channel, @Nullable Object userContext,
            int completionVector) throws RdmaException {
        String operation = "create completion queue";
        Limits.checkRange(operation, "the capacity", capacity, 1, Limits.COMPLETIONS);
        Limits.checkRange(operation, "the completion vector", completionVector, 0,
                Limits.COMPLETION_VECTORS - 1);
        return nic.driver().call(nowNs -> {
            checkOpen();
            totals.addWithin("completion queue", Limits.COMPLETION_QUEUES, "max_cq");
            try {
                SoftCompletionQueue queue = new SoftCompletionQueue(this, capacity, channel,
                        userContext);
                children.add("completion queue");
                return queue;
            } catch (RdmaException e) {
                totals.remove("completion queue");
                throw e;
            }
        });
    }

    @Override
    public AsyncEvent awaitAsyncEvent() throws RdmaException {
        return asyncEvents.take();
    }

    @Override
    public @Nullable AsyncEvent pollAsyncEvent(Duration timeout) throws RdmaException {
        return asyncEvents.poll(timeout);
    }

    @Override
    public void close() throws RdmaException {
        boolean isLast = nic.driver().call(nowNs -> {
            if (isClosed) {
                return false;
            }
            children.requireNone("close device");
            isClosed = true;
            return true;
        });
        if (isLast) {
            asyncEvents.close();
            nic.release();
        }
    }

    // ---------------------------------------------------------------- connection manager

    @Override
    public List<InetAddress> addresses() {
        return nic.addresses();
    }

    @Override
    public void claim(InetAddress address) throws RdmaException {
        nic.claim(address);
    }

    @Override
    public CmListener listen(PortSpace space, int port, @Nullable InetAddress address, int backlog,
            CmListener.Handler handler) throws RdmaException {
        return SoftConnections.listen(nic, space, port, address, backlog, handler);
    }

    @Override
    public CmConnection connect(ConnectCall call, CmConnection.Handler handler)
            throws RdmaException {
        return SoftConnections.connect(nic, call, handler);
    }
}
