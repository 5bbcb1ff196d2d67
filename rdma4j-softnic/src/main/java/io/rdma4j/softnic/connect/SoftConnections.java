package io.rdma4j.softnic.connect;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.protocol.ibcm.CmPeer;
import io.rdma4j.protocol.ibcm.CmService;
import io.rdma4j.protocol.ibcm.ConnectSpec;
import io.rdma4j.protocol.ibcm.IbCmConnection;
import io.rdma4j.protocol.ibcm.IpVersions;
import io.rdma4j.protocol.ibcm.ListenSpec;
import io.rdma4j.softnic.observe.jfr.FlightEvents;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmContext;
import io.rdma4j.spi.CmListener;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.ListenRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.util.List;

/** The connection manager's listeners and connections, each call made as the engine's owner. */
public final class SoftConnections {
    /** Of the messages REQ, REP and REJ, less the header in front. IBTA 12.6, A11. */
    public static final PrivateDataLimits PRIVATE_DATA = new PrivateDataLimits(56, 196, 148);

    private SoftConnections() {}

    /**
     * Listens for connections.
     *
     * @param via the context that requests come by
     */
    public static CmListener listen(CmContext via, ConnectServices nic, ListenRequest call,
            CmListener.Handler handler) throws RdmaException {
        ListenSpec offer = offer(call);
        return SteeredListener.start(nic, offer,
                () -> start(via, nic, call, offer, handler));
    }

    private static CmListener start(CmContext via, ConnectServices nic, ListenRequest call,
            ListenSpec offer, CmListener.Handler handler) throws RdmaException {
        CmService service = nic.driver()
                .call(nowNs -> nic.connectionManager().listen(offer,
                        (ibConnection, sourcePort, parameters) -> {
                            CmPeer peer = ibConnection.peer();
                            InetSocketAddress local = new InetSocketAddress(
                                    peer.local().address(), call.port());
                            InetSocketAddress remote = new InetSocketAddress(
                                    peer.remote().address(), sourcePort);
                            Connection connection = new Connection(nic, ibConnection, local,
                                    remote);
                            return connection.eventsFor(
                                    handler.onRequest(via, connection, local, remote,
                                            parameters));
                        }));
        return () -> nic.driver().run(nowNs -> service.close());
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

    static ConnectSpec wanted(ConnectServices nic, ConnectRequest call) {
        CmPeer peer = new CmPeer(Gid.of(call.source().getAddress()),
                Gid.of(call.destination().getAddress()));
        return new ConnectSpec(peer, call.space(), call.type(), call.source().getPort(),
                call.destination().getPort(), call.parameters(), call.queuePairNumber(),
                nic.activeMtu(), call.options().typeOfService(),
                call.options().acknowledgeTimeout());
    }

    /** Asks for a connection. */
    public static CmConnection connect(ConnectServices nic, ConnectRequest call,
            CmConnection.Handler handler) throws RdmaException {
        ConnectSpec wanted = wanted(nic, call);
        return nic.driver().call(nowNs -> {
            Connection connection = new Connection(nic, null, call.source(),
                    call.destination());
            connection.queuePair = call.queuePairNumber();
            connection.ibConnection = nic.connectionManager().connect(wanted,
                    connection.eventsFor(handler), nowNs);
            return connection;
        });
    }

    private static final class Connection implements CmConnection {
        private final ConnectServices nic;
        private final InetSocketAddress local;
        private final InetSocketAddress remote;
        private @Nullable IbCmConnection ibConnection;
        private int queuePair;

        Connection(ConnectServices nic, @Nullable IbCmConnection ibConnection,
                InetSocketAddress local,
                InetSocketAddress remote) {
            this.nic = nic;
            this.ibConnection = ibConnection;
            this.local = local;
            this.remote = remote;
        }

        private void record(FlightEvents.Outcome outcome, int reason) {
            FlightEvents.connection(outcome, local, remote, queuePair, reason);
        }

        private IbCmConnection ibConnection() {
            IbCmConnection present = ibConnection;
            if (present == null) {
                throw new IllegalStateException("the connection has not been called for");
            }
            return present;
        }

        @Override
        public QueuePairBringUp bringUp(ConnectionParameters own, CmOptions options) {
            return new QueuePairBringUp() {
                @Override
                public List<QueuePairState> states() {
                    return List.of(QueuePairState.INIT, QueuePairState.RTR, QueuePairState.RTS);
                }

                @Override
                public QueuePairAttributes attributes(QueuePairState target)
                        throws RdmaException {
                    QueuePairAttributes attributes = nic.driver()
                            .call(nowNs -> ibConnection().queuePairAttributes(target, own,
                                    nic.gids().indexOf(ibConnection().peer().local())));
                    Integer timeout = options.acknowledgeTimeout();
                    if (timeout != null && attributes.isSet(QueuePairAttribute.TIMEOUT)) {
                        attributes.timeout(timeout);
                    }
                    return attributes;
                }
            };
        }

        @Override
        public void accept(ConnectionParameters parameters, int queuePairNumber)
                throws RdmaException {
            nic.driver().call(nowNs -> {
                queuePair = queuePairNumber;
                ibConnection().accept(parameters, queuePairNumber, nowNs);
                return this;
            });
        }

        @Override
        public void establish() throws RdmaException {
            nic.driver().call(nowNs -> {
                ibConnection().establish();
                record(FlightEvents.Outcome.ESTABLISHED, 0);
                return this;
            });
        }

        @Override
        public void communicationEstablished() throws RdmaException {
            nic.driver().call(nowNs -> {
                ibConnection().communicationEstablished();
                return this;
            });
        }

        @Override
        public void reject(Refusal.Cause cause, byte[] privateData) throws RdmaException {
            RejectReason reason = switch (cause) {
                case APPLICATION -> RejectReason.CONSUMER_DEFINED;
                case OPTIONS -> RejectReason.VENDOR_OPTION_NOT_SUPPORTED;
            };
            nic.driver().call(nowNs -> {
                ibConnection().reject(reason, privateData);
                record(FlightEvents.Outcome.REJECTED, reason.code());
                return this;
            });
        }

        @Override
        public void disconnect() throws RdmaException {
            nic.driver().call(nowNs -> {
                ibConnection().disconnect(nowNs);
                return this;
            });
        }

        @Override
        public void close() {
            nic.driver().run(nowNs -> ibConnection().close(nowNs));
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
                    handler.onEstablished(null);
                }

                @Override
                public void onRejected(int reason, byte[] privateData) {
                    record(FlightEvents.Outcome.REJECTED, reason);
                    handler.onRefused(
                            new Refusal(reason, RejectReason.text(reason), privateData));
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
