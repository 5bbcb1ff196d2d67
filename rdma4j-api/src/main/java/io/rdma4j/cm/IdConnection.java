// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaClosedException;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.util.List;

/** The connection of an id. */
final class IdConnection extends IdExchange implements CmConnection.Handler {
    /** Even if of ten ports nine have just been used, this is enough. */
    private static final int MOST_PORTS = 1000;

    private volatile @Nullable CmConnection connection;
    /** Whether connecting was begun with a queue pair of the id's own. */
    private volatile boolean bringsQueuePair;
    private final DeviceFallback fallback;

    IdConnection(Kind kind, IdStateMachine states, IdEvents events, IdAddresses addresses,
            IdOptions options, IdQueuePair queuePair) {
        super(kind, states, events, addresses, options, queuePair);
        fallback = new DeviceFallback(kind.space(), addresses);
    }

    /** The id is for a request of a peer. */
    void adopt(CmConnection request, ConnectionParameters parameters) {
        connection = request;
        adopt(parameters);
    }

    // ---------------------------------------------------------------- steps

    @Override
    void connect(ConnectionParameters parameters) throws RdmaException {
        try (IdEvents.Step step = events.begin("connect")) {
            connect(parameters, step);
        }
    }

    private void connect(ConnectionParameters parameters, IdEvents.Step step)
            throws RdmaException {
        checkPrivateData(parameters.privateData(), PrivateDataLimits::request, "connect");
        int number = queuePairNumber(parameters);
        checkResources(parameters, "connect");
        requireQueuePair(number, IdState.ROUTE_RESOLVED, "connect");
        states.require(IdStep.CONNECT, "connect");
        bringsQueuePair = queuePair.exists();
        try {
            connection = connectFromFreePort(choose(parameters), number);
        } catch (RdmaException e) {
            states.take(IdStep.CONNECT_FAILED);
            throw e;
        }
        if (states.is(IdState.CLOSED)) {
            // Meanwhile, when there was no connection yet to close.
            close();
            requireAnswered();
        }
        if (bringsQueuePair) {
            step.complete(connectTo(), CmEventType.ESTABLISHED);
        } else {
            // Some transports are established when the peer has accepted.
            step.complete(connectTo(), CmEventType.CONNECT_RESPONSE, CmEventType.ESTABLISHED);
        }
    }

    /**
     * A port of TCP is not free towards a destination for a minute after a connection from it has ended, which shows only
     * when it connects. If the id has not asked for that port it takes another one, as the system does for sockets that
     * were not bound.
     */
    private CmConnection connectFromFreePort(ConnectionParameters chosen, int number)
            throws RdmaException {
        for (int left = MOST_PORTS;; left--) {
            try {
                return addresses.device().context().connect(request(chosen, number), this);
            } catch (RdmaException e) {
                if (e.errno() != Errno.EADDRNOTAVAIL || left == 0 || !addresses.changePort()) {
                    throw e;
                }
            }
        }
    }

    @Override
    void accept(@Nullable ConnectionParameters parameters) throws RdmaException {
        try (IdEvents.Step step = events.begin("accept")) {
            accept(parameters, step);
        }
    }

    private void accept(@Nullable ConnectionParameters parameters, IdEvents.Step step)
            throws RdmaException {
        ConnectionParameters granted = parameters == null ? asRequested() : parameters;
        if (parameters != null) {
            checkResources(parameters, "accept");
        }
        checkPrivateData(granted.privateData(), PrivateDataLimits::acceptance, "accept");
        requireQueuePair(queuePairNumber(granted), IdState.REQUESTED, "accept");
        if (!states.take(IdStep.ACCEPT)) {
            throw noRequest("accept", "accepted");
        }
        try {
            CmConnection request = connection("accept");
            ConnectionParameters own = choose(granted);
            queuePair.bringUp(request.bringUp(own, options.forDevice()));
            request.accept(own, queuePairNumber(granted));
        } catch (RdmaException | RuntimeException e) {
            states.take(IdStep.ACCEPT_FAILED);
            throw e;
        }
        step.complete("accept", CmEventType.ESTABLISHED);
    }

