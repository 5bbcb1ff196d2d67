// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.device.DeviceEventChannel;
import io.rdma4j.device.ReportedGid;
import io.rdma4j.device.ReportedPort;
import io.rdma4j.event.CompletionWaiters;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmLookup;
import io.rdma4j.spi.CmLookupRequest;
import io.rdma4j.spi.CmMembership;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.InfinibandBringUp;
import io.rdma4j.spi.IpGids;
import io.rdma4j.spi.JoinRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.GidEntry;
import io.rdma4j.verbs.GidType;
import io.rdma4j.verbs.LinkLayer;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.PhysicalState;
import io.rdma4j.verbs.PortAttributes;
import io.rdma4j.verbs.PortState;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.TransportType;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;

/** An open {@link FakeDevice}: it makes no connections, and records its calls. */
final class FakeContext extends RefusingContext implements CmContext {
    final List<InetAddress> addresses = new ArrayList<>(
            List.of(FakeDevice.FIRST, FakeDevice.SECOND));
    final List<Watcher> watchers = new ArrayList<>();
    final List<ListenRequest> listenCalls = new ArrayList<>();
    final List<ConnectRequest> connectCalls = new ArrayList<>();
    final List<CmConnection.Handler> handlers = new ArrayList<>();
    final List<CmLookup.Handler> lookupHandlers = new ArrayList<>();
    final List<CmListener.Handler> listenHandlers = new ArrayList<>();
    final List<JoinRequest> joins = new ArrayList<>();
    final List<CmMembership.Handler> joinHandlers = new ArrayList<>();
    final List<InetAddress> left = new ArrayList<>();
    /** What comes of joining a group before the call has returned. */
    BiConsumer<AddressHandleAttributes, CmMembership.Handler> joining = (path, handler) -> handler
            .onJoined(path, null);
    /** How many listeners, connections, look-ups and memberships are open. */
    final AtomicInteger open = new AtomicInteger();
    /** Why it cannot be closed; each call takes the first, until there are none. */
    final Queue<RdmaException> closeFailures = new ConcurrentLinkedQueue<>();
    /** Why it does not connect; each call takes the first, until there are none. */
    final Queue<RdmaException> connectFailures = new ConcurrentLinkedQueue<>();
    /** As {@link #whenReleased}. */
    volatile Runnable released = () -> {};
    /** What the peer does before connecting has returned. */
    BiConsumer<CmConnection, CmConnection.Handler> answer = (connection, handler) -> {};
    /** What happens when a connection is being ended. */
    Runnable onDisconnect = () -> {};
    PortState portState = PortState.ACTIVE;
    /** Whether it fails by a defect when it is to be used. */
    boolean isBroken;
    volatile boolean isClosed;
    private final DeviceEventChannel asyncEventChannel;
    private final FakeDevice device;

    FakeContext(FakeDevice device) {
        super(device);
        asyncEventChannel = new DeviceEventChannel(device.name());
        this.device = device;
    }

    @Override
    public List<InetAddress> addresses() {
        return List.copyOf(addresses);
    }

    @Override
    public void claim(InetAddress address) {}

    @Override
    public ProgressDriver progressDriver() {
        if (isBroken) {
            throw new IllegalStateException("broken");
        }
        return device.driver;
    }

    @Override
    public CompletionWaiters waiters(CompletionQueue queue) {
        throw new UnsupportedOperationException("it has no queues");
    }

    @Override
    public @Nullable Errno ended(QueuePair queuePair, boolean ofReceives) {
        throw new UnsupportedOperationException("it has no queue pairs");
    }

    @Override
    public PrivateDataLimits privateDataLimits() {
        return new PrivateDataLimits(56, 196, 148);
    }

    @Override
    public int portNumber(InetAddress local) {
        return 1;
    }

    @Override
    public void checkRoute(InetAddress local, InetAddress destination) throws RdmaException {
        IpGids.checkRoute(this, local, destination, 1);
    }

    @Override
    public QueuePairBringUp bringUp(InetAddress local) {
        return InfinibandBringUp.unconnected(1);
    }

    @Override
    public CmListener listen(ListenRequest spec, CmListener.Handler handler)
            throws RdmaException {
        if (device.listenFailure != null) {
            throw device.listenFailure;
        }
        listenCalls.add(spec);
        listenHandlers.add(handler);
        device.onListen.run();
        return opened()::run;
    }

