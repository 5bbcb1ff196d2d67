package io.rdma4j.softnic;

import io.rdma4j.protocol.cm.CmSettings;
import io.rdma4j.protocol.cm.ConnectionManager;
import io.rdma4j.protocol.wire.Path;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.jfr.FlightEvents;
import io.rdma4j.softnic.memory.IdTable;
import io.rdma4j.softnic.memory.KeyedMemory;
import io.rdma4j.softnic.queue.CompletionRing;
import io.rdma4j.softnic.rim.PacketPort;
import io.rdma4j.softnic.rim.Rim;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.DeviceOptions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * An open device of this process, shared by all its contexts: the rim with its sockets, the engine, the
 * tables.
 */
final class SoftNic implements CompletionRing.Clock {
    private static final int LAST_LOOPBACK = 254;
    private static final Map<String, SoftNic> OPEN = new HashMap<>();

    static {
        // As the kernel does for a dying process: peers learn that the connection is over.
        Runtime.getRuntime().addShutdownHook(new Thread(SoftNic::closeAll, "rdma4j-shutdown"));
    }

    private final SoftDevice device;
    private final Rim rim;
    private final EngineDriver driver;
    private final ConnectionManager connectionManager;
    private final IdTable<KeyedMemory> memory;
    private final Map<Integer, SoftMemoryWindow> windows = new HashMap<>();
    private final LiveObjects totals = new LiveObjects();
    private final List<SoftDeviceContext> openContexts = new CopyOnWriteArrayList<>();
    private long deviceMemoryLeft = Limits.DEVICE_MEMORY;
    private final IntSupplier random;
    private final List<Gid> gids = new CopyOnWriteArrayList<>();
    /** Addresses that another process held when this was opened; guarded by this. */
    private final List<InetAddress> wanting = new ArrayList<>();
    private final Map<CompletionRing, SoftCompletionQueue> completionQueues = new HashMap<>();
    private final long wallclockOffsetNs = System.currentTimeMillis() * 1_000_000
            - System.nanoTime();
    private final Set<SoftQueuePair> queuePairs = ConcurrentHashMap.newKeySet();
    private DeviceOptions options = DeviceOptions.DEFAULT;
    private @Nullable DeviceBean bean;
    private final NicWatchers watchers = new NicWatchers();
    private int contexts;

    /**
     * @param random numbers that others cannot guess
     * @param clock nanoseconds that never go back
     * @param threadName of the background thread; null for none, then somebody has to poll
     */
    SoftNic(SoftDevice device, Rim rim, CmSettings settings, IntSupplier random, LongSupplier clock,
            @Nullable String threadName) {
        this.device = device;
        this.rim = rim;
        this.random = random;
        connectionManager = new ConnectionManager(settings, random);
        memory = new IdTable<>(random);
        driver = new EngineDriver(new Engine(rim, connectionManager, random, this::onOverrun),
                clock, threadName, this::onFatal);
    }

    private static SoftNic create(SoftDevice device, DeviceOptions wanted) throws RdmaException {
        SoftNicOptions options = SoftNicOptions.ofSystem().with(wanted);
        SoftNic nic = new SoftNic(device, options.newRim(device),
                options.patience(CmSettings.defaults(device.nodeGuid())), new SecureNumbers(),
                System::nanoTime, "rdma4j-" + device.name());
        nic.options = options.device();
        return nic;
    }

    /** {@return a new context of a device, to use it: all its addresses are held} */
    static SoftDeviceContext openAndHold(SoftDevice device, @Nullable InetAddress address)
            throws RdmaException {
        SoftDeviceContext context = open(device, address, DeviceOptions.DEFAULT);
        try {
            context.nic().hold();
            return context;
        } catch (RdmaException e) {
            context.close();
            throw e;
        }
    }

    /**
     * {@return a new context of a device, which is opened if no other context has done so} To describe a
     * device its addresses need not be held: what another process has is claimed by {@link #hold}.
     */
    static SoftDeviceContext open(SoftDevice device, @Nullable InetAddress address,
            DeviceOptions wanted) throws RdmaException {
        synchronized (OPEN) {
            SoftNic nic = OPEN.get(device.name());
            if (nic == null) {
                nic = create(device, wanted);
                nic.start(address);
                if (OPEN.isEmpty()) {
                    FlightEvents.prepare();
                }
                OPEN.put(device.name(), nic);
                nic.bean = DeviceBean.show(nic);
            } else {
                SoftNicOptions.requireSame(device.name(), nic.options, wanted);
                if (address != null) {
                    nic.claim(address);
                }
            }
            nic.contexts++;
            SoftDeviceContext context = new SoftDeviceContext(nic);
            nic.openContexts.add(context);
            return context;
        }
    }

