// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.device.AsyncEvents;
import io.rdma4j.device.DeviceEventChannel;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.OwnedObjects;
import io.rdma4j.device.ReportedBits;
import io.rdma4j.device.ReportedGid;
import io.rdma4j.device.ReportedPort;
import io.rdma4j.device.ResourceText;
import io.rdma4j.event.CompletionWaiters;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.GlobalRouteHeader;
import io.rdma4j.softnic.engine.DeviceCounters;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.spi.Outstanding;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.EthernetAddress;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PhysicalState;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortFlag;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.ThreadDomain;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import io.rdma4j.verbs.XrcDomain;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/** An open device. */
public final class SoftDeviceContext implements CmContext {
    private static final int PORT = 1;
    private static final long MAX_ALIGNMENT = 1 << 12;
    private static final int CM_SUPPORTED = 0x0001_0000;

    private final NicServices nic;
    private final SoftContextServices services;
    private final AsyncEvents portEvents;
    private final List<CmContext.Watcher> watchers = new CopyOnWriteArrayList<>();

    public SoftDeviceContext(NicServices nic) {
        this.nic = nic;
        services = new SoftContextServices(this, nic);
        portEvents = new AsyncEvents(services.asyncEventChannel(), null);
    }

    /** {@return the open device that it shares with other contexts} */
    public NicServices nic() {
        return nic;
    }

    /** Something happened to the port or the whole device. */
    public void onPortEvent(AsyncEventType type) {
        portEvents.publish(type, PORT);
    }

    /** @throws RdmaException EBADF if it is closed */
    public void checkOpen() throws RdmaException {
        services.checkOpen();
    }

    @Override
    public RdmaDevice device() {
        return nic.device();
    }

    @Override
    public Map<String, String> details() {
        return nic.details();
    }

    private DeviceDescription description() {
        return nic.transport().description();
    }

    private List<Gid> gidTable() {
        return description().gidTable(nic.device().nodeGuid(), nic.port().gids());
    }

    @Override
    public DeviceAttributes queryDevice() throws RdmaException {
        checkOpen();
        return description().attributes(nic.device().nodeGuid());
    }

    @Override
    public long queryClock() throws RdmaException {
        checkOpen();
        return nic.rawNs();
    }

    @Override
    public long queryPortSpeedMbps(int port) throws RdmaException {
        checkPort("query port speed", port);
        // 1X at 2.5 Gb/s, as queryPort says: a software device is as fast as its processor.
        return 2_500;
    }

    @Override
    public PortAttributes queryPort(int port) throws RdmaException {
        checkPort("query port", port);
        boolean isUp = nic.port().isUp();
        return new ReportedPort((isUp ? PortState.ACTIVE : PortState.DOWN).code(),
                Mtu.MTU_4096.code(),
                nic.activeMtu().code(), description().gidTableLength(), CM_SUPPORTED, 0,
                Limits.MESSAGE,
                (int) counts().value(Counter.DROPPED_BAD_PKEY),
                (int) counts().value(Counter.DROPPED_BAD_QKEY),
                description().partitionKeys().size(), 0, 0, 0, 1, 0, 0, 0, 1, 1,
                (isUp ? PhysicalState.LINK_UP : PhysicalState.DISABLED).code(),
                LinkLayer.ETHERNET.code(),
                ReportedBits.of(description().portFlags(), PortFlag::bit));
    }

    @Override
    public Gid queryGid(int port, int index) throws RdmaException {
        checkPort("query GID", port);
        Limits.checkRange("query GID", "the index", index, 0,
                description().gidTableLength() - 1);
        List<Gid> gids = gidTable();
        return index < gids.size() ? gids.get(index) : Gid.ZERO;
    }

    @Override
    public GidEntry queryGidEntry(int port, int index) throws RdmaException {
        Gid gid = queryGid(port, index);
        if (gid.isZero()) {
            throw new RdmaException(Errno.ENODATA, "query GID",
                    "entry " + index + " of the table is empty");
        }
        return new ReportedGid(gid, index, port, description().gidType().code(),
                nic.device().index());
    }

    @Override
    public List<GidEntry> queryGidTable() throws RdmaException {
        List<GidEntry> entries = new ArrayList<>();
        for (int index = 0; index < gidTable().size(); index++) {
            if (!queryGid(PORT, index).isZero()) {
                entries.add(queryGidEntry(PORT, index));
            }
        }
        return entries;
    }

    @Override
    public int queryPkey(int port, int index) throws RdmaException {
        List<Integer> keys = partitionKeys("query P_Key", port);
        Limits.checkRange("query P_Key", "the index", index, 0, keys.size() - 1);
        return keys.get(index);
    }

    @Override
    public int pkeyIndex(int port, int pkey) throws RdmaException {
        List<Integer> keys = partitionKeys("find P_Key", port);
        int index = keys.indexOf(pkey);
        if (index < 0) {
            throw new RdmaException(Errno.ENOENT, "find P_Key",
                    String.format("0x%04x is not in the table; it has %s", pkey, keys.stream()
                            .map(key -> String.format("0x%04x", key))
                            .collect(Collectors.joining(", "))));
        }
        return index;
    }

