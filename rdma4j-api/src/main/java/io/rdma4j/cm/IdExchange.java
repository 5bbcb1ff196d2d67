// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.spi.ConnectRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;

/**
 * The exchange between an id and its peer: a connection, or the look-up of a datagram service. The application calls the
 * steps here; the thread that drives the device reports its events.
 */
abstract sealed class IdExchange permits IdConnection, IdDatagram {
    final IdStateMachine states;
    final IdEvents events;
    final IdAddresses addresses;
    final IdOptions options;
    final IdQueuePair queuePair;
    final Kind kind;
    private volatile @Nullable ConnectionParameters requested;
    private volatile ConnectionParameters own = new ConnectionParameters();
    private volatile boolean isAnswered;

    /** What is connected. */
    record Kind(PortSpace space, QueuePairType type) {}

    IdExchange(Kind kind, IdStateMachine states, IdEvents events, IdAddresses addresses,
            IdOptions options, IdQueuePair queuePair) {
        this.kind = kind;
        this.states = states;
        this.events = events;
        this.addresses = addresses;
        this.options = options;
        this.queuePair = queuePair;
    }

    // ---------------------------------------------------------------- the steps

    abstract void connect(ConnectionParameters parameters) throws RdmaException;

    /** @param parameters null for what the peer asked for */
    abstract void accept(@Nullable ConnectionParameters parameters) throws RdmaException;

    abstract void reject(byte[] privateData) throws RdmaException;

    abstract void establish() throws RdmaException;

    abstract void communicationEstablished() throws RdmaException;

    abstract void disconnect() throws RdmaException;

    /** Forgets the peer: refuses, or ends the connection. Idempotent. */
    abstract void close();

    // ---------------------------------------------------------------- what the device says

    /** @throws RdmaException EINVAL in a state in which no queue pair of the id can come to a peer, ENODEV without a device */
    abstract void requireUseForQueuePair(String operation) throws RdmaException;

    /** {@return the steps of a new queue pair of the id that are possible without a peer} */
    abstract QueuePairBringUp bringUpOfNew() throws RdmaException;

    /** {@return how a queue pair of the application's own is brought up for what is known of the peer now} */
    abstract QueuePairBringUp bringUp() throws RdmaException;

    abstract PrivateDataLimits privateDataLimits() throws RdmaException;

    // ---------------------------------------------------------------- parts of steps

    final void adopt(ConnectionParameters parameters) {
        requested = parameters;
    }

    /** The outcome of connecting is known. */
    final void answered() {
        if (!states.is(IdState.CLOSED)) {
            isAnswered = true;
        }
    }

    /**
     * Connecting has found the id closed.
     *
     * @throws IllegalStateException unless the outcome was reported before: then whoever was notified may have closed the id
     */
    final void requireAnswered() {
        if (!isAnswered) {
            throw IdStateMachine.closed();
        }
    }

    final ConnectionParameters own() {
        return own;
    }

    /** This side's parameters are known now. */
    final ConnectionParameters choose(ConnectionParameters chosen) {
        ConnectionParameters copy = new ConnectionParameters(chosen);
        QueuePair present = queuePair.queuePair();
        if (present != null) {
            // Whether receives are shared is a property of the queue pair.
            copy.sharedReceiveQueue(present.sharedReceiveQueue() != null);
        }
        own = copy;
        return copy;
    }

    /** {@return what the peer asked for, as what this side grants} */
    final ConnectionParameters asRequested() {
        ConnectionParameters asked = requested;
        return asked == null
                ? new ConnectionParameters()
                : new ConnectionParameters(asked).privateData(new byte[0]).queuePairNumber(0);
    }

    final int queuePairNumber(ConnectionParameters parameters) {
        QueuePair present = queuePair.queuePair();
        return present == null ? parameters.queuePairNumber() : present.number();
    }

    /** Without a queue pair the peer would send to number 0, which does not exist; a wrong order of steps is refused first. */
    final void requireQueuePair(int number, IdState wanted, String operation)
            throws RdmaException {
        if (number == 0 && states.is(wanted)) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "there is no queue pair; create one on the"
                            + " id, or say the number of another in the parameters");
        }
    }

    /** Checks the length of private data, if there is a device to ask; without one the step is out of order. */
    final void checkPrivateData(byte[] data, Limit limit, String operation) throws RdmaException {
        if (addresses.lease() == null) {
            return;
        }
        int maximum = limit.of(privateDataLimits());
        if (data.length > maximum) {
            throw new RdmaException(Errno.EINVAL, operation, "private data has " + data.length
                    + " bytes; at most " + maximum + " fit");
        }
    }

    /** Which limit. */
    interface Limit {
        int of(PrivateDataLimits limits);
    }

    final ConnectRequest request(ConnectionParameters chosen, int queuePairNumber)
            throws RdmaException {
        return new ConnectRequest(kind.space, kind.type, addresses.local("connect"),
                addresses.reservation(addresses.device()), addresses.peer("connect"), chosen,
                queuePairNumber, options.forDevice());
    }

    final String connectTo() {
        InetSocketAddress peer = addresses.peer("connect");
        return "connect to " + peer.getAddress().getHostAddress() + " port " + peer.getPort();
    }

    final RdmaException noRequest(String operation, String participle) {
        return states.wrong(operation, "the id stands for no request; what can be " + participle
                + " is the id that CONNECT_REQUEST or awaitRequest brings");
    }
}
