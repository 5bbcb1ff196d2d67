// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.device.ReportedDevice;
import io.rdma4j.device.ReportedGid;
import io.rdma4j.device.ReportedPort;
import io.rdma4j.event.CompletionWaiters;
import io.rdma4j.event.ProgressDriver;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.testkit.ListedDevice;
import io.rdma4j.testkit.RefusingContext;
import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceLimit;
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
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** An open native device: it delegates its connections as one does, and offers no other verbs. */
final class OpenDevice extends RefusingContext implements CmContext, CmServices.Owner {
    final List<InetAddress> addresses = new ArrayList<>();
    /** Who has asked by this device. */
    final List<InetSocketAddress> requested = new CopyOnWriteArrayList<>();
    PortState portState = PortState.ACTIVE;
    LinkLayer linkLayer = LinkLayer.ETHERNET;
    private final NativeConnections connections;

    OpenDevice(CmChannel channel, ListedDevice device, List<InetAddress> addresses) {
        super(device);
        this.addresses.addAll(addresses);
        connections = new NativeConnections(channel, this, handler -> (via, request, local, peer,
                parameters) -> {
            requested.add(peer);
            return handler.onRequest(via, request, local, peer, parameters);
        });
    }

    NativeConnections connections() {
        return connections;
    }

    @Override
    public CmServices cmServices() {
        return connections.services();
    }

    @Override
    public List<InetAddress> addresses() {
        return List.copyOf(addresses);
    }

    @Override
    public void claim(InetAddress address) {}

    @Override
    public ProgressDriver progressDriver() {
        return ProgressDriver.NONE;
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
        return connections.privateDataLimits();
    }

    @Override
    public int portNumber(InetAddress local) {
        return 1;
    }

    @Override
    public void checkRoute(InetAddress local, InetAddress destination) throws RdmaException {
        connections.checkRoute(local, destination);
    }

    @Override
    public QueuePairBringUp bringUp(InetAddress local) {
        return connections.bringUp(local);
    }

    @Override
    public CmListener listen(ListenRequest spec, CmListener.Handler handler)
            throws RdmaException {
        return connections.listen(spec, handler);
    }

    @Override
    public CmConnection connect(ConnectRequest request, CmConnection.Handler handler)
            throws RdmaException {
        return connections.connect(request, handler);
    }

    @Override
    public @Nullable CmDatagrams datagramServices() {
        return connections.datagramServices();
    }

    @Override
    public void whenReleased(Runnable retry) {}

    @Override
    public void watch(Watcher watcher) {
        connections.watch(watcher);
    }

    @Override
    public DeviceAttributes queryDevice() {
        return new ReportedDevice("1", 1, 1, 1, 1, 1, 1, 0, AtomicCapability.NONE.code(), 0, 1,
                Map.of(DeviceLimit.MAX_QP_RD_ATOM, 16L, DeviceLimit.MAX_QP_INIT_RD_ATOM, 16L), 0, 0,
                0, 0,
                0, Map.of());
    }

    @Override
    public PortAttributes queryPort(int port) {
        return new ReportedPort(portState.code(), Mtu.MTU_4096.code(),
                Mtu.MTU_1024.code(), 2, 0, 0, 1 << 30, 0,
                0, 1,
                0, 0, 0, 1, 0, 0, 0, 1, 1, PhysicalState.LINK_UP.code(), linkLayer.code(), 0);
    }

    @Override
    public List<GidEntry> queryGidTable() {
        List<GidEntry> entries = new ArrayList<>();
        for (InetAddress address : addresses) {
            entries.add(
                    new ReportedGid(Gid.of(address), entries.size(), 1, GidType.ROCE_V1.code(), 1));
            entries.add(
                    new ReportedGid(Gid.of(address), entries.size(), 1, GidType.ROCE_V2.code(), 1));
        }
        return entries;
    }

    @Override
    public void close() {
        connections.close();
    }
}
