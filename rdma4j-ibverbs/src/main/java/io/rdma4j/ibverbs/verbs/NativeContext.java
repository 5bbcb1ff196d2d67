package io.rdma4j.ibverbs.verbs;

import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.event.CompletionWaiters;
import io.rdma4j.event.EventQueue;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.ibverbs.abi.ContextOperation;
import io.rdma4j.ibverbs.abi.Layout;
import io.rdma4j.ibverbs.abi.Layout.Context;
import io.rdma4j.ibverbs.abi.Library;
import io.rdma4j.ibverbs.abi.Native;
import io.rdma4j.ibverbs.abi.NativeFunction;
import io.rdma4j.ibverbs.abi.Outcome;
import io.rdma4j.ibverbs.abi.VerbsSymbol;
import io.rdma4j.ibverbs.cm.NativeConnections;
import io.rdma4j.ibverbs.event.EventLoop;
import io.rdma4j.ibverbs.values.DeviceValues;
import io.rdma4j.ibverbs.values.Paths;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.InfinibandBringUp;
import io.rdma4j.spi.InfinibandTransitions;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.spi.QueuePairTransitions;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionField;
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
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ThreadDomain;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkCompletionFlag;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * An open native device. Calls that make, change and free objects take its lock, one after the other; posting and polling
 * do not. A thread of its own reads the library's events.
 */
public final class NativeContext implements CmContext {
    private static final String OPEN = "open device";
    /** Bits of {@code device_cap_flags_ex}. */
    private static final long FLUSH_GLOBAL = 1L << 38;
    private static final long FLUSH_PERSISTENT = 1L << 39;
    private static final String QUERY_GID = "query GID";
    private static final Set<CompletionField> FIELDS = Set.copyOf(
            EnumSet.range(CompletionField.BYTE_LENGTH, CompletionField.DESTINATION_PATH_BITS));

    private final RdmaDevice device;
    private final NativeLibraries libraries;
    private final Supplier<Map<InetAddress, Integer>> addresses;
    private final @Nullable NativeConnections connections;
    private final long pointer;
    private final long channel;
    private final int asyncDescriptor;
    private final int channelDescriptor;
    private final int completionVectors;
    private final ContextFunctions functions;
    private final EventLoop loop;
    private final ReentrantLock lock = new ReentrantLock();
    private final Dependents dependents = new Dependents();
    private final WorkLedgers ledgers = new WorkLedgers();
    private final Map<Long, NativeCompletionQueue> completionQueues = new ConcurrentHashMap<>();
    private final Map<Long, NativeQueuePair> queuePairs = new ConcurrentHashMap<>();
    private final Map<Long, NativeSharedReceiveQueue> sharedReceiveQueues = new ConcurrentHashMap<>();
    private final EventQueue<AsyncEvent, RdmaException> asyncEvents = new EventQueue<>(
            RdmaException.whileWaiting("await asynchronous event"), false);
    private final AsyncEventSource portEvents = new AsyncEventSource(asyncEvents, null);
    private final IwarpStates iwarpStates = new IwarpStates(this::onKernelState);
    private volatile @Nullable Runnable whenReleased;
    private volatile boolean isClosed;

