package io.rdma4j.softnic.connect;

import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.RejectReason;
import io.rdma4j.protocol.ibcm.CmPeer;
import io.rdma4j.protocol.ibcm.CmService;
import io.rdma4j.protocol.ibcm.ConnectSpec;
import io.rdma4j.protocol.ibcm.IbCmConnection;
import io.rdma4j.protocol.ibcm.IpVersions;
import io.rdma4j.protocol.ibcm.ListenSpec;
import io.rdma4j.softnic.device.SoftNic;
import io.rdma4j.softnic.observe.jfr.FlightEvents;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.ConnectCall;
import io.rdma4j.spi.ListenCall;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;

/** The connection manager's listeners and connections, each call made as the engine's owner. */
final class SoftConnections {
    private SoftConnections() {}

    static CmListener listen(SoftNic nic, ListenCall call, CmListener.Handler handler)
            throws RdmaException {
        ListenSpec offer = new ListenSpec(call.space(), call.type(), call.port(),
                call.address() == null ? null : Gid.of(call.address()), versions(call.family()),
                call.backlog());
        if (call.type() == QueuePairType.UD) {
            return SoftDatagramServices.listen(nic, offer, handler);
        }
        CmService service = nic.driver()
                .call(nowNs -> nic.connectionManager().listen(offer,
                        (conversation, sourcePort, parameters) -> {
                            CmPeer peer = conversation.peer();
                            InetSocketAddress local = new InetSocketAddress(
                                    peer.local().address(), call.port());
                            InetSocketAddress remote = new InetSocketAddress(
                                    peer.remote().address(), sourcePort);
                            Connection connection = new Connection(nic, conversation, local,
                                    remote);
                            return connection.eventsFor(
                                    handler.onRequest(connection, local, remote, parameters));
                        }));
        return () -> nic.driver().run(nowNs -> service.close());
    }

    private static IpVersions versions(@Nullable StandardProtocolFamily family) {
        if (family == null) {
            return IpVersions.BOTH;
        }
        return family == StandardProtocolFamily.INET ? IpVersions.IPV4 : IpVersions.IPV6;
    }

    static CmConnection connect(SoftNic nic, ConnectCall call, CmConnection.Handler handler)
            throws RdmaException {
        CmPeer peer = new CmPeer(Gid.of(call.source().getAddress()),
                Gid.of(call.destination().getAddress()));
        ConnectSpec wanted = new ConnectSpec(peer, call.space(), call.type(), call.source().getPort(),
                call.destination().getPort(), call.parameters(), call.queuePairNumber(),
                nic.device().activeMtu(), call.options().typeOfService(),
                call.options().acknowledgeTimeout());
        if (call.type() == QueuePairType.UD) {
            return SoftDatagramServices.lookUp(nic, wanted, handler);
        }
        return nic.driver().call(nowNs -> {
            Connection connection = new Connection(nic, null, call.source(),
                    call.destination());
            connection.queuePair = call.queuePairNumber();
            connection.conversation = nic.connectionManager().connect(wanted,
                    connection.eventsFor(handler), nowNs);
            return connection;
        });
    }

    private static final class Connection implements CmConnection {
        private final SoftNic nic;
        private final InetSocketAddress local;
        private final InetSocketAddress remote;
        private @Nullable IbCmConnection conversation;
        private int queuePair;

        Connection(SoftNic nic, @Nullable IbCmConnection conversation, InetSocketAddress local,
                InetSocketAddress remote) {
            this.nic = nic;
            this.conversation = conversation;
            this.local = local;
            this.remote = remote;
        }

        private void record(FlightEvents.Outcome outcome, int reason) {
            FlightEvents.connection(outcome, local, remote, queuePair, reason);
        }

        private IbCmConnection conversation() {
            IbCmConnection present = conversation;
            if (present == null) {
                throw new IllegalStateException("the connection has not been called for");
            }
            return present;
        }

        @Override
        public QueuePairAttributes queuePairAttributes(QueuePairState target,
                ConnectionParameters own) throws RdmaException {
            return nic.driver().call(nowNs -> conversation().queuePairAttributes(target, own,
                    nic.gids().indexOf(conversation().peer().local())));
        }

        @Override
        public void accept(ConnectionParameters parameters, int queuePairNumber)
                throws RdmaException {
            nic.driver().call(nowNs -> {
                queuePair = queuePairNumber;
                conversation().accept(parameters, queuePairNumber, nowNs);
                return this;
            });
        }

        @Override
        public void establish() throws RdmaException {
            nic.driver().call(nowNs -> {
                conversation().establish();
                record(FlightEvents.Outcome.ESTABLISHED, 0);
                return this;
            });
        }

        @Override
        public void communicationEstablished() throws RdmaException {
            nic.driver().call(nowNs -> {
                conversation().communicationEstablished();
                return this;
            });
        }

        @Override
        public void reject(RejectReason reason, byte[] privateData) throws RdmaException {
            nic.driver().call(nowNs -> {
                conversation().reject(reason, privateData);
                record(FlightEvents.Outcome.REJECTED, reason.code());
                return this;
            });
        }

        @Override
        public void disconnect() throws RdmaException {
            nic.driver().call(nowNs -> {
                conversation().disconnect(nowNs);
                return this;
            });
        }

        @Override
        public void close() {
            nic.driver().run(nowNs -> conversation().close(nowNs));
        }

        IbCmConnection.Events eventsFor(CmConnection.Handler handler) {
            return new IbCmConnection.Events() {
                @Override
                public void onReply(ConnectionParameters parameters) {
                    handler.onReply(Connection.this, parameters);
                }

                @Override
                public void onEstablished() {
                    record(FlightEvents.Outcome.ESTABLISHED, 0);
                    handler.onEstablished();
                }

                @Override
                public void onRejected(int reason, byte[] privateData) {
                    record(FlightEvents.Outcome.REJECTED, reason);
                    handler.onRejected(reason, privateData);
                }

                @Override
                public void onUnreachable(Errno reason) {
                    record(FlightEvents.Outcome.UNREACHABLE, 0);
                    handler.onUnreachable(reason);
                }

                @Override
                public void onDisconnected() {
                    record(FlightEvents.Outcome.DISCONNECTED, 0);
                    handler.onDisconnected();
                }

                @Override
                public void onTimewaitExit() {
                    handler.onTimewaitExit();
                }
            };
        }
    }
}
