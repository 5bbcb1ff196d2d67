// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.device.ObjectKind;
import io.rdma4j.device.OwnedObjects;
import io.rdma4j.device.ResourceText;
import io.rdma4j.event.CompletionWaiters;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.ibverbs.cm.CmServices;
import io.rdma4j.ibverbs.cm.NativeConnections;
import io.rdma4j.ibverbs.completion.NativeCompletionQueue;
import io.rdma4j.ibverbs.device.AwaitedQueuePair;
import io.rdma4j.ibverbs.device.Closing;
import io.rdma4j.ibverbs.device.ContextServices;
import io.rdma4j.ibverbs.device.DeviceQueries;
import io.rdma4j.ibverbs.device.GidFiles;
import io.rdma4j.ibverbs.device.KernelStateTarget;
import io.rdma4j.ibverbs.device.NativeLibraries;
import io.rdma4j.ibverbs.memory.NativeDeviceMemory;
import io.rdma4j.ibverbs.observe.KernelCounters;
import io.rdma4j.ibverbs.observe.ObservedDevices;
import io.rdma4j.ibverbs.xrc.NativeXrcDomain;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.InfinibandBringUp;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.Outstanding;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEventChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceMemory;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.EthernetAddress;
import io.rdma4j.verbs.ExtendedCompletionQueue;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.ThreadDomain;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.XrcDomain;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * An open native device. Calls that create, change and free objects take its lock; posting and polling do not. Its own
 * thread reads the library's events.
 */
public final class NativeContext implements CmContext, CmServices.Owner {
    private final ContextServices services;
    private final DeviceQueries queries;
    private final RdmaDevice device;
    private final Supplier<Map<InetAddress, Integer>> addresses;
    private final KernelCounters counters;
    private final @Nullable NativeConnections connections;
    private final ContextView view = new ContextView(this);
    /** Whether the ids of the process share it. */
    private volatile boolean isWatched;
    private final IwarpStates iwarpStates = new IwarpStates(this::onKernelState);

    /**
     * Takes over a device that the library has opened.
     *
     * @param pointer the address of its {@code ibv_context}; closed if this fails
     * @param addresses its IP addresses, each with its port
     * @param manager the connection manager of all devices
     * @param counters the counters of its driver
     */
    public NativeContext(RdmaDevice device, NativeLibraries libraries, long pointer,
            Supplier<Map<InetAddress, Integer>> addresses, ConnectionManager manager,
            KernelCounters counters) throws RdmaException {
        this.device = device;
        this.addresses = addresses;
        this.counters = counters;
        services = new ContextServices(this, device, libraries, pointer,
                new GidFiles(counters.device()));
        queries = services.queries();
        NativeConnections found = manager.of(this,
                services.isIwarp() ? iwarpStates::passive : UnaryOperator.identity());
        connections = found;
        if (found != null) {
            services.groupLids(found::groupLid);
        }
        services.events().start();
        ObservedDevices.OF_PROCESS.add(view);
    }

    public ContextServices services() {
        return services;
    }

    // ---------------------------------------------------------------- events

    @Override
    public AsyncEventChannel asyncEventChannel() {
        return services.events().asyncEventChannel();
    }

    // ---------------------------------------------------------------- what it is

    @Override
    public RdmaDevice device() {
        return device;
    }

    @Override
    public DeviceAttributes queryDevice() throws RdmaException {
        return queries.device();
    }

    @Override
    public long queryClock() throws RdmaException {
        return queries.clock();
    }

    @Override
    public PortAttributes queryPort(int port) throws RdmaException {
        return queries.port(port);
    }

    @Override
    public long queryPortSpeedMbps(int port) throws RdmaException {
        return queries.portSpeedMbps(port);
    }

    @Override
    public Gid queryGid(int port, int index) throws RdmaException {
        return queries.gid(port, index);
    }

    @Override
    public GidEntry queryGidEntry(int port, int index) throws RdmaException {
        return queries.gidEntry(port, index);
    }

    @Override
    public List<GidEntry> queryGidTable() throws RdmaException {
        return queries.gidTable();
    }

    @Override
    public int queryPkey(int port, int index) throws RdmaException {
        return queries.pkey(port, index);
    }

    @Override
    public int pkeyIndex(int port, int pkey) throws RdmaException {
        return queries.pkeyIndex(port, pkey);
    }

    @Override
    public AddressHandleAttributes pathBack(int port, WorkCompletion completion,
            MemorySegment header) throws RdmaException {
        return queries.pathBack(port, completion, header);
    }

    @Override
    public EthernetAddress resolveEthernet(AddressHandleAttributes path) throws RdmaException {
        return queries.resolveEthernet(path);
    }

    @Override
    public Map<String, Long> counters() {
        return counters.all();
    }

    // ---------------------------------------------------------------- objects

    @Override
    public ProtectionDomain allocateProtectionDomain() throws RdmaException {
        return services.inCall(arena -> {
            NativeProtectionDomain domain = new NativeProtectionDomain(services);
            services.children().add(ObjectKind.PROTECTION_DOMAIN);
            return domain;
        });
    }

    @Override
    public ExtendedCompletionQueue createExtendedCompletionQueue(
            CompletionQueueInitAttributes wanted) throws RdmaException {
        return NativeCompletionQueue.create(services, wanted);
    }

    @Override
    public XrcDomain openXrcDomain() throws RdmaException {
        return services.inCall(arena -> NativeXrcDomain.open(services));
    }