    /** Something is open now. {@return what closes it} */
    private Runnable opened() {
        open.incrementAndGet();
        AtomicBoolean isEnded = new AtomicBoolean();
        return () -> {
            if (isEnded.compareAndSet(false, true)) {
                open.decrementAndGet();
            }
        };
    }

    @Override
    public CmConnection connect(ConnectRequest request, CmConnection.Handler handler)
            throws RdmaException {
        connectCalls.add(request);
        RdmaException failure = connectFailures.poll();
        if (failure != null) {
            throw failure;
        }
        handlers.add(handler);
        device.onConnect.run();
        CmConnection connection = new SilentConnection(handler);
        answer.accept(connection, handler);
        return connection;
    }

    @Override
    public @Nullable CmDatagrams datagramServices() {
        return device.transport() == TransportType.IWARP ? null : new Datagrams();
    }

    /** {@return a connection that nothing comes of} */
    CmConnection connection() {
        return new SilentConnection(null);
    }

    private final class Datagrams implements CmDatagrams {
        @Override
        public PrivateDataLimits privateDataLimits() {
            return new PrivateDataLimits(180, 136, 136);
        }

        @Override
        public CmListener listen(ListenRequest spec, CmLookupRequest.Handler handler) {
            listenCalls.add(spec);
            device.onListen.run();
            return opened()::run;
        }

        @Override
        public CmLookup lookUp(ConnectRequest request, CmLookup.Handler handler) {
            connectCalls.add(request);
            lookupHandlers.add(handler);
            device.onConnect.run();
            return opened()::run;
        }

        @Override
        public QueuePairBringUp bringUp(InetAddress local, int qkey) {
            return InfinibandBringUp.datagrams(1, qkey);
        }

        @Override
        public CmMembership join(JoinRequest request, CmMembership.Handler handler)
                throws RdmaException {
            int index = IpGids.entry(FakeContext.this, request.local(), request.group())
                    .index();
            joins.add(request);
            joinHandlers.add(handler);
            device.onConnect.run();
            joining.accept(AddressHandleAttributes.to(Gid.of(request.group()), index), handler);
            Runnable leaving = opened();
            return () -> {
                leaving.run();
                left.add(request.group());
            };
        }
    }

    @Override
    public void whenReleased(Runnable retry) {
        released = retry;
    }

    @Override
    public void watch(Watcher watcher) {
        watchers.add(watcher);
    }

    @Override
    public PortAttributes queryPort(int port) {
        return new ReportedPort(portState.code(), Mtu.MTU_4096.code(),
                Mtu.MTU_1024.code(), 2, 0, 0, 1 << 30, 0,
                0, 1,
                0,
                0, 0, 1, 0, 0, 0, 1, 1, PhysicalState.LINK_UP.code(), LinkLayer.ETHERNET.code(), 0);
    }

    @Override
    public List<GidEntry> queryGidTable() {
        List<GidEntry> entries = new ArrayList<>();
        for (InetAddress address : addresses) {
            entries.add(new ReportedGid(Gid.of(address), entries.size(), 1, GidType.ROCE_V2.code(),
                    device.interfaceIndex));
        }
        return entries;
    }

    @Override
    public void close() throws RdmaException {
        device.onClose.run();
        RdmaException failure = closeFailures.poll();
        if (failure != null) {
            throw failure;
        }
        asyncEventChannel.end();
        isClosed = true;
    }

    /** A connection that nothing comes of by itself. */
    private final class SilentConnection implements CmConnection {
        private final Runnable closing = opened();
        private final @Nullable Handler handler;

        SilentConnection(@Nullable Handler handler) {
            this.handler = handler;
        }

        @Override
        public void giveUpUnanswered() {
            if (handler != null) {
                handler.onUnreachable(Errno.ETIMEDOUT);
            }
        }

        @Override
        public QueuePairBringUp bringUp(ConnectionParameters own, CmOptions options) {
            return InfinibandBringUp.unconnected(1);
        }

        @Override
        public void accept(ConnectionParameters parameters, int queuePairNumber) {}

        @Override
        public void establish() {}

        @Override
        public void communicationEstablished() {}

        @Override
        public void reject(byte[] privateData) {}

        @Override
        public void disconnect() {
            onDisconnect.run();
        }

        @Override
        public void close() {
            closing.run();
        }
    }

    @Override
    public DeviceEventChannel asyncEventChannel() {
        return asyncEventChannel;
    }
}