    @Override
    void reject(byte[] privateData) throws RdmaException {
        checkPrivateData(privateData, PrivateDataLimits::rejection, "reject");
        if (!states.is(IdState.REQUESTED) && !states.is(IdState.CONNECTING)) {
            throw noRequest("reject", "rejected");
        }
        connection("reject").reject(privateData);
        states.take(IdStep.END);
    }

    @Override
    void establish() throws RdmaException {
        if (queuePair.exists()) {
            throw new RdmaException(Errno.EINVAL, "establish",
                    "the id has a queue pair of its own, so connecting establishes by itself");
        }
        if (!states.is(IdState.CONNECTING)) {
            throw states.wrong("establish",
                    "there is no CONNECT_RESPONSE to confirm; connecting brings one");
        }
        connection("establish").establish();
        states.take(IdStep.ESTABLISH);
    }

    @Override
    void communicationEstablished() throws RdmaException {
        if (states.is(IdState.ENDED)) {
            throw states.wrong("notify");
        }
        connection("notify").communicationEstablished();
    }

    @Override
    void disconnect() throws RdmaException {
        try (IdEvents.Step step = events.begin("disconnect")) {
            disconnect(step);
        }
    }

    private void disconnect(IdEvents.Step step) throws RdmaException {
        boolean isAlive = states.is(IdState.CONNECTED) || states.is(IdState.ACCEPTING);
        if (!isAlive && !states.is(IdState.ENDED)) {
            throw states.wrong("disconnect",
                    "the id is not connected, so there is nothing to end; closing it is enough");
        }
        queuePair.fail();
        if (isAlive) {
            connection("disconnect").disconnect();
            step.complete("disconnect", CmEventType.DISCONNECTED);
        }
    }

    @Override
    void close() {
        CmConnection open = connection;
        if (open != null) {
            open.close();
        }
    }

    private CmConnection connection(String operation) throws RdmaException {
        CmConnection open = connection;
        if (open == null) {
            throw states.wrong(operation, "there is no connection yet; CONNECT_REQUEST or"
                    + " CONNECT_RESPONSE brings the peer's parameters");
        }
        return open;
    }

    /** As in C: an application that asks for more than the device supports is refused, a peer's request is reduced. */
    private void checkResources(ConnectionParameters chosen, String operation)
            throws RdmaException {
        checkResource("responderResources", chosen.responderResources(),
                DeviceLimit.MAX_QP_RD_ATOM, operation);
        checkResource("initiatorDepth", chosen.initiatorDepth(), DeviceLimit.MAX_QP_INIT_RD_ATOM,
                operation);
    }

    private void checkResource(String name, int value, DeviceLimit limit, String operation)
            throws RdmaException {
        DeviceLease device = addresses.lease();
        if (value == ConnectionParameters.MAXIMUM || device == null) {
            return;
        }
        long maximum = device.context().queryDevice().limit(limit);
        if (value > maximum) {
            throw new RdmaException(Errno.EINVAL, operation,
                    name + " is " + value + "; the device can hold " + maximum + ", and "
                            + ConnectionParameters.MAXIMUM + " stands for as many as it can");
        }
    }

    // ---------------------------------------------------------------- what the device says

    /** A listener connects the queue pairs of its requests, and a connection that has ended connects none. */
    @Override
    void requireUseForQueuePair(String operation) throws RdmaException {
        switch (states.now()) {
            case LISTENING, ENDED, REMOVED, CLOSED -> throw states.wrong(operation);
            case IDLE, BOUND, ADDRESS_RESOLVED, ROUTE_RESOLVED, REQUESTED, CONNECTING, ACCEPTING,
                    CONNECTED ->
                {}
        }
    }

    @Override
    QueuePairBringUp bringUpOfNew() {
        return addresses.device().context()
                .bringUp(addresses.local("create queue pair").getAddress());
    }

    @Override
    QueuePairBringUp bringUp() throws RdmaException {
        CmConnection open = connection;
        return open == null ? new Unconnected(bringUpOfNew())
                : open.bringUp(own(), options.forDevice());
    }

    /** Before the peer's parameters are known, that is what a further state lacks. */
    private final class Unconnected implements QueuePairBringUp {
        private final QueuePairBringUp ofNew;

        Unconnected(QueuePairBringUp ofNew) {
            this.ofNew = ofNew;
        }