    @Override
    public XrcDomain openXrcDomain(Path file, StandardOpenOption... options)
            throws RdmaException {
        return services.inCall(arena -> NativeXrcDomain.open(services, file, options));
    }

    @Override
    public ThreadDomain allocateThreadDomain() throws RdmaException {
        return services.inCall(arena -> new NativeThreadDomain(services));
    }

    @Override
    public DeviceMemory allocateDeviceMemory(long byteSize, long byteAlignment)
            throws RdmaException {
        return services.inCall(arena -> new NativeDeviceMemory(services, byteSize, byteAlignment));
    }

    // ---------------------------------------------------------------- for the connection manager

    /** The kernel has moved a queue pair to a state. */
    private void onKernelState(int number, QueuePairState state) {
        if (services.events().queuePair(number) instanceof KernelStateTarget target) {
            target.onKernelState(state);
        }
    }

    private NativeConnections requireConnections(String operation) throws RdmaException {
        NativeConnections manager = connections;
        if (manager == null) {
            throw RdmaException.unsupported(operation, "the system has no connection manager for"
                    + " programs: install librdmacm1, and modprobe rdma_ucm");
        }
        return manager;
    }

    @Override
    public List<InetAddress> addresses() {
        return List.copyOf(addresses.get().keySet());
    }

    @Override
    public void claim(InetAddress address) throws RdmaException {
        if (!addresses.get().containsKey(address)) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, "hold address",
                    address.getHostAddress() + " is no address of " + device.name());
        }
    }

    @Override
    public PrivateDataLimits privateDataLimits() {
        NativeConnections manager = connections;
        return manager == null ? new PrivateDataLimits(0, 0, 0) : manager.privateDataLimits();
    }

    @Override
    public int portNumber(InetAddress local) {
        return services.ports() == 1 ? 1 : addresses.get().getOrDefault(local, 1);
    }

    @Override
    public void checkRoute(InetAddress local, InetAddress destination) throws RdmaException {
        requireConnections("resolve route").checkRoute(local, destination);
    }

    @Override
    public QueuePairBringUp bringUp(InetAddress local) {
        NativeConnections manager = connections;
        return manager == null ? InfinibandBringUp.unconnected(portNumber(local))
                : manager.bringUp(local);
    }

    @Override
    public SendOpcode answeredOperation() {
        return services.isIwarp() ? SendOpcode.RDMA_READ : SendOpcode.RDMA_WRITE;
    }

    @Override
    public CmListener listen(ListenRequest request, CmListener.Handler handler)
            throws RdmaException {
        return requireConnections("listen").listen(request, handler);
    }

    @Override
    public @Nullable CmServices cmServices() {
        NativeConnections manager = connections;
        return manager == null ? null : manager.services();
    }

    @Override
    public CmConnection connect(ConnectRequest request, CmConnection.Handler handler)
            throws RdmaException {
        return requireConnections("connect").connect(request,
                services.isIwarp() ? iwarpStates.active(request.queuePairNumber(), handler)
                        : handler);
    }

    @Override
    public @Nullable CmDatagrams datagramServices() {
        NativeConnections manager = connections;
        return manager == null ? null : manager.datagramServices();
    }

    /** {@return {@link ProgressDriver#NONE}: the context's own threads read the events} */
    @Override
    public ProgressDriver progressDriver() {
        return ProgressDriver.NONE;
    }

    @Override
    public @Nullable Errno ended(QueuePair queuePair, boolean ofReceives) throws RdmaException {
        if (queuePair instanceof AwaitedQueuePair own) {
            return own.ended(ofReceives);
        }
        throw new IllegalArgumentException("the queue pair is of another device");
    }

    @Override
    public Outstanding outstanding(QueuePair queuePair, boolean ofReceives) throws RdmaException {
        if (queuePair instanceof AwaitedQueuePair own) {
            return own.outstanding(ofReceives);
        }
        throw new IllegalArgumentException("the queue pair is of another device");
    }

    @Override
    public void watch(Watcher watcher) {
        isWatched = true;
        NativeConnections manager = connections;
        if (manager != null) {
            manager.watch(watcher);
        }
    }

    @Override
    public CompletionWaiters waiters(CompletionQueue queue) {
        if (queue instanceof NativeCompletionQueue own && own.owner().equals(services)) {
            return own.waiters();
        }
        throw new IllegalArgumentException("the completion queue is of another device");
    }

    @Override
    public void whenReleased(Runnable retry) {
        services.whenReleased(retry);
    }

    @Override
    public @Nullable QueuePair queuePair(int number) throws RdmaException {
        services.checkOpen();
        return services.events().queuePair(number);
    }

    @Override
    public void closeAll() throws RdmaException {
        if (services.isClosed()) {
            return;
        }
        if (isWatched) {
            throw OwnedObjects.sharedByIds(device);
        }
        services.owned().closeAll(this::close);
    }

    @Override
    public void close() throws RdmaException {
        String operation = "close device";
        if (!services.beginClose(operation)) {
            return;
        }
        ObservedDevices.OF_PROCESS.remove(view);
        NativeConnections manager = connections;
        // From the last to the first. Nobody can close it again, so each is done even if one before it fails.
        try (Closing _ = () -> services.closeDevice(operation);
                Closing _ = () -> services.events().close(operation)) {
            if (manager != null) {
                manager.close();
            }
        }
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
