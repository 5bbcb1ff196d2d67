package io.rdma4j.softnic.connect;

import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.RejectReason;
import io.rdma4j.cm.SidrStatus;
import io.rdma4j.protocol.ibcm.CmPeer;
import io.rdma4j.protocol.ibcm.ConnectSpec;
import io.rdma4j.protocol.ibcm.DatagramLookup;
import io.rdma4j.protocol.ibcm.DatagramRequest;
import io.rdma4j.protocol.ibcm.DatagramService;
import io.rdma4j.protocol.ibcm.ListenSpec;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.observe.jfr.FlightEvents.Lookup;
import io.rdma4j.softnic.observe.jfr.FlightEvents;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmListener;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

import java.net.InetSocketAddress;

/** The connection manager's datagram services, each call made as the engine's owner. */
final class SoftDatagramServices {
    private SoftDatagramServices() {}

    static CmListener listen(SoftNic nic, ListenSpec offer, CmListener.Handler handler)
            throws RdmaException {
        DatagramService service = nic.driver()
                .call(nowNs -> nic.connectionManager().listenForLookups(offer,
                        (request, sourcePort, privateData) -> {
                            CmPeer peer = request.peer();
                            InetSocketAddress local = new InetSocketAddress(
                                    peer.local().address(), offer.port());
                            InetSocketAddress remote = new InetSocketAddress(
                                    peer.remote().address(), sourcePort);
                            // Nothing can happen to a look-up but that it is answered.
                            handler.onRequest(new Asked(nic, request, local, remote), local,
                                    remote, new ConnectionParameters().privateData(privateData));
                        }));
        return () -> nic.driver().run(nowNs -> service.close());
    }

    static CmConnection lookUp(SoftNic nic, ConnectSpec call, CmConnection.Handler handler)
            throws RdmaException {
        InetSocketAddress local = new InetSocketAddress(call.peer().local().address(),
                call.sourcePort());
        InetSocketAddress remote = new InetSocketAddress(call.peer().remote().address(),
                call.destinationPort());
        return nic.driver().call(nowNs -> {
            DatagramLookup lookup = nic.connectionManager().lookUp(call,
                    new DatagramLookup.Events() {
                        @Override
                        public void onService(int queuePair, int qkey, byte[] privateData) {
                            record(Lookup.FOUND, queuePair, 0);
                            handler.onService(new DatagramParameters(path(nic, call), queuePair,
                                    qkey, privateData));
                        }

                        @Override
                        public void onRefused(int status, byte[] privateData) {
                            record(Lookup.REFUSED, 0, status);
                            handler.onRejected(status, privateData);
                        }

                        @Override
                        public void onUnreachable(Errno reason) {
                            record(Lookup.UNREACHABLE, 0, 0);
                            handler.onUnreachable(reason);
                        }

                        private void record(Lookup outcome, int queuePair, int status) {
                            FlightEvents.serviceLookup(outcome, true, local, remote, queuePair,
                                    status);
                        }
                    }, nowNs);
            return new Asking(nic, lookup);
        });
    }

    private static AddressHandleAttributes path(SoftNic nic, ConnectSpec call) {
        return AddressHandleAttributes
                .to(call.peer().remote(), nic.gids().indexOf(call.peer().local()))
                .withTrafficClass(call.typeOfService());
    }

    /** What a datagram service does not have. */
    private abstract static class Connectionless implements CmConnection {
        final SoftNic nic;

        Connectionless(SoftNic nic) {
            this.nic = nic;
        }

        static RdmaException refusal(String operation) {
            return new RdmaException(Errno.EINVAL, operation,
                    "a datagram service has no connection");
        }

        @Override
        public QueuePairAttributes queuePairAttributes(QueuePairState target,
                ConnectionParameters own) throws RdmaException {
            throw refusal("initialize queue pair attributes");
        }

        @Override
        public void accept(ConnectionParameters parameters, int queuePairNumber)
                throws RdmaException {
            throw refusal("accept");
        }

        @Override
        public void establish() throws RdmaException {
            throw refusal("establish");
        }

        @Override
        public void communicationEstablished() throws RdmaException {
            throw refusal("notify");
        }

        @Override
        public void reject(RejectReason reason, byte[] privateData) throws RdmaException {
            throw refusal("reject");
        }

        @Override
        public void disconnect() throws RdmaException {
            throw refusal("disconnect");
        }
    }

    /** The active side. */
    private static final class Asking extends Connectionless {
        private final DatagramLookup lookup;

        Asking(SoftNic nic, DatagramLookup lookup) {
            super(nic);
            this.lookup = lookup;
        }

        @Override
        public void close() {
            nic.driver().run(nowNs -> lookup.close());
        }
    }

    /** The passive side. */
    private static final class Asked extends Connectionless {
        private final DatagramRequest request;
        private final InetSocketAddress local;
        private final InetSocketAddress remote;

        Asked(SoftNic nic, DatagramRequest request, InetSocketAddress local,
                InetSocketAddress remote) {
            super(nic);
            this.request = request;
            this.local = local;
            this.remote = remote;
        }

        @Override
        public void accept(ConnectionParameters parameters, int queuePairNumber)
                throws RdmaException {
            nic.driver().call(nowNs -> {
                request.accept(queuePairNumber, parameters.qkey(), parameters.privateData(), nowNs);
                FlightEvents.serviceLookup(Lookup.FOUND, false, local, remote, queuePairNumber, 0);
                return this;
            });
        }

        @Override
        public void reject(RejectReason reason, byte[] privateData) throws RdmaException {
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
