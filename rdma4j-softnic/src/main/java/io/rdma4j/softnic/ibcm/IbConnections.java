// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.ibcm;

import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.protocol.ibcm.CmPeer;
import io.rdma4j.protocol.ibcm.CmService;
import io.rdma4j.protocol.ibcm.ConnectSpec;
import io.rdma4j.protocol.ibcm.IpVersions;
import io.rdma4j.protocol.ibcm.ListenSpec;
import io.rdma4j.softnic.verbs.ConnectionServices;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.InfinibandBringUp;
import io.rdma4j.spi.IpGids;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;

/** Connections by the IB connection manager, each call made as the engine's owner. */
public final class IbConnections implements ConnectionServices {
    /** Of the messages REQ, REP and REJ, less the header in front. IBTA 12.6, A11. */
    private static final PrivateDataLimits PRIVATE_DATA = new PrivateDataLimits(56, 196, 148);
    /** The port of the device. */
    private static final int PORT = 1;

    private final IbServices nic;

    /** @param nic the device, not used yet */
    public IbConnections(IbServices nic) {
        this.nic = nic;
    }

    @Override
    public PrivateDataLimits privateDataLimits() {
        return PRIVATE_DATA;
    }

    @Override
    public void checkRoute(CmContext via, InetAddress local, InetAddress destination)
            throws RdmaException {
        IpGids.checkRoute(via, local, destination, PORT);
    }

    @Override
    public QueuePairBringUp bringUp(InetAddress local) {
        return InfinibandBringUp.unconnected(PORT);
    }

    @Override
    public CmDatagrams datagrams(CmContext via) {
        return new IbDatagrams(via, nic, PORT);
    }

    @Override
    public CmListener listen(CmContext via, ListenRequest call, CmListener.Handler handler)
            throws RdmaException {
        ListenSpec offer = offer(call);
        return SteeredListener.start(nic, offer, () -> start(via, call, offer, handler));
    }

    private SteeredListener.Offered start(CmContext via, ListenRequest call, ListenSpec offer,
            CmListener.Handler handler) throws RdmaException {
        CmService service = nic.driver()
                .call(nowNs -> nic.connectionManager().listen(offer,
                        (ibConnection, sourcePort, parameters) -> {
                            CmPeer peer = ibConnection.peer();
                            InetSocketAddress local = new InetSocketAddress(
                                    nic.addressOf(peer.local()), call.port());
                            InetSocketAddress remote = new InetSocketAddress(
                                    nic.addressOf(peer.remote()), sourcePort);
                            IbConnection connection = IbConnection.requested(nic,
                                    ibConnection, local, remote);
                            return connection.eventsFor(
                                    handler.onRequest(via, connection, local, remote,
                                            parameters));
                        }));
        return onNoneLeft -> nic.driver().run(nowNs -> service.close(onNoneLeft));
    }

    private static IpVersions versions(@Nullable StandardProtocolFamily family) {
        if (family == null) {
            return IpVersions.BOTH;
        }
        return family == StandardProtocolFamily.INET ? IpVersions.IPV4 : IpVersions.IPV6;
    }

    static ListenSpec offer(ListenRequest call) {
        return new ListenSpec(call.space(), call.type(), call.port(),
                call.address() == null ? null : Gid.of(call.address()), versions(call.family()),
                call.backlog());
    }

    static ConnectSpec wanted(IbServices nic, ConnectRequest call) {
        CmPeer peer = new CmPeer(Gid.of(call.source().getAddress()),
                Gid.of(call.destination().getAddress()));
        Mtu chosen = call.options().pathMtu();
        return new ConnectSpec(peer, call.space(), call.type(), call.source().getPort(),
                call.destination().getPort(), call.parameters(), call.queuePairNumber(),
                chosen == null ? nic.pathMtu(peer.local(), peer.remote()) : chosen,
                chosen != null, call.options().typeOfService(),
                call.options().ackTimeoutExponent());
    }

    private void requirePathMtu(ConnectRequest call, CmPeer peer) throws RdmaException {
        Mtu chosen = call.options().pathMtu();
        if (chosen == null) {
            return;
        }
        Mtu largest = nic.pathMtu(peer.local(), peer.remote());
        if (chosen.compareTo(largest) > 0) {
            throw new RdmaException(Errno.EINVAL, "connect", "packets of path MTU "
                    + chosen.bytes() + " do not pass to "
                    + call.destination().getAddress().getHostAddress() + "; those of "
                    + largest.bytes() + " do");
        }
    }

    @Override
    public CmConnection connect(ConnectRequest call, CmConnection.Handler handler)
            throws RdmaException {
        ConnectSpec wanted = wanted(nic, call);
        requirePathMtu(call, wanted.peer());
        return nic.driver().call(nowNs -> IbConnection.ask(nic, call, wanted, handler, nowNs));
    }
}