    private List<Integer> partitionKeys(String operation, int port) throws RdmaException {
        checkPort(operation, port);
        List<Integer> keys = description().partitionKeys();
        if (keys.isEmpty()) {
            throw RdmaException.unsupported(operation, "this device has no partitions");
        }
        return keys;
    }

    private void checkPort(String operation, int port) throws RdmaException {
        checkOpen();
        if (port != PORT) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "there is only port " + PORT + ", not " + port);
        }
    }

    @Override
    public Map<String, Long> counters() {
        return counts().byName(nic.transport().counters());
    }

    private DeviceCounters counts() {
        return nic.driver().engine().counters();
    }

    @Override
    public XrcDomain openXrcDomain() throws RdmaException {
        checkOpen();
        return CmContext.super.openXrcDomain();
    }

    @Override
    public XrcDomain openXrcDomain(Path file, StandardOpenOption... options)
            throws RdmaException {
        checkOpen();
        return CmContext.super.openXrcDomain(file, options);
    }

    @Override
    public ProtectionDomain allocateProtectionDomain() throws RdmaException {
        return nic.driver().call(nowNs -> {
            checkOpen();
            nic.objects().totals().requireRoom(ObjectKind.PROTECTION_DOMAIN, Limits.DOMAINS,
                    "max_pd");
            nic.objects().totals().add(ObjectKind.PROTECTION_DOMAIN);
            services.children().add(ObjectKind.PROTECTION_DOMAIN);
            SoftProtectionDomain domain = new SoftProtectionDomain(services);
            services.owned().add(ObjectKind.PROTECTION_DOMAIN, domain);
            return domain;
        });
    }

    @Override
    public ExtendedCompletionQueue createExtendedCompletionQueue(
            CompletionQueueInitAttributes attributes)
            throws RdmaException {
        checkOpen();
        String operation = "create completion queue";
        Limits.checkRange(operation, "the capacity", attributes.capacity(), 1,
                Limits.COMPLETIONS);
        Limits.checkRange(operation, "the completion vector", attributes.completionVector(), 0,
                Limits.COMPLETION_VECTORS - 1);
        ProtectionDomain parent = attributes.parentDomain();
        if (parent != null && !parent.context().equals(this)) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "the parent domain is of another device context");
        }
        return nic.driver().call(nowNs -> {
            checkOpen();
            nic.objects().totals().requireRoom(ObjectKind.COMPLETION_QUEUE,
                    Limits.COMPLETION_QUEUES,
                    "max_cq");
            SoftCompletionQueue queue = new SoftCompletionQueue(services, attributes);
            nic.objects().totals().add(ObjectKind.COMPLETION_QUEUE);
            services.children().add(ObjectKind.COMPLETION_QUEUE);
            services.owned().add(ObjectKind.COMPLETION_QUEUE, queue);
            return queue;
        });
    }

    @Override
    public ThreadDomain allocateThreadDomain() throws RdmaException {
        return nic.driver().call(nowNs -> {
            checkOpen();
            services.children().add(ObjectKind.THREAD_DOMAIN);
            SoftThreadDomain domain = new SoftThreadDomain(services);
            services.owned().add(ObjectKind.THREAD_DOMAIN, domain);
            return domain;
        });
    }

    @Override
    public DeviceMemory allocateDeviceMemory(long byteSize, long byteAlignment)
            throws RdmaException {
        String operation = "allocate device memory";
        checkOpen();
        Limits.checkRange(operation, "the size", byteSize, 1, Limits.DEVICE_MEMORY);
        Limits.checkRange(operation, "the alignment", byteAlignment, 1, MAX_ALIGNMENT);
        if (Long.bitCount(byteAlignment) != 1) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "the alignment must be a power of two, not " + byteAlignment);
        }
        return nic.driver().call(nowNs -> {
            checkOpen();
            nic.objects().takeDeviceMemory(byteSize);
            try {
                SoftDeviceMemory memory = new SoftDeviceMemory(services, byteSize, byteAlignment);
                services.children().add(ObjectKind.DEVICE_MEMORY);
                services.owned().add(ObjectKind.DEVICE_MEMORY, memory);
                return memory;
            } catch (OutOfMemoryError none) {
                nic.objects().releaseDeviceMemory(byteSize);
                throw MemoryErrors.outOfMemory(operation, none);
            }
        });
    }

    // ---------------------------------------------------------------- paths

    @Override
    public AddressHandleAttributes pathBack(int port, WorkCompletion completion,
            MemorySegment header) throws RdmaException {
        String operation = "find path back";
        checkPort(operation, port);
        services.datagrams(operation);
        if (!completion.has(WorkCompletionFlag.GRH)) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "the completion is not that of a datagram with a global route header");
        }
        GlobalRouteHeader.Addresses route = GlobalRouteHeader.read(header);
        if (route == null) {
            throw new RdmaException(Errno.EINVAL, operation, "the memory holds no global route"
                    + " header; give the first 40 bytes of the receive buffer");
        }
        int index = nic.port().gids().indexOf(route.destination());
        if (index < 0 && route.destination().isMulticast()) {
            index = firstOfVersion(route.destination().isIpv4());
        }
        if (index < 0) {
            throw new RdmaException(Errno.EINVAL, operation, route.destination().addressText()
                    + " is no address of " + nic.device().name());
        }
        return AddressHandleAttributes.to(route.source(), index)
                .withTrafficClass(route.trafficClass()).withFlowLabel(route.flowLabel());
    }

    private int firstOfVersion(boolean isIpv4) {
        List<Gid> gids = nic.port().gids();
        for (int i = 0; i < gids.size(); i++) {
            if (!gids.get(i).isZero() && gids.get(i).isIpv4() == isIpv4) {
                return i;
            }
        }
        return -1;
    }

    @Override
    public EthernetAddress resolveEthernet(AddressHandleAttributes path) throws RdmaException {
        checkOpen();
        services.datagrams("resolve Ethernet address");
        ModifyChecks.checkPath("resolve Ethernet address", nic.port().gids(), path);
        return Neighbours.find(nic.port().networkInterface(), path.destination());
    }

    @Override
    public DeviceEventChannel asyncEventChannel() {
        return services.asyncEventChannel();
    }

    @Override
    public @Nullable QueuePair queuePair(int number) throws RdmaException {
        checkOpen();
        return services.queuePairs().find(number);
    }

    @Override
    public void closeAll() throws RdmaException {
        if (services.isClosed()) {
            return;
        }
        if (!watchers.isEmpty()) {
            throw OwnedObjects.sharedByIds(device());
        }
        services.owned().closeAll(this::close);
    }

    @Override
    public void close() throws RdmaException {
        boolean isLast = nic.driver().call(nowNs -> services.beginClose("close device"));
        if (isLast) {
            services.asyncEventChannel().end();
            watchers.forEach(nic::forget);
            nic.release(this);
        }
    }

    // ---------------------------------------------------------------- connection manager

    @Override
    public List<InetAddress> addresses() {
        return nic.port().addresses();
    }

    @Override
    public void claim(InetAddress address) throws RdmaException {
        nic.port().claim(address);
    }

    @Override
    public void claimUsual() {
        nic.port().claimUsual();
    }

    @Override
    public PrivateDataLimits privateDataLimits() {
        return nic.transport().connections().privateDataLimits();
    }

    @Override
    public int portNumber(InetAddress local) {
        return PORT;
    }

    @Override
    public void checkRoute(InetAddress local, InetAddress destination) throws RdmaException {
        nic.transport().connections().checkRoute(this, local, destination);
    }

    @Override
    public QueuePairBringUp bringUp(InetAddress local) {
        return nic.transport().connections().bringUp(local);
    }

    @Override
    public SendOpcode answeredOperation() {
        return nic.transport().connections().answeredOperation();
    }

    @Override
    public CmListener listen(ListenRequest request, CmListener.Handler handler)
            throws RdmaException {
        checkOpen();
        return nic.transport().connections().listen(this, request, handler);
    }

    @Override
    public CmConnection connect(ConnectRequest request, CmConnection.Handler handler)
            throws RdmaException {
        checkOpen();
        return nic.transport().connections().connect(request, handler);
    }

    @Override
    public @Nullable CmDatagrams datagramServices() {
        return nic.transport().connections().datagrams(this);
    }

    @Override
    public void whenReleased(Runnable retry) {
        services.whenReleased(retry);
    }

    @Override
    public ProgressDriver progressDriver() {
        return nic.driver().progress();
    }

    @Override
    public CompletionWaiters waiters(CompletionQueue queue) {
        return own(queue).waiters();
    }

    @Override
    public boolean take(CompletionQueue queue, WorkCompletion into) throws RdmaException {
        return own(queue).take(into);
    }

    private static SoftCompletionQueue own(CompletionQueue queue) {
        if (queue instanceof SoftCompletionQueue own) {
            return own;
        }
        throw new IllegalArgumentException("the completion queue is of another device");
    }

    @Override
    public @Nullable Errno ended(QueuePair queuePair, boolean ofReceives) throws RdmaException {
        if (queuePair instanceof SoftQueuePair own) {
            return own.ended(ofReceives);
        }
        throw new IllegalArgumentException("the queue pair is of another device");
    }

    @Override
    public Outstanding outstanding(QueuePair queuePair, boolean ofReceives) throws RdmaException {
        if (queuePair instanceof SoftQueuePair own) {
            return own.outstanding(ofReceives);
        }
        throw new IllegalArgumentException("the queue pair is of another device");
    }

    @Override
    public void watch(CmContext.Watcher watcher) {
        watchers.add(watcher);
        nic.watch(watcher);
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