    /** A context was closed; the last one closes the device. */
    void release(SoftDeviceContext context) {
        openContexts.remove(context);
        synchronized (OPEN) {
            if (--contexts == 0) {
                OPEN.remove(device.name());
                if (OPEN.isEmpty()) {
                    FlightEvents.forget();
                }
                if (bean != null) {
                    bean.hide();
                }
                shutDown();
            }
        }
    }

    private static void closeAll() {
        synchronized (OPEN) {
            OPEN.values().forEach(SoftNic::shutDown);
            OPEN.clear();
        }
    }

    void shutDown() {
        driver.run(connectionManager::closeAll);
        driver.close();
        rim.close();
    }

    // ---------------------------------------------------------------- addresses

    void start(@Nullable InetAddress address) throws RdmaException {
        try {
            if (device.isLoopback()) {
                openLoopback(address);
            } else {
                openAll();
                if (wanting.isEmpty()) {
                    requireHeld(address);
                }
            }
        } catch (RdmaException e) {
            rim.close();
            throw e;
        }
        driver.start();
    }

    private synchronized void openAll() throws RdmaException {
        for (InetAddress address : device.addresses()) {
            if (gids.isEmpty() && !address.isLinkLocalAddress()) {
                gids.add(Gid.ZERO);
            }
            try {
                gids.add(rim.open(address).local());
            } catch (RdmaException e) {
                if (e.errno() == Errno.EADDRINUSE) {
                    gids.add(Gid.of(address));
                    wanting.add(address);
                } else if (e.errno() != Errno.EADDRNOTAVAIL) {
                    throw e;
                }
                // An IPv6 address that the system is still trying out cannot be used yet.
            }
        }
        if (rim.ports().isEmpty() && wanting.isEmpty()) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, "open device",
                    device.name() + " has no address that can be used");
        }
    }

    /**
     * Holds all addresses, for real use of the device.
     *
     * @throws RdmaException EADDRINUSE while another process has one of them
     */
    synchronized void hold() throws RdmaException {
        while (!wanting.isEmpty()) {
            rim.open(wanting.getFirst());
            wanting.removeFirst();
            driver.run(nowNs -> {
                // The engine looks at its ports anew.
            });
        }
    }

    private void requireHeld(@Nullable InetAddress address) throws RdmaException {
        if (address != null && rim.port(Gid.of(address)) == null) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, "open device",
                    address.getHostAddress() + " is no address of " + device.name());
        }
    }

    /** Loopback has one IPv6 address, for the first process that comes, and IPv4 addresses for all. */
    private void openLoopback(@Nullable InetAddress wanted) throws RdmaException {
        gids.add(Gid.ZERO);
        if (wanted instanceof Inet6Address) {
            claim(wanted);
            openFreeLoopback();
        } else if (wanted != null) {
            claim(wanted);
        } else {
            openFreeLoopback();
            for (InetAddress address : device.addresses()) {
                if (address instanceof Inet6Address) {
                    tryOpen(address);
                }
            }
        }
    }

    private void openFreeLoopback() throws RdmaException {
        RdmaException last = null;
        for (int n = 1; n <= LAST_LOOPBACK; n++) {
            try {
                claim(InetAddress.ofLiteral("127.0.0." + n));
                return;
            } catch (RdmaException e) {
                if (e.errno() != Errno.EADDRINUSE) {
                    throw e;
                }
                last = e;
            }
        }
        throw new RdmaException(Errno.EADDRINUSE, "open device", "UDP port 4791 is taken on all of"
                + " 127.0.0.1 to 127.0.0." + LAST_LOOPBACK
                + "; end some of the processes that hold it",
                last);
    }

    private void tryOpen(InetAddress address) {
        try {
            claim(address);
        } catch (RdmaException takenByAnother) {
            // IPv4 serves as well.
        }
    }

    /** Holds an address, if it does not yet. */
    synchronized void claim(InetAddress address) throws RdmaException {
        if (rim.port(Gid.of(address)) != null) {
            return;
        }
        hold();
        if (!device.isLoopback() || !device.hosts(address)) {
            requireHeld(address);
        }
        PacketPort port = rim.open(address);
        if (address instanceof Inet6Address) {
            gids.set(0, port.local());
        } else {
            gids.add(port.local());
        }
        driver.run(nowNs -> {
            // The engine looks at its ports anew.
        });
    }

    /** {@return the GID table; an empty entry is {@link Gid#ZERO}} */
    List<Gid> gids() {
        return gids;
    }

    /** {@return the addresses it holds} */
    List<InetAddress> addresses() {
        List<InetAddress> addresses = new ArrayList<>();
        for (Gid gid : gids) {
            if (!gid.isZero()) {
                addresses.add(gid.address());
            }
        }
        return addresses;
    }

    // ---------------------------------------------------------------- what objects need

    SoftDevice device() {
        return device;
    }

    EngineDriver driver() {
        return driver;
    }

    Engine engine() {
        return driver.engine();
    }

    ConnectionManager connectionManager() {
        return connectionManager;
    }

    /** {@return how it was opened} */
    DeviceOptions options() {
        return options;
    }

    /** {@return how many contexts share it} */
    int contexts() {
        synchronized (OPEN) {
            return contexts;
        }
    }

    /** {@return the queue pairs there are, for any thread} */
    Set<SoftQueuePair> queuePairs() {
        return queuePairs;
    }

    IdTable<KeyedMemory> memory() {
        return memory;
    }

    /** {@return all objects of the device in this process, by kind} For the engine's owner. */
    LiveObjects totals() {
        return totals;
    }

    /** {@return a path as packets take it} */
    Path path(AddressHandleAttributes attributes) {
        return new Path(gids.get(attributes.sourceGidIndex()), attributes.destination(),
                attributes.trafficClass(), attributes.flowLabel(), attributes.hopLimit());
    }

    @Override
    public long rawNs() {
        return driver.nowNs();
    }

    @Override
    public long wallclockNs() {
        return wallclockOffsetNs + System.nanoTime();
    }

    /** Takes device memory. For the engine's owner. */
    void takeDeviceMemory(long byteSize) throws RdmaException {
        if (byteSize > deviceMemoryLeft) {
            throw new RdmaException(Errno.ENOMEM, "allocate device memory",
                    byteSize + " bytes are more than the " + deviceMemoryLeft + " that are left");
        }
        deviceMemoryLeft -= byteSize;
    }

    void releaseDeviceMemory(long byteSize) {
        deviceMemoryLeft += byteSize;
    }

    void add(SoftMemoryWindow window) {
        windows.put(window.id(), window);
    }

    void remove(SoftMemoryWindow window) {
        windows.remove(window.id());
    }

    @Nullable
    SoftMemoryWindow window(int rkey) {
        return windows.get(KeyedMemory.id(rkey));
    }

    /** A queue pair starts anew or ends: the windows it has bound are bound no longer. */
    void forgetBinds(SoftQueuePair queuePair) {
        windows.values().forEach(window -> window.forget(queuePair));
    }

    /** Makes a queue pair a member of a multicast group. For the engine's owner. */
    void join(Gid group, EngineQueuePair queuePair, boolean isDeafToItself) throws RdmaException {
        if (rim.port(group) == null) {
            totals.requireRoom("multicast group", Limits.GROUPS, "max_mcast_grp");
            rim.join(group);
            totals.add("multicast group");
        }
        engine().join(group, queuePair, isDeafToItself);
    }

    void leave(Gid group, EngineQueuePair queuePair) {
        if (engine().leave(group, queuePair)) {
            rim.leave(group);
            totals.remove("multicast group");
        }
    }

    /** The background thread has failed: nothing is carried any more. */
    private void onFatal() {
        driver.run(nowNs -> {
            for (EngineQueuePair queuePair : engine().queuePairs()) {
                queuePair.fail(nowNs);
                engine().touched(queuePair);
            }
        });
        openContexts.forEach(context -> context.onPortEvent(AsyncEventType.DEVICE_FATAL));
    }

    /** {@return who wants to hear of lost addresses and of the end of the device} */
    NicWatchers watchers() {
        return watchers;
    }

    /** {@return a key for new memory, with a tag of its own} For the engine's owner. */
    int newKey() {
        return memory.newId(1) << 8 | (random.getAsInt() & 0xff);
    }

    void add(CompletionRing ring, SoftCompletionQueue queue) {
        completionQueues.put(ring, queue);
    }

    void remove(CompletionRing ring) {
        completionQueues.remove(ring);
    }

    private void onOverrun(CompletionRing ring) {
        SoftCompletionQueue queue = completionQueues.get(ring);
        if (queue != null) {
            queue.onOverrun();
        }
    }
}
