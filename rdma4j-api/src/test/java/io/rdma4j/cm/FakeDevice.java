// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.spi.CmDevice;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceKind;
import io.rdma4j.verbs.NodeType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** A device with two addresses whose ports, addresses and end are in a test's hand. */
final class FakeDevice implements CmDevice {
    static final InetAddress FIRST = InetAddress.ofLiteral("203.0.113.5");
    static final InetAddress SECOND = InetAddress.ofLiteral("203.0.113.6");

    /** Every context that was opened, the last one last. */
    final List<FakeContext> opened = new CopyOnWriteArrayList<>();
    List<InetAddress> hosted = List.of(FIRST, SECOND);
    /** Of the interface that its addresses belong to. */
    int interfaceIndex = 1;
    PortAuthority portAuthority = PortAuthority.PROCESS;
    /** Of its contexts. */
    ProgressDriver driver = ProgressDriver.NONE;
    /** What happens while it is being opened. */
    Runnable onOpen = () -> {};
    /** What happens while a context of it begins to listen. */
    volatile Runnable onListen = () -> {};
    /** What happens while a context of it begins to connect, to look up or to join. */
    volatile Runnable onConnect = () -> {};
    /** What happens while a context of it is being closed. */
    Runnable onClose = () -> {};
    /** Whether programs listen wherever it looks. */
    volatile boolean seesListeners;
    /** What happens while it looks for a listener. */
    volatile Runnable onLook = () -> {};
    /** How often it has looked for one. */
    final AtomicInteger looks = new AtomicInteger();
    /** Why it cannot be opened, null if it can. */
    @Nullable
    volatile RdmaException openFailure;
    /** Why ids cannot use it, null if they can. */
    @Nullable
    String obstacle;
    /** Why its contexts cannot listen, null if they can. */
    @Nullable
    volatile RdmaException listenFailure;
    private final String name;
    private final DeviceKind kind;
    private final TransportType transport;

    FakeDevice(String name, DeviceKind kind, TransportType transport) {
        this.name = name;
        this.kind = kind;
        this.transport = transport;
    }

    FakeContext context() {
        return opened.getLast();
    }

    @Override
    public boolean hosts(InetAddress address) {
        return hosted.stream().anyMatch(own -> AddressScope.isSame(own, address));
    }

    @Override
    public boolean seesListener(PortSpace space, InetAddress source,
            InetSocketAddress destination) {
        looks.incrementAndGet();
        // What it finds is decided before anybody hears that it looks.
        boolean isSeen = seesListeners && space == PortSpace.TCP;
        onLook.run();
        return isSeen;
    }

    @Override
    public @Nullable String obstacle() {
        return obstacle;
    }

    @Override
    public FakeContext open(@Nullable InetAddress address) throws RdmaException {
        onOpen.run();
        if (openFailure != null) {
            throw openFailure;
        }
        FakeContext context = new FakeContext(this);
        opened.add(context);
        return context;
    }

    @Override
    public DeviceContext open() throws RdmaException {
        return open((InetAddress) null);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int index() {
        return 1;
    }

    @Override
    public long nodeGuid() {
        return 1;
    }

    @Override
    public NodeType nodeType() {
        return NodeType.CHANNEL_ADAPTER;
    }

    @Override
    public TransportType transport() {
        return transport;
    }

    @Override
    public DeviceKind kind() {
        return kind;
    }

    @Override
    public List<InetAddress> hostedAddresses() {
        return hosted;
    }

    @Override
    public PortAuthority portAuthority() {
        return portAuthority;
    }
}
