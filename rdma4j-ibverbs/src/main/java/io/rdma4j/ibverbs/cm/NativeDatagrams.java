// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmLookup;
import io.rdma4j.spi.CmLookupRequest;
import io.rdma4j.spi.CmMembership;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.InfinibandBringUp;
import io.rdma4j.spi.JoinRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;

/** Datagram services of InfiniBand and RoCE, in port space UDP. Thread safe. */
final class NativeDatagrams implements CmDatagrams {
    /** Of the messages SIDR_REQ and SIDR_REP, less the header in front. IBTA 12.11, A11. */
    private static final PrivateDataLimits PRIVATE_DATA = new PrivateDataLimits(180, 136, 136);

    private final CmServices device;

    NativeDatagrams(CmServices device) {
        this.device = device;
    }

    @Override
    public PrivateDataLimits privateDataLimits() {
        return PRIVATE_DATA;
    }

    /** The library makes ids of UD in port space UDP alone. */
    private void requireUdp(String operation, PortSpace space, QueuePairType type)
            throws RdmaException {
        device.requireOpen(operation);
        if (space != PortSpace.UDP || type != QueuePairType.UD) {
            throw RdmaException.unsupported(operation,
                    "the kernel looks up UD in port space UDP, not " + type + " in " + space);
        }
    }

    @Override
    public CmListener listen(ListenRequest request, CmLookupRequest.Handler handler)
            throws RdmaException {
        requireUdp("listen", request.space(), request.type());
        return NativeListener.start(device, request,
                (via, id, event) -> NativeLookupRequest.requested(via, id, event, handler),
                handler);
    }

    @Override
    public CmLookup lookUp(ConnectRequest request, CmLookup.Handler handler)
            throws RdmaException {
        requireUdp("look up service", request.space(), request.type());
        return NativeLookup.ask(device, request, handler);
    }

    @Override
    public QueuePairBringUp bringUp(InetAddress local, int qkey) {
        return new PartitionBringUp(device, local,
                InfinibandBringUp.datagrams(device.via().portNumber(local), qkey));
    }

    /**
     * {@inheritDoc} C: {@code rdma_join_multicast_ex}.
     *
     * @throws RdmaException EADDRNOTAVAIL if another device has the local address, ENODEV if none has it, EOPNOTSUPP on RoCE
     *         for groups of IPv6, which the kernel does not join there
     */
    @Override
    public CmMembership join(JoinRequest request, CmMembership.Handler handler)
            throws RdmaException {
        device.requireOpen("join multicast group");
        return NativeMembership.join(device, request, handler,
                device.isInfiniband(request.local()));
    }
}
