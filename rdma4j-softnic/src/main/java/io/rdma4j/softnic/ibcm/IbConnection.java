// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.RejectReason;
import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.protocol.ibcm.ConnectSpec;
import io.rdma4j.protocol.ibcm.IbCmConnection;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmOptions;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.util.List;

/** A connection of the IB connection manager, each call made as the engine's owner. */
final class IbConnection implements CmConnection {
    private final IbServices nic;
    private final InetSocketAddress local;
    private final InetSocketAddress remote;
    private @Nullable IbCmConnection ibConnection;
    private int queuePair;

    private IbConnection(IbServices nic, InetSocketAddress local, InetSocketAddress remote) {
        this.nic = nic;
        this.local = local;
        this.remote = remote;
    }

    /** {@return the connection of a received request} */
    static IbConnection requested(IbServices nic, IbCmConnection request, InetSocketAddress local,
            InetSocketAddress remote) {
        IbConnection connection = new IbConnection(nic, local, remote);
        connection.ibConnection = request;
        return connection;
    }

    /** Requests a connection, as the engine's owner. */
    static IbConnection ask(IbServices nic, ConnectRequest call, ConnectSpec wanted,
            CmConnection.Handler handler, long nowNs) throws RdmaException {
        IbConnection connection = new IbConnection(nic, call.source(), call.destination());
        connection.queuePair = call.queuePairNumber();
        connection.ibConnection = nic.connectionManager().connect(wanted,
                connection.eventsFor(handler), nowNs);
        return connection;
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
                Integer timeout = options.ackTimeoutExponent();
                if (timeout != null && attributes.isSet(QueuePairAttribute.TIMEOUT)) {
                    attributes.ackTimeoutExponent(timeout);
                }
                return attributes;
            }

            @Override
            public void applyTo(QueuePair queuePair) throws RdmaException {
                for (QueuePairState state : states()) {
                    queuePair.modify(attributes(state));
                    if (state == QueuePairState.RTR) {
                        nic.driver().run(nowNs -> nic.firstRnrTimer(queuePair.number(),
                                ibConnection().firstRnrTimer(own)));
                    }
                }
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
    public void reject(byte[] privateData) throws RdmaException {
        RejectReason reason = RejectReason.CONSUMER_DEFINED;
        nic.driver().call(nowNs -> {
            ibConnection().reject(reason, privateData);
            record(FlightEvents.Outcome.REJECTED, reason.code());
            return this;
        });
    }

    @Override
    public void giveUpUnanswered() {
        nic.driver().run(nowNs -> ibConnection().giveUpUnanswered(nowNs));
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
                handler.onReply(IbConnection.this, parameters);
            }

            @Override
            public void onEstablished() {
                record(FlightEvents.Outcome.ESTABLISHED, 0);
                handler.onEstablished(null);
            }

            @Override
            public void onRejected(int reason, byte[] privateData) {
                record(FlightEvents.Outcome.REJECTED, reason);
                handler.onRefused(new Refusal(reason, text(reason), privateData,
                        reason == RejectReason.INVALID_SERVICE_ID.code()));
            }

            @Override
            public void onSilence() {
                handler.onSilence(IbConnection.this);
            }

            private String text(int reason) {
                Mtu acceptable = ibConnection().acceptableMtu();
                return acceptable == null
                        ? RejectReason.text(reason)
                        : RejectReason.text(reason) + "; the peer can have " + acceptable.bytes();
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