    /**
     * Takes over a device that the library has opened.
     *
     * @param pointer the address of its {@code ibv_context}; closed if this fails
     * @param addresses its IP addresses, each with its port
     * @param manager the connection manager of all devices
     */
    public NativeContext(RdmaDevice device, NativeLibraries libraries, long pointer,
            Supplier<Map<InetAddress, Integer>> addresses, ConnectionManager manager)
            throws RdmaException {
        this.device = device;
        this.libraries = libraries;
        this.pointer = pointer;
        this.addresses = addresses;
        long made = 0;
        boolean isOpen = false;
        try {
            functions = new ContextFunctions(pointer);
            MemorySegment context = Native.at(pointer, Context.SIZE);
            asyncDescriptor = Native.getInt(context, Context.ASYNC_FD);
            completionVectors = Native.getInt(context, Context.COMPLETION_VECTORS);
            made = verbs().get(VerbsSymbol.CREATE_COMP_CHANNEL).call(pointer).pointer(OPEN,
                    "the device gives no completion channel; raise ulimit -n");
            channel = made;
            channelDescriptor = Native.getInt(Native.at(channel, Layout.CompletionChannel.SIZE),
                    Layout.CompletionChannel.FD);
            loop = new EventLoop(libraries.system(), "rdma4j-" + device.name());
            connections = manager.of(this);
            isOpen = true;
        } finally {
            if (!isOpen) {
                if (made != 0) {
                    verbs().get(VerbsSymbol.DESTROY_COMP_CHANNEL).call(made);
                }
                verbs().get(VerbsSymbol.CLOSE_DEVICE).call(pointer);
            }
        }
        loop.add(asyncDescriptor, this::readAsyncEvent);
        loop.add(channelDescriptor, this::readCompletionEvent);
    }

    // ---------------------------------------------------------------- for its objects

    Library<VerbsSymbol> verbs() {
        return libraries.verbs();
    }

    long pointer() {
        return pointer;
    }

    /** {@return the library's completion channel, of all queues} */
    long channel() {
        return channel;
    }

    ContextFunctions functions() {
        return functions;
    }

    WorkLedgers ledgers() {
        return ledgers;
    }

    Dependents dependents() {
        return dependents;
    }

    Map<Long, NativeCompletionQueue> completionQueues() {
        return completionQueues;
    }

    Map<Long, NativeQueuePair> queuePairs() {
        return queuePairs;
    }

    Map<Long, NativeSharedReceiveQueue> sharedReceiveQueues() {
        return sharedReceiveQueues;
    }

    AsyncEventSource newEventSource(Object subject) {
        return new AsyncEventSource(asyncEvents, subject);
    }

    void lock() {
        lock.lock();
    }

    void unlock() {
        lock.unlock();
    }

    private boolean isIwarp() {
        return device.transport() == TransportType.IWARP;
    }

    /** {@return whether the driver does not tell the state of a queue pair, as siw's of rdma-core 44} */
    boolean isStateKept() {
        return isIwarp();
    }

    QueuePairTransitions transitions() {
        return isIwarp() ? IwarpTransitions.INSTANCE : InfinibandTransitions.INSTANCE;
    }

    /** {@return the longest message of queue pairs of a type} */
    long longestMessage(QueuePairType type) throws RdmaException {
        PortAttributes port = queryPort(1);
        return type == QueuePairType.UD ? port.activeMtu().bytes()
                : port.maxMessageSize() == 0 ? Integer.MAX_VALUE : port.maxMessageSize();
    }

    /** @throws RdmaException EOPNOTSUPP for a right to FLUSH that the device does not have */
    void requireFlushing(String operation, Set<AccessFlag> access) throws RdmaException {
        if (!access.contains(AccessFlag.FLUSH_GLOBAL)
                && !access.contains(AccessFlag.FLUSH_PERSISTENT)) {
            return;
        }
        long flags = inCall(arena -> {
            MemorySegment attributes = arena.allocate(Layout.DeviceAttrEx.SIZE + Layout.SLACK, 8);
            NativeFunction function = functions.find(ContextOperation.QUERY_DEVICE_EX);
            return function == null || function
                    .call(pointer, 0, attributes.address(), Layout.DeviceAttrEx.SIZE).value() != 0
                            ? 0L
                            : Native.getLong(attributes, Layout.DeviceAttrEx.CAP_FLAGS_EX);
        });
        long wanted = (access.contains(AccessFlag.FLUSH_GLOBAL) ? FLUSH_GLOBAL : 0)
                | (access.contains(AccessFlag.FLUSH_PERSISTENT) ? FLUSH_PERSISTENT : 0);
        if ((flags & wanted) != wanted) {
            throw RdmaException.unsupported(operation, "this device has no FLUSH");
        }
    }

    void checkOpen() {
        if (isClosed) {
            throw new IllegalStateException("the device context is closed");
        }
    }

