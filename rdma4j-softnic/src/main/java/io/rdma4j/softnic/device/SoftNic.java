// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.observe.registry.ShownDevice;
import io.rdma4j.protocol.count.Counter;
import io.rdma4j.softnic.engine.Engine;
import io.rdma4j.softnic.engine.EngineDriver;
import io.rdma4j.softnic.engine.EngineQueuePair;
import io.rdma4j.softnic.host.HostWatch;
import io.rdma4j.softnic.memory.FileFlusher;
import io.rdma4j.softnic.memory.LendableMemory;
import io.rdma4j.softnic.memory.MemoryTable;
import io.rdma4j.softnic.observe.jfr.PacketEvents;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.verbs.NicObjects;
import io.rdma4j.softnic.verbs.NicServices;
import io.rdma4j.softnic.verbs.PortServices;
import io.rdma4j.softnic.verbs.SoftDeviceContext;
import io.rdma4j.softnic.verbs.Transport;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.DeviceWatchers;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/** An open device of this process, shared by all its contexts: the transport, the engine, the tables. */
public final class SoftNic
        implements
            NicServices,
            TransportHost,
            PortMonitor.Watched {
    private static final System.Logger LOG = System.getLogger(SoftNic.class.getName());
    /** Software devices have one. */
    private static final int PORT = 1;
    private static final OpenDevices OPEN = new OpenDevices();

    static {
        // As the kernel does for a dying process: peers learn that the connection is over.
        ProcessEnd.register(OPEN::closeAll, "rdma4j-shutdown");
    }

    private final SoftDevice device;
    private final IntSupplier random;
    private final Transport transport;
    private final EngineDriver driver;
    private final MemoryTable memory;
    private final NicObjects objects = new NicObjects();
    private final List<SoftDeviceContext> openContexts = new CopyOnWriteArrayList<>();
    private final NicAddresses addresses;
    private final FileFlusher flusher;
    private final SoftPort port;
    private final long wallclockOffsetNs = System.currentTimeMillis() * 1_000_000
            - System.nanoTime();
    private DeviceOptions options = DeviceOptions.DEFAULT;
    private Map<String, String> details = Map.of();
    private final SoftDeviceBean bean = new SoftDeviceBean(this);
    private @Nullable ShownDevice shown;
    private final DeviceWatchers watchers = new DeviceWatchers();
    /** Changed only by {@link OpenDevices}, one thread at a time; read by any thread. */
    private volatile int contexts;

    /**
     * @param transport creates the transport of the queue pairs
     * @param random numbers that others cannot guess
     * @param clock monotonic time in nanoseconds
     * @param threadName the name of the background thread; null for none, then a thread has to poll
     */
    public SoftNic(SoftDevice device, Function<TransportHost, Transport> transport,
            IntSupplier random, LongSupplier clock, @Nullable String threadName) {
        this(device, transport, random, clock, threadName,
                FileFlusher.inThread("rdma4j-flush-" + device.name()));
    }

    /** As above, with another flusher of mapped files. */
    // The transport does not call it before it is started.
    @SuppressWarnings("this-escape")
    public SoftNic(SoftDevice device, Function<TransportHost, Transport> transport,
            IntSupplier random, LongSupplier clock, @Nullable String threadName,
            FileFlusher flusher) {
        this.device = device;
        this.flusher = flusher;
        this.random = random;
        memory = new MemoryTable(random);
        this.transport = transport.apply(this);
        driver = new EngineDriver(this.transport.engine(), clock, threadName, this::onFatal);
        addresses = new NicAddresses(device.deviceInterface(), this.transport, driver);
        port = new SoftPort(device.deviceInterface(), addresses);
    }

    private static SoftNic create(SoftDevice device, DeviceOptions wanted) throws RdmaException {
        DeviceFamily.Opening opening = device.family().open(device.networkInterface(),
                device.nodeGuid(), SoftNicOptions.ofSystem().with(wanted));
        SoftNic nic = new SoftNic(device, opening.transport(), new SecureNumbers(),
                System::nanoTime, "rdma4j-" + device.name());
        nic.options = opening.options();
        nic.details = opening.details();
        return nic;
    }

    /** {@return a new context of a device, ready for use: the device holds all its addresses} */
    static SoftDeviceContext openAndHold(SoftDevice device, @Nullable InetAddress address)
            throws RdmaException {
        SoftDeviceContext context = open(device, address, DeviceOptions.DEFAULT);
        boolean isHeld = false;
        try {
            context.nic().port().hold(address);
            isHeld = true;
            return context;
        } finally {
            if (!isHeld) {
                context.close();
            }
        }
    }

    /**
     * {@return a new context of a device, which is opened if no other context has done so} The device may lack
     * addresses that another process has, which is enough to describe it; {@link NicAddresses#hold} claims
     * them.
     */
    static SoftDeviceContext open(SoftDevice device, @Nullable InetAddress address,
            DeviceOptions wanted) throws RdmaException {
        SoftNic nic = OPEN.open(device.name(), () -> opened(device, address, wanted), open -> {
            SoftNicOptions.requireSame(device.name(), open.options, wanted);
            if (address == null) {
                open.addresses.claimUsual();
            } else {
                open.addresses.claim(address);
            }
        });
        return contextOf(nic);
    }

    private static SoftNic opened(SoftDevice device, @Nullable InetAddress address,
            DeviceOptions wanted) throws RdmaException {
        Runnable opening = () -> {};
        // From here on the interfaces are known without asking for them each time.
        HostWatch.OF_PROCESS.watch(opening);
        try {
            device.requirePresent();
            SoftNic nic = create(device, wanted);
            nic.start(address);
            nic.beObserved(PortMonitor.OF_PROCESS);
            return nic;
        } catch (OutOfMemoryError none) {
            throw MemoryErrors.outOfMemory("open device", none);
        } finally {
            HostWatch.OF_PROCESS.forget(opening);
        }
    }

    /** Lets others look after it and at it. If one of them cannot begin, for want of a thread perhaps, the device ends again. */
    void beObserved(PortMonitor monitor) {
        boolean isObserved = false;
        try {
            FlightEvents.prepare();
            PacketEvents.prepare();
            FlightEvents.show(bean);
            shown = ShownDevice.show(bean);
            monitor.watch(this);
            isObserved = true;
        } finally {
            if (!isObserved) {
                close();
            }
        }
    }

    /** {@return a new context of an open device} */
    public static SoftDeviceContext contextOf(SoftNic nic) {
        SoftDeviceContext context = new SoftDeviceContext(nic);
        nic.openContexts.add(context);
        return context;
    }

    @Override
    public void release(CmContext context) {
        openContexts.remove(context);
        OPEN.release(this);
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // OpenDevices lets one at a time
    void addContext() {
        contexts++;
    }

    /** {@return how many are left} */
    @SuppressWarnings("NonAtomicVolatileUpdate") // OpenDevices lets one at a time
    int removeContext() {
        return --contexts;
    }

    /** Its last context is closed. */
    void close() {
        FlightEvents.hide(bean);
        FlightEvents.forget();
        PacketEvents.forget();
        if (shown != null) {
            shown.hide();
        }
        shutDown();
    }

    /** Ends connections, threads and sockets. The device must not be used any more. */
    public void shutDown() {
        PortMonitor.OF_PROCESS.forget(this);
        addresses.end();
        if (!driver.hasFailed()) {
            driver.run(transport::endConnections);
        }
        driver.close();
        // As the engine's owner, so that a thread that still polls finds no closed socket.
        Runnable closing = () -> driver.run(nowNs -> transport.close());
        if (driver.hasFailed()) {
            // What has failed may fail once more; the program that closes it has been told before.
            attempt("it could not be closed", closing);
        } else {
            closing.run();
        }
    }

    /** Opens the sockets and begins to work. */
    public void start(@Nullable InetAddress address) throws RdmaException {
        addresses.open(address);
        try {
            driver.start();
        } catch (OutOfMemoryError noThread) {
            shutDown();
            throw noThread;
        }
    }

    /** {@return the addresses it sends from and answers to} */
    public NicAddresses addresses() {
        return addresses;
    }

    @Override
    public List<Gid> gids() {
        return addresses.gids();
    }

    @Override
    public InetAddress addressOf(Gid gid) {
        return addresses.addressOf(gid);
    }

    // ---------------------------------------------------------------- what objects need

    @Override
    public SoftDevice device() {
        return device;
    }

    @Override
    public EngineDriver driver() {
        return driver;
    }

    /** {@return the engine, for calls that any thread may make} */
    public Engine engine() {
        return driver.engine();
    }

    /** {@return how it was opened} */
    DeviceOptions options() {
        return options;
    }

    @Override
    public Map<String, String> details() {
        return details;
    }

    /** {@return how many contexts share it} */
    int contexts() {
        return contexts;
    }

    @Override
    public void lend(LendableMemory lendable) {
        memory.lend(lendable);
    }

    @Override
    public MemoryTable memory() {
        return memory;
    }

    @Override
    public FileFlusher flusher() {
        return flusher;
    }

    @Override
    public NicObjects objects() {
        return objects;
    }

    @Override
    public IntSupplier random() {
        return random;
    }

    @Override
    public PortServices port() {
        return port;
    }

    @Override
    public Transport transport() {
        return transport;
    }

    @Override
    public int interfaceMtu() {
        return device.deviceInterface().mtuBytes();
    }

    @Override
    public void watch(CmContext.Watcher watcher) {
        watchers.add(watcher);
        if (port.isGone()) {
            // Perhaps nobody has told it.
            watcher.onDeviceGone();
        }
    }

    @Override
    public boolean isGone() {
        return port.isGone();
    }

    @Override
    public void forget(CmContext.Watcher watcher) {
        watchers.remove(watcher);
    }

    @Override
    public long rawNs() {
        return driver.nowNs();
    }

    @Override
    public long wallclockNs() {
        return wallclockOffsetNs + System.nanoTime();
    }

    /**
     * The engine cannot go on: the device no longer sends or receives. It is gone for all who use it, as if its interface had been
     * removed; who opens it anew gets another one. Each step is attempted whatever becomes of the others: what has stopped the engine
     * may stop them as well.
     */
    private void onFatal() {
        port.fail();
        OPEN.forget(this);
        attempt("it is still looked at", () -> PortMonitor.OF_PROCESS.forget(this));
        end();
    }

    /** Nothing can be done with it any more. Whoever is told may open it anew, so its addresses are given back first. */
    private void end() {
        attempt("queue pairs were not failed", this::failAll);
        attempt("its addresses were not given back", addresses::closeAll);
        attempt("applications were not notified", () -> report(AsyncEventType.DEVICE_FATAL));
        attempt("ids were not told", watchers::onDeviceGone);
    }

    private void attempt(String failure, Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error again) {
            LOG.log(System.Logger.Level.WARNING, device.name() + " is gone, and " + failure,
                    again);
        }
    }

    private void failAll() {
        driver.run(nowNs -> {
            for (EngineQueuePair queuePair : engine().queuePairs()) {
                attempt("a queue pair was not failed", () -> {
                    queuePair.fail(nowNs);
                    engine().touched(queuePair);
                });
            }
        });
    }

    private void report(AsyncEventType type) {
        FlightEvents.asyncEvent(device.name(), type, 0, PORT);
        openContexts.forEach(context -> context.onPortEvent(type));
    }

    @Override
    public String name() {
        return device.name();
    }

    @Override
    public void lookAtPort() {
        onPort(device.deviceInterface().view());
    }

    @Override
    public void lookRegularly() {
        PortView last = port.view();
        if (last != null) {
            // Without asking the system: an address that another process had may be free now.
            onPort(last);
        }
        transport.checkShared();
        objects.giveBackUnused(task -> driver.run(nowNs -> task.run()));
    }

    /**
     * Compares the state of the network interface with the last one and reports the changes. For one thread,
     * which must hold no lock: handlers may call the device.
     */
    public void onPort(PortView now) {
        PortView before = port.exchangeView(now);
        boolean wasUp = before == null || before.isUp();
        if (wasUp && !now.isUp()) {
            driver.run(nowNs -> engine().count(Counter.LINK_DOWNED));
            report(AsyncEventType.PORT_ERROR);
        } else if (!wasUp && now.isUp()) {
            report(AsyncEventType.PORT_ACTIVE);
        }
        boolean wasPresent = before == null || before.isPresent();
        if (wasPresent && !now.isPresent()) {
            OPEN.forget(this);
            PortMonitor.OF_PROCESS.forget(this);
            end();
        }
        if (now.isPresent()) {
            NicAddresses.Change change = addresses.follow(now);
            if (change.isAny()) {
                report(AsyncEventType.GID_CHANGE);
            }
            change.lost().forEach(watchers::onAddressChanged);
        }
    }
}
