// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.verbs;

import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.event.CompletionWaiters;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.ibverbs.abi.HotCalls;
import io.rdma4j.ibverbs.abi.Layout.Context;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.SystemSymbol;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.cm.NativeConnections;
import io.rdma4j.ibverbs.observe.KernelCounters;
import io.rdma4j.ibverbs.observe.OpenDevices;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.InfinibandBringUp;
import io.rdma4j.spi.InfinibandTransitions;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.spi.Outstanding;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.spi.QueuePairTransitions;
import io.rdma4j.spi.ResourceText;
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
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ThreadDomain;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.XrcDomain;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * An open native device. Calls that create, change and free objects take its lock; posting and polling do not. Its own
 * thread reads the library's events.
 */
public final class NativeContext implements CmContext, NativeConnections.Owner {
    private final RdmaDevice device;
    private final NativeLibraries libraries;
    private final Supplier<Map<InetAddress, Integer>> addresses;
    private final KernelCounters counters;
    private final @Nullable NativeConnections connections;
    private final DriverFaults faults;
    private final long pointer;
    private final int completionVectors;
    private final int ports;
    private final ContextFunctions functions;
    private final DeviceEvents events;
    private final DeviceQueries queries;
    private final HotCalls hotCalls;
    private final ReentrantLock lock = new ReentrantLock();
    private final Dependents dependents = new Dependents(this::onReleased);
    private final Set<NativeMemoryWindow> windows = new HashSet<>();
    private final WorkLedgers ledgers = new WorkLedgers();
    private final StateRecords states = new StateRecords();
    private final ContextView view = new ContextView(this);
    private final IwarpStates iwarpStates = new IwarpStates(this::onKernelState);
    private volatile @Nullable Runnable whenReleased;
    private volatile boolean isClosed;

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
        this.libraries = libraries;
        this.pointer = pointer;
        this.addresses = addresses;
        this.counters = counters;
        boolean isOpen = false;
        try {
            functions = new ContextFunctions(pointer);
            completionVectors = Native.getInt(Native.at(pointer, Context.SIZE),
                    Context.COMPLETION_VECTORS);
            queries = new DeviceQueries(this, completionVectors,
                    new GidFiles(counters.device()));
            DeviceAttributes attributes = queries.device();
            ports = attributes.physicalPortCount();
            CallChoice.requireLocks(attributes, System.getenv());
            hotCalls = CallChoice.of(attributes);
            faults = DriverFaults.of(attributes);
            events = new DeviceEvents(this, libraries);
            isOpen = true;
        } finally {
            if (!isOpen) {
                verbs().get(VerbsSymbol.CLOSE_DEVICE).call(pointer);
            }
        }
        connections = manager.of(this,
                isIwarp() ? iwarpStates::passive : UnaryOperator.identity());
        events.start();
        OpenDevices.OF_PROCESS.add(view);
    }

    // ---------------------------------------------------------------- for its objects

    Library<VerbsSymbol> verbs() {
        return libraries.verbs();
    }

    Library<SystemSymbol> system() {
        return libraries.system();
    }

    long pointer() {
        return pointer;
    }

    ContextFunctions functions() {
        return functions;
    }

    DriverFaults faults() {
        return faults;
    }

    /** {@return how it is posted to and polled} */
    HotCalls hotCalls() {
        return hotCalls;
    }

    WorkLedgers ledgers() {
        return ledgers;
    }

    /** {@return its windows that are not closed} Under its lock. */
    Set<NativeMemoryWindow> windows() {
        return windows;
    }

    Dependents dependents() {
        return dependents;
    }

    DeviceEvents events() {
        return events;
    }

    DeviceQueries queries() {
        return queries;
    }

    /** {@return the states of its queue pairs as they are recorded} */
    StateRecords states() {
        return states;
    }

    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    boolean isIwarp() {
        return device.transport() == TransportType.IWARP;
    }

    /** {@return whether the driver does not report the state of a queue pair, as siw's of rdma-core 44} */
    boolean isStateKept() {
        return isIwarp();
    }

    /** {@return the state of a new queue pair} An RNIC has none before INIT. */
    QueuePairState firstState() {
        return isIwarp() ? QueuePairState.INIT : QueuePairState.RESET;
    }

    QueuePairTransitions transitions() {
        return isIwarp() ? IwarpTransitions.INSTANCE : InfinibandTransitions.INSTANCE;
    }

    void checkOpen() throws RdmaException {
        if (isClosed) {
            throw RdmaClosedException.of("device context");
        }
    }

    // ---------------------------------------------------------------- events

    @Override
    public AsyncEventChannel asyncEventChannel() {
        return events.asyncEventChannel();
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

    /** A call with its own memory, while the device is open. */
    interface Call<T> {
        T with(Arena arena) throws RdmaException;
    }

    <T> T inCall(Call<T> call) throws RdmaException {
        lock.lock();
        try (Arena arena = Arena.ofConfined()) {
            checkOpen();
            return call.with(arena);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Map<String, Long> counters() {
        return counters.all();
    }

    // ---------------------------------------------------------------- objects

    @Override
    public ProtectionDomain allocateProtectionDomain() throws RdmaException {
        return inCall(arena -> {
            NativeProtectionDomain domain = new NativeProtectionDomain(this);
            dependents.add();
            return domain;
        });
    }

    @Override
    public ExtendedCompletionQueue createExtendedCompletionQueue(
            CompletionQueueInitAttributes wanted)
            throws RdmaException {
        checkOpen();
        String operation = "create completion queue";
        CompletionQueueInitAttributes attributes = new CompletionQueueInitAttributes(wanted);
        if (attributes.capacity() < 1) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "the capacity must be at least 1, not " + attributes.capacity());
        }
        if (attributes.completionVector() < 0
                || attributes.completionVector() >= Math.max(1, completionVectors)) {
            throw new RdmaException(Errno.EINVAL, operation, "the completion vector must be from 0"
                    + " to " + (completionVectors - 1) + ", not " + attributes.completionVector());
        }
        ProtectionDomain parent = attributes.parentDomain();
        NativeProtectionDomain own = parent == null ? null
                : NativeProtectionDomain.own(parent, this, operation);
        return inCall(arena -> {
            if (own != null) {
                own.requireParent(operation);
            }
            try {
                NativeCompletionQueue queue = new NativeCompletionQueue(this, attributes, own);
                dependents.add();
                return queue;
            } catch (OutOfMemoryError none) {
                throw MemoryErrors.outOfMemory(operation, none);
            }
        });
    }

    @Override
    public XrcDomain openXrcDomain() throws RdmaException {
        return inCall(arena -> NativeXrcDomain.open(this));
    }

    @Override
    public XrcDomain openXrcDomain(Path file, StandardOpenOption... options)
            throws RdmaException {
        return inCall(arena -> NativeXrcDomain.open(this, file, options));
    }

    @Override
    public ThreadDomain allocateThreadDomain() throws RdmaException {
        return inCall(arena -> new NativeThreadDomain(this));
    }

    @Override
    public DeviceMemory allocateDeviceMemory(long byteSize, long byteAlignment)
            throws RdmaException {
        return inCall(arena -> new NativeDeviceMemory(this, byteSize, byteAlignment));
    }

    // ---------------------------------------------------------------- for the connection manager

    /** The kernel has moved a queue pair to a state. */
    private void onKernelState(int number, QueuePairState state) {
        NativeQueuePair queuePair = events.queuePairsByNumber().get(number);
        if (queuePair != null) {
            queuePair.onKernelState(state);
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
        return ports == 1 ? 1 : addresses.get().getOrDefault(local, 1);
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
    public CmListener listen(ListenRequest request, CmListener.Handler handler)
            throws RdmaException {
        return requireConnections("listen").listen(request, handler);
    }

    @Override
    public @Nullable NativeConnections connections() {
        return connections;
    }

    /** {@return the LID of a group that an id has joined by a port, 0 if none has or the link has no LIDs} */
    int groupLid(Gid group, int port) {
        NativeConnections manager = connections();
        return manager == null ? 0 : manager.groupLid(group, port);
    }

    @Override
    public CmConnection connect(ConnectRequest request, CmConnection.Handler handler)
            throws RdmaException {
        return requireConnections("connect").connect(request,
                isIwarp() ? iwarpStates.active(request.queuePairNumber(), handler) : handler);
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
        if (queuePair instanceof NativeQueuePair own) {
            return own.ended(ofReceives);
        }
        throw new IllegalArgumentException("the queue pair is of another device");
    }

    @Override
    public Outstanding outstanding(QueuePair queuePair, boolean ofReceives) throws RdmaException {
        if (queuePair instanceof NativeQueuePair own) {
            return own.outstanding(ofReceives);
        }
        throw new IllegalArgumentException("the queue pair is of another device");
    }

    @Override
    public void watch(Watcher watcher) {
        NativeConnections manager = connections;
        if (manager != null) {
            manager.watch(watcher);
        }
    }

    @Override
    public CompletionWaiters waiters(CompletionQueue queue) {
        if (queue instanceof NativeCompletionQueue own && own.owner().equals(this)) {
            return own.waiters();
        }
        throw new IllegalArgumentException("the completion queue is of another device");
    }

    /** The last object of the context, or of one of its domains, was closed. */
    void onReleased() {
        Runnable retry = whenReleased;
        if (retry != null && !isClosed) {
            // Not a virtual thread: the task may close the device by blocking calls, which would occupy the carrier.
            Thread.ofPlatform().daemon().name("rdma4j-release").start(retry);
        }
    }

    @Override
    public void whenReleased(Runnable retry) {
        whenReleased = retry;
    }

    @Override
    public void close() throws RdmaException {
        String operation = "close device";
        lock.lock();
        try {
            if (isClosed) {
                return;
            }
            dependents.requireNone(operation);
            isClosed = true;
        } finally {
            lock.unlock();
        }
        OpenDevices.OF_PROCESS.remove(view);
        NativeConnections manager = connections;
        // From the last to the first. Nobody can close it again, so each is done even if one before it fails.
        try (Closing _ = () -> closeDevice(operation);
                Closing _ = () -> events.close(operation)) {
            if (manager != null) {
                manager.close();
            }
        }
    }

    private void closeDevice(String operation) throws RdmaException {
        verbs().get(VerbsSymbol.CLOSE_DEVICE).call(pointer).check(operation,
                "the library could not close it");
    }

    @Override
    public String toString() {
        return ResourceText.of(this);
    }
}