    // ---------------------------------------------------------------- events

    private void readCompletionEvent() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment found = arena.allocate(2 * Long.BYTES, Long.BYTES);
            Outcome outcome = verbs().get(VerbsSymbol.GET_CQ_EVENT).call(channel,
                    found.address(), found.address() + Long.BYTES);
            if (outcome.value() != 0) {
                return;
            }
            long queue = Native.getLong(found, 0);
            NativeCompletionQueue known = completionQueues.get(queue);
            verbs().get(VerbsSymbol.ACK_CQ_EVENTS).call(queue, 1);
            if (known != null) {
                known.onEvent();
            }
        }
    }

    private void readAsyncEvent() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(Layout.AsyncEvent.SIZE + Layout.SLACK, 8);
            if (verbs().get(VerbsSymbol.GET_ASYNC_EVENT).call(pointer, event.address())
                    .value() != 0) {
                return;
            }
            long element = Native.getLong(event, Layout.AsyncEvent.ELEMENT);
            int code = Native.getInt(event, Layout.AsyncEvent.EVENT_TYPE);
            verbs().get(VerbsSymbol.ACK_ASYNC_EVENT).call(event.address());
            for (AsyncEventType type : AsyncEventType.values()) {
                if (type.code() == code) {
                    publish(type, element);
                }
            }
        }
    }

    private void publish(AsyncEventType type, long element) {
        switch (type) {
            case CQ_ERROR -> {
                NativeCompletionQueue queue = completionQueues.get(element);
                if (queue != null) {
                    queue.onAsyncEvent(type);
                }
            }
            case SRQ_ERROR, SRQ_LIMIT_REACHED -> {
                NativeSharedReceiveQueue queue = sharedReceiveQueues.get(element);
                if (queue != null) {
                    queue.onAsyncEvent(type);
                }
            }
            case QP_FATAL, QP_REQUEST_ERROR, QP_ACCESS_ERROR, COMMUNICATION_ESTABLISHED,
                    SEND_QUEUE_DRAINED, PATH_MIGRATED, PATH_MIGRATION_ERROR,
                    QP_LAST_WQE_REACHED -> {
                NativeQueuePair queuePair = queuePairs.get(element);
                if (queuePair != null) {
                    queuePair.onAsyncEvent(type);
                }
            }
            default -> portEvents.publish(type, (int) element);
        }
    }

    @Override
    public AsyncEvent awaitAsyncEvent() throws RdmaException {
        return asyncEvents.take();
    }

    @Override
    public @Nullable AsyncEvent pollAsyncEvent(Duration timeout) throws RdmaException {
        return asyncEvents.poll(timeout);
    }

    // ---------------------------------------------------------------- what it is

    @Override
    public RdmaDevice device() {
        return device;
    }

    @Override
    public DeviceAttributes queryDevice() throws RdmaException {
        return inCall(arena -> {
            MemorySegment attributes = arena.allocate(Layout.DeviceAttr.SIZE + Layout.SLACK, 8);
            verbs().get(VerbsSymbol.QUERY_DEVICE).call(pointer, attributes.address())
                    .check("query device", "the device cannot be asked");
            return DeviceValues.device(attributes, completionVectors);
        });
    }

    @Override
    public ExtendedDeviceAttributes queryDeviceExtended() throws RdmaException {
        return inCall(arena -> {
            MemorySegment attributes = arena.allocate(Layout.DeviceAttrEx.SIZE + Layout.SLACK, 8);
            NativeFunction function = functions.find(ContextOperation.QUERY_DEVICE_EX);
            if (function == null || function
                    .call(pointer, 0, attributes.address(), Layout.DeviceAttrEx.SIZE)
                    .value() != 0) {
                attributes.fill((byte) 0);
                verbs().get(VerbsSymbol.QUERY_DEVICE).call(pointer, attributes.address())
                        .check("query device", "the device cannot be asked");
            }
            return DeviceValues.extended(attributes, completionVectors);
        });
    }

    /** What is done with memory of its own, while the device is open. */
    private interface Call<T> {
        T with(Arena arena) throws RdmaException;
    }

    private <T> T inCall(Call<T> call) throws RdmaException {
        lock.lock();
        try (Arena arena = Arena.ofConfined()) {
            checkOpen();
            return call.with(arena);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public long queryClock() throws RdmaException {
        String operation = "query clock";
        NativeFunction function = functions.require(ContextOperation.QUERY_RT_VALUES, operation);
        return inCall(arena -> {
            MemorySegment values = arena.allocate(Layout.Values.SIZE + Layout.SLACK, 8);
            Native.putInt(values, Layout.Values.COMP_MASK, 1);
            function.call(pointer, values.address()).check(operation, "the device has no clock");
            return Native.getLong(values, Layout.Values.NANOSECONDS);
        });
    }

    @Override
    public PortAttributes queryPort(int port) throws RdmaException {
        String operation = "query port";
        return inCall(arena -> {
            requirePort(operation, port);
            MemorySegment attributes = arena.allocate(Layout.PortAttr.SIZE + Layout.SLACK, 8);
            NativeFunction function = functions.find(ContextOperation.QUERY_PORT);
            Outcome outcome = function == null
                    ? verbs().get(VerbsSymbol.QUERY_PORT).call(pointer, port,
                            attributes.address())
                    : function.call(pointer, port, attributes.address(), Layout.PortAttr.SIZE);
            outcome.check(operation, "there is no port " + port);
            return DeviceValues.port(attributes);
        });
    }

    private static void requirePort(String operation, int port) throws RdmaException {
        if (port < 1 || port > 0xff) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "ports are numbered from 1, there is no port " + port);
        }
    }

    @Override
    public long queryPortSpeed(int port) throws RdmaException {
        PortAttributes attributes = queryPort(port);
        return (long) width(attributes.activeWidth()) * speed(attributes.activeSpeed());
    }

    private static int width(int code) {
        return switch (code) {
            case 1 -> 1;
            case 2 -> 4;
            case 4 -> 8;
            case 8 -> 12;
            case 16 -> 2;
            default -> 0;
        };
    }

    /** {@return the speed of a lane in units of 100 Mb/s} IBTA 14.2.5.6. */
    private static int speed(int code) {
        return switch (code) {
            case 1 -> 25;
            case 2 -> 50;
            case 4, 8 -> 100;
            case 16 -> 140;
            case 32 -> 250;
            case 64 -> 500;
            case 128 -> 1000;
            default -> 0;
        };
    }

    @Override
    public Gid queryGid(int port, int index) throws RdmaException {
        return inCall(arena -> {
            requirePort(QUERY_GID, port);
            MemorySegment gid = arena.allocate(2 * Long.BYTES, 8);
            verbs().get(VerbsSymbol.QUERY_GID).call(pointer, port, index, gid.address())
                    .check(QUERY_GID, "port " + port + " has no entry " + index);
            return Paths.readGid(gid, 0);
        });
    }

    @Override
    public GidEntry queryGidEntry(int port, int index) throws RdmaException {
        Gid gid = queryGid(port, index);
        if (gid.isZero()) {
            throw new RdmaException(Errno.ENODATA, QUERY_GID,
                    "entry " + index + " of the table is empty");
        }
        NativeFunction function = verbs().require(VerbsSymbol.QUERY_GID_EX, QUERY_GID);
        return inCall(arena -> {
            MemorySegment entry = arena.allocate(Layout.GidEntry.SIZE + Layout.SLACK, 8);
            function.call(pointer, port, index, entry.address(), 0, Layout.GidEntry.SIZE)
                    .check(QUERY_GID, "port " + port + " has no entry " + index);
            return entry(entry, 0);
        });
    }

    private static GidEntry entry(MemorySegment source, long offset) {
        return new GidEntry(Paths.readGid(source, offset + Layout.GidEntry.GID),
                Native.getInt(source, offset + Layout.GidEntry.GID_INDEX),
                Native.getInt(source, offset + Layout.GidEntry.PORT_NUM),
                switch (Native.getInt(source, offset + Layout.GidEntry.GID_TYPE)) {
                    case 1 -> GidType.ROCE_V1;
                    case 2 -> GidType.ROCE_V2;
                    default -> GidType.INFINIBAND;
                }, Native.getInt(source, offset + Layout.GidEntry.NDEV_IFINDEX));
    }

    @Override
    public List<GidEntry> queryGidTable() throws RdmaException {
        NativeFunction function = verbs().require(VerbsSymbol.QUERY_GID_TABLE, QUERY_GID);
        int room = queryPort(1).gidTableLength() * queryDevice().physicalPortCount();
        return inCall(arena -> {
            MemorySegment table = arena
                    .allocate((room + 1L) * Layout.GidEntry.SIZE + Layout.SLACK, 8);
            Outcome outcome = function.call(pointer, table.address(), room, 0,
                    Layout.GidEntry.SIZE);
            if (outcome.value() < 0 || outcome.value() > room) {
                throw new RdmaException(Errno.EIO, QUERY_GID,
                        "the kernel does not give the table of " + device.name());
            }
            List<GidEntry> entries = new ArrayList<>();
            for (int i = 0; i < outcome.value(); i++) {
                entries.add(entry(table, i * Layout.GidEntry.SIZE));
            }
            return entries;
        });
    }

    @Override
    public int queryPkey(int port, int index) throws RdmaException {
        String operation = "query P_Key";
        int entries = partitionKeys(operation, port);
        if (index < 0 || index >= entries) {
            throw new RdmaException(Errno.EINVAL, operation, "the index must be from 0 to "
                    + (entries - 1) + ", not " + index);
        }
        return inCall(arena -> {
            requirePort(operation, port);
            MemorySegment key = arena.allocate(Short.BYTES, Short.BYTES);
            verbs().get(VerbsSymbol.QUERY_PKEY).call(pointer, port, index, key.address())
                    .check(operation, "port " + port + " has no entry " + index);
            return Short.toUnsignedInt(Short.reverseBytes((short) Native.getShort(key, 0)));
        });
    }

    private int partitionKeys(String operation, int port) throws RdmaException {
        int entries = queryPort(port).pkeyTableLength();
        if (entries == 0) {
            throw RdmaException.unsupported(operation, "this device has no partitions");
        }
        return entries;
    }

    @Override
    public int pkeyIndex(int port, int pkey) throws RdmaException {
        int entries = partitionKeys("find P_Key", port);
        for (int index = 0; index < entries; index++) {
            if (queryPkey(port, index) == pkey) {
                return index;
            }
        }
        throw new RdmaException(Errno.ENOENT, "find P_Key",
                String.format("0x%04x is not in the table", pkey));
    }

    @Override
    public AddressHandleAttributes pathBack(int port, WorkCompletion completion,
            MemorySegment header) throws RdmaException {
        String operation = "find path back";
        if (!completion.has(WorkCompletionFlag.GRH) || header.byteSize() < 40) {
            throw new RdmaException(Errno.EINVAL, operation, "the completion is not that of a"
                    + " datagram with a global route header, or the memory has not its 40 bytes");
        }
        return inCall(arena -> {
            requirePort(operation, port);
            MemorySegment source = arena.allocate(Layout.WorkCompletion.SIZE, 8);
            Native.putInt(source, Layout.WorkCompletion.WC_FLAGS, completion.flags());
            Native.putInt(source, Layout.WorkCompletion.SRC_QP, completion.sourceQueuePair());
            Native.putShort(source, Layout.WorkCompletion.SLID, completion.sourceLid());
            Native.putByte(source, Layout.WorkCompletion.SL, completion.serviceLevel());
            MemorySegment route = arena.allocate(40, 8);
            MemorySegment.copy(header, 0, route, 0, 40);
            MemorySegment path = arena.allocate(Layout.AddressHandleAttr.SIZE + Layout.SLACK, 8);
            verbs().get(VerbsSymbol.INIT_AH_FROM_WC)
                    .call(pointer, port, source.address(), route.address(), path.address())
                    .check(operation, "the header is not of a datagram to this device");
            return Paths.read(path, 0);
        });
    }

    @Override
    public EthernetAddress resolveEthernet(AddressHandleAttributes path) throws RdmaException {
        String operation = "resolve Ethernet address";
        return inCall(arena -> {
            MemorySegment attributes = arena
                    .allocate(Layout.AddressHandleAttr.SIZE + Layout.SLACK, 8);
            Paths.write(attributes, 0, path);
            MemorySegment mac = arena.allocate(8, 8);
            MemorySegment vlan = arena.allocate(Short.BYTES, Short.BYTES);
            verbs().get(VerbsSymbol.RESOLVE_ETH_L2_FROM_GID)
                    .call(pointer, attributes.address(), mac.address(), vlan.address())
                    .check(operation, "the system does not know the neighbour");
            return new EthernetAddress(Native.bigEndian(Native.getLong(mac, 0)) >>> 16,
                    Native.getShort(vlan, 0));
        });
    }

    @Override
    public long counter(Counter counter) {
        return 0;
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
    public CompletionQueue createCompletionQueue(int capacity,
            @Nullable CompletionChannel wanted, @Nullable Object userContext,
            int completionVector) throws RdmaException {
        return createCompletionQueue(new CompletionQueueInitAttributes().capacity(capacity)
                .channel(wanted).userContext(userContext).completionVector(completionVector));
    }

    @Override
    public ExtendedCompletionQueue createCompletionQueue(CompletionQueueInitAttributes attributes)
            throws RdmaException {
        String operation = "create completion queue";
        if (!FIELDS.containsAll(attributes.fields())) {
            EnumSet<CompletionField> unknown = EnumSet.copyOf(attributes.fields());
            unknown.removeAll(FIELDS);
            throw RdmaException.unsupported(operation,
                    "completions of native devices have no " + unknown);
        }
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
        if (parent != null) {
            NativeProtectionDomain.own(parent, this, operation);
        }
        return inCall(arena -> {
            NativeCompletionQueue queue = new NativeCompletionQueue(this, attributes);
            dependents.add();
            return queue;
        });
    }

    @Override
    public ThreadDomain allocateThreadDomain() throws RdmaException {
        throw RdmaException.unsupported("allocate thread domain",
                "rdma4j-ibverbs has none: its objects are thread safe");
    }

    @Override
    public DeviceMemory allocateDeviceMemory(long byteSize, long byteAlignment)
            throws RdmaException {
        throw RdmaException.unsupported("allocate device memory",
                "rdma4j-ibverbs does not reach memory of native devices");
    }

    // ---------------------------------------------------------------- for the connection manager

    /** The kernel has moved a queue pair to a state. */
    private void onKernelState(int number, QueuePairState state) {
        for (NativeQueuePair queuePair : queuePairs.values()) {
            if (queuePair.number() == number) {
                queuePair.onKernelState(state);
            }
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
        return addresses.get().getOrDefault(local, 1);
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
        return requireConnections("listen").listen(request,
                isIwarp() ? iwarpStates.passive(handler) : handler);
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

    /** {@return none: threads of its own read the events} */
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

    void onReleased() {
        Runnable retry = whenReleased;
        if (retry != null && !isClosed && dependents.isEmpty()) {
            Thread.ofVirtual().name("rdma4j-release").start(retry);
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
        if (connections != null) {
            connections.close();
        }
        asyncEvents.close();
        loop.remove(asyncDescriptor);
        loop.remove(channelDescriptor);
        loop.close();
        verbs().get(VerbsSymbol.DESTROY_COMP_CHANNEL).call(channel).check(operation,
                "its completion channel could not be freed");
        verbs().get(VerbsSymbol.CLOSE_DEVICE).call(pointer).check(operation,
                "the library could not close it");
    }
}
