// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.ibcm;

import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.connection.SidrStatus;
import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.observe.jfr.FlightEvents.Lookup;
import io.rdma4j.protocol.ibcm.CmPeer;
import io.rdma4j.protocol.ibcm.ConnectSpec;
import io.rdma4j.protocol.ibcm.DatagramLookup;
import io.rdma4j.protocol.ibcm.DatagramRequest;
import io.rdma4j.protocol.ibcm.DatagramService;
import io.rdma4j.protocol.ibcm.ListenSpec;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmLookup;
import io.rdma4j.spi.CmLookupRequest;
import io.rdma4j.spi.CmMembership;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.InfinibandBringUp;
import io.rdma4j.spi.IpGids;
import io.rdma4j.spi.JoinRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;
import java.net.InetSocketAddress;

/** The datagram services and multicast groups of an open device, each call made as the engine's owner. */
public final class IbDatagrams implements CmDatagrams {
    /** Of the messages SIDR_REQ and SIDR_REP, less the header in front. IBTA 12.11, A11. */
    private static final PrivateDataLimits PRIVATE_DATA = new PrivateDataLimits(180, 136, 136);

    private final CmContext context;
    private final IbServices nic;
    private final int port;

    /** @param port the port of the device */
    public IbDatagrams(CmContext context, IbServices nic, int port) {
        this.context = context;
        this.nic = nic;
        this.port = port;
    }

    @Override
    public PrivateDataLimits privateDataLimits() {
        return PRIVATE_DATA;
    }

    @Override
    public QueuePairBringUp bringUp(InetAddress local, int qkey) {
        return InfinibandBringUp.datagrams(port, qkey);
    }

    /**
     * Completes at once: the network learns of the membership from the socket's own IGMP or MLD report, when a
     * queue pair is attached.
     */
    @Override
    public CmMembership join(JoinRequest request, CmMembership.Handler handler)
            throws RdmaException {
        int index = IpGids.entry(context, request.local(), request.group()).index();
        handler.onJoined(AddressHandleAttributes.to(Gid.of(request.group()), index)
                .withTrafficClass(request.trafficClass()), null);
        return () -> {};
    }

    @Override
    public CmListener listen(ListenRequest call, CmLookupRequest.Handler handler)
            throws RdmaException {
        ListenSpec offer = IbConnections.offer(call);
        return SteeredListener.start(nic, offer, () -> start(offer, handler));
    }

    private SteeredListener.Offered start(ListenSpec offer, CmLookupRequest.Handler handler)
            throws RdmaException {
        DatagramService service = nic.driver()
                .call(nowNs -> nic.connectionManager().listenForLookups(offer,
                        (request, sourcePort, privateData) -> {
                            CmPeer peer = request.peer();
                            InetSocketAddress local = new InetSocketAddress(
                                    nic.addressOf(peer.local()), offer.port());
                            InetSocketAddress remote = new InetSocketAddress(
                                    nic.addressOf(peer.remote()), sourcePort);
                            handler.onRequest(context, new Asked(nic, request, local, remote),
                                    local, remote, privateData);
                        }));
        return onNoneLeft -> nic.driver().run(nowNs -> service.close(onNoneLeft));
    }

    @Override
    public CmLookup lookUp(ConnectRequest request, CmLookup.Handler handler)
            throws RdmaException {
        ConnectSpec wanted = IbConnections.wanted(nic, request);
        return nic.driver().call(nowNs -> {
            DatagramLookup lookup = nic.connectionManager().lookUp(wanted,
                    new Answer(nic, wanted, request, handler), nowNs);
            return () -> nic.driver().run(laterNs -> lookup.close());
        });
    }

    /** The outcome of a look-up (active side). */
    private record Answer(IbServices nic, ConnectSpec wanted, ConnectRequest request,
            CmLookup.Handler handler) implements DatagramLookup.Events {
        @Override
        public void onService(int queuePair, int qkey, byte[] privateData) {
            record(Lookup.FOUND, queuePair, 0);
            AddressHandleAttributes path = AddressHandleAttributes
                    .to(wanted.peer().remote(), nic.gids().indexOf(wanted.peer().local()))
                    .withTrafficClass(wanted.typeOfService());
            handler.onService(new DatagramParameters(path, queuePair, qkey, privateData));
        }

        @Override
        public void onRefused(int status, byte[] privateData) {
            record(Lookup.REFUSED, 0, status);
            handler.onRefused(new Refusal(status, SidrStatus.text(status), privateData));
        }

        @Override
        public void onUnreachable(Errno reason) {
            record(Lookup.UNREACHABLE, 0, 0);
            handler.onUnreachable(reason);
        }

        private void record(Lookup outcome, int queuePair, int status) {
            FlightEvents.serviceLookup(outcome, true, request.source(), request.destination(),
                    queuePair, status);
        }
    }

    /** A look-up that reached a service (passive side). */
    private record Asked(IbServices nic, DatagramRequest request, InetSocketAddress local,
            InetSocketAddress remote) implements CmLookupRequest {
        @Override
        public void accept(int queuePairNumber, int qkey, byte[] privateData)
                throws RdmaException {
            nic.driver().call(nowNs -> {
                request.accept(queuePairNumber, qkey, privateData, nowNs);
                FlightEvents.serviceLookup(Lookup.FOUND, false, local, remote, queuePairNumber, 0);
                return this;
            });
        }

        @Override
        public void reject(byte[] privateData) throws RdmaException {
            nic.driver().call(nowNs -> {
                request.reject(privateData, nowNs);
                recordRefusal();
                return this;
            });
        }

        @Override
        public void close() {
            nic.driver().run(nowNs -> {
                if (request.close(nowNs)) {
                    recordRefusal();
                }
            });
        }

        private void recordRefusal() {
            FlightEvents.serviceLookup(Lookup.REFUSED, false, local, remote, 0,
                    SidrStatus.REJECTED.code());
        }
    }
}