        @Override
        public List<QueuePairState> states() {
            return ofNew.states();
        }

        @Override
        public QueuePairAttributes attributes(QueuePairState target) throws RdmaException {
            if (!states().contains(target)) {
                connection("initialize queue pair attributes");
            }
            return ofNew.attributes(target);
        }
    }

    @Override
    PrivateDataLimits privateDataLimits() {
        return addresses.device().context().privateDataLimits();
    }

    // ---------------------------------------------------------------- reports

    @Override
    public void onReply(CmConnection open, ConnectionParameters parameters) {
        if (!states.is(IdState.CONNECTING)) {
            return;
        }
        answered();
        fallback.onFound();
        connection = open;
        if (!bringsQueuePair) {
            events.publish(CmEventType.CONNECT_RESPONSE, EventDetails.of(parameters));
            return;
        }
        try {
            queuePair.require();
            queuePair.bringUp(open.bringUp(own(), options.forDevice()));
            open.establish();
            states.take(IdStep.ESTABLISH);
            events.publish(CmEventType.ESTABLISHED, EventDetails.of(parameters));
        } catch (RdmaClosedException closed) {
            fail(CmEventType.CONNECT_ERROR, EventDetails.failure(new RdmaClosedException("connect",
                    "the queue pair was closed before the peer accepted", closed)));
            rejectUnusable(open);
        } catch (RdmaException e) {
            fail(CmEventType.CONNECT_ERROR, EventDetails.failure(e));
            rejectUnusable(open);
        }
    }

    /** The peer accepted, but this side's queue pair could not be brought up: rejects, so that the peer need not wait. */
    private static void rejectUnusable(CmConnection open) {
        try {
            open.reject(new byte[0]);
        } catch (RdmaException alreadyOver) {
            // Then it knows.
        }
    }

    @Override
    public void onEstablished(@Nullable ConnectionParameters parameters) {
        answered();
        if (!states.take(IdStep.CONFIRM)) {
            // Of a transport in which the peer's acceptance establishes at once.
            states.take(IdStep.ESTABLISH);
            fallback.onFound();
        }
        events.publish(CmEventType.ESTABLISHED, EventDetails.of(parameters));
    }

    @Override
    public void onRefused(Refusal refusal) {
        failToConnect(CmEventType.REJECTED, EventDetails.refusal(refusal), refusal.isByNobody());
    }

    @Override
    public void onSilence(CmConnection open) {
        if (states.is(IdState.CONNECTING)) {
            fallback.find(device -> {
                if (device != null) {
                    open.giveUpUnanswered();
                }
            });
        }
    }

    @Override
    public void onUnreachable(Errno reason) {
        failToConnect(CmEventType.UNREACHABLE, EventDetails.failure(-reason.number()),
                DeviceFallback.isOfOneTransport(reason));
    }

    /** @param mayBeElsewhere whether another device may find a listener where this one found nobody */
    private void failToConnect(CmEventType type, EventDetails details, boolean mayBeElsewhere) {
        if (!states.is(IdState.CONNECTING)) {
            fail(type, details);
            return;
        }
        fallback.onNotFound();
        if (!mayBeElsewhere) {
            fail(type, details);
            return;
        }
        fallback.find(device -> {
            // While it looked, the id may have been closed, or its device removed.
            if (!states.is(IdState.CONNECTING)) {
                return;
            }
            if (device != null) {
                fallback.onOther(device);
            }
            fail(type, details.with(device));
        });
    }

    private void fail(CmEventType type, EventDetails details) {
        answered();
        states.take(IdStep.END);
        queuePair.failQuietly();
        events.publish(type, details);
    }

    @Override
    public void onDisconnected() {
        states.take(IdStep.END);
        if (events.isSynchronous()) {
            // No thread waits for events, but one may wait for a completion.
            queuePair.failQuietly();
        }
        events.publish(CmEventType.DISCONNECTED, EventDetails.NONE);
    }

    @Override
    public void onUnknownEvent(int typeCode, int status) {
        events.publishUnknown(typeCode, status);
    }

    @Override
    public void onTimewaitExit() {
        events.publish(CmEventType.TIMEWAIT_EXIT, EventDetails.NONE);
    }
}
