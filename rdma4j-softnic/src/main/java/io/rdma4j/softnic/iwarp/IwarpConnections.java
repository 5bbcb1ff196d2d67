// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.softnic.verbs.ConnectionServices;
import io.rdma4j.softnic.verbs.TransportHost;
import io.rdma4j.spi.AddressScope;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.IpGids;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;

/** Connections by TCP and MPA, each call made as the engine's owner. */
final class IwarpConnections implements ConnectionServices {
    /** Linux's siw keeps the length, with four bytes more, in one byte. */
    private static final int PRIVATE_DATA = 251;

    private final IwarpLink link;
    private final TransportHost host;

    IwarpConnections(IwarpLink link, TransportHost host) {
        this.link = link;
        this.host = host;
    }

    @Override
    public PrivateDataLimits privateDataLimits() {
        return new PrivateDataLimits(PRIVATE_DATA, PRIVATE_DATA, PRIVATE_DATA);
    }

    @Override
    public void checkRoute(CmContext via, InetAddress local, InetAddress destination)
            throws RdmaException {
        if (!host.gids().contains(Gid.of(local))) {
            throw new RdmaException(Errno.ENETUNREACH, "resolve route",
                    via.device().name() + " does not have the address " + local.getHostAddress()
                            + " any more");
        }
        IpGids.requireLink(via, AddressScope.of(host.addressOf(Gid.of(destination))), destination);
    }

    /** {@return a READ} A WRITE completes when TCP has taken it. */
    @Override
    public SendOpcode answeredOperation() {
        return SendOpcode.RDMA_READ;
    }

    @Override
    public QueuePairBringUp bringUp(InetAddress local) {
        return IwarpBringUp.UNCONNECTED;
    }

    private static void requireTcp(String operation, PortSpace space) throws RdmaException {
        if (space != PortSpace.TCP) {
            throw RdmaException.unsupported(operation,
                    "iWARP has connections of port space TCP alone, not " + space);
        }
    }

    @Override
    public CmListener listen(CmContext via, ListenRequest request, CmListener.Handler handler)
            throws RdmaException {
        requireTcp("listen", request.space());
        return host.driver().call(
                nowNs -> IwarpListener.start(link, host, via, request, handler));
    }

    @Override
    public CmConnection connect(ConnectRequest request, CmConnection.Handler handler)
            throws RdmaException {
        requireTcp("connect", request.space());
        return host.driver().call(nowNs -> InitiatorConnection.ask(link, host, request, handler));
    }

    @Override
    public @Nullable CmDatagrams datagrams(CmContext via) {
        return null;
    }
}
