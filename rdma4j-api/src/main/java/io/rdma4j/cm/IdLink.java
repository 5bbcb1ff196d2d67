package io.rdma4j.cm;

import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.ConnectCall;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
import java.util.Set;

/**
 * The connection of an id, or its look-up of a datagram service: steps of the application, and what the
 * device reports. Reports come in the thread that drives the device.
 */
final class IdLink implements CmConnection.Handler {
    private final CmId id;
    private volatile @Nullable CmConnection connection;
    /** Whether connecting was begun with a queue pair of the id's own. */
    private volatile boolean bringsQueuePair;
    private volatile @Nullable ConnectionParameters requested;
    private volatile ConnectionParameters own = new ConnectionParameters();

    IdLink(CmId id) {
        this.id = id;
    }

    private boolean isDatagram() {
        return id.queuePairType() == QueuePairType.UD;
    }

    // ---------------------------------------------------------------- steps

    /** The id stands for a request. */
    void adopt(CmConnection request, ConnectionParameters parameters) {
        connection = request;
        requested = parameters;
    }

    void connect(ConnectionParameters parameters) throws RdmaException {
        try (IdEvents.Step step = id.events.begin("connect")) {
            connect(parameters, step);
        }
    }

    private void connect(ConnectionParameters parameters, IdEvents.Step step)
            throws RdmaException {
        checkPrivateData(parameters.privateData(), isDatagram()
                ? CmId.MAX_DATAGRAM_CONNECT_PRIVATE_DATA
                : CmId.MAX_CONNECT_PRIVATE_DATA, "connect");
        int queuePairNumber = queuePairNumber(parameters);
        if (!isDatagram()) {
            checkResources(parameters, "connect");
            requireQueuePair(queuePairNumber, IdState.ROUTE_RESOLVED, "connect");
        }
        id.progress.move(IdState.ROUTE_RESOLVED, IdState.CONNECTING, "connect");
        InetSocketAddress destination = id.addresses.peer("connect");
        own = withQueuePair(parameters);
        bringsQueuePair = id.queues.queuePair() != null;
        try {
            connection = id.addresses.device().context()
                    .connect(new ConnectCall(id.portSpace(), id.queuePairType(),
                            id.addresses.local("connect"), destination, own,
                            queuePairNumber, id.options.forDevice()), this);
        } catch (RdmaException e) {
            id.progress.replace(IdState.CONNECTING, IdState.ROUTE_RESOLVED);
            throw e;
        }
        if (id.progress.is(IdState.CLOSED)) {
            // Meanwhile, when there was no connection yet to close.
            close();
        }
        step.complete(
                "connect to " + destination.getAddress().getHostAddress() + " port "
                        + destination.getPort(),
                isDatagram() || bringsQueuePair
                        ? CmEventType.ESTABLISHED
                        : CmEventType.CONNECT_RESPONSE);
    }

    /** @param parameters null for what the peer asked for */
    void accept(@Nullable ConnectionParameters parameters) throws RdmaException {
        try (IdEvents.Step step = id.events.begin("accept")) {
            accept(parameters, step);
        }
    }

    private void accept(@Nullable ConnectionParameters parameters, IdEvents.Step step)
            throws RdmaException {
        ConnectionParameters granted = parameters == null ? asRequested() : parameters;
        if (parameters != null && !isDatagram()) {
            checkResources(parameters, "accept");
        }
        checkPrivateData(granted.privateData(), isDatagram()
                ? CmId.MAX_DATAGRAM_REPLY_PRIVATE_DATA
                : CmId.MAX_ACCEPT_PRIVATE_DATA, "accept");
        requireQueuePair(queuePairNumber(granted), IdState.REQUESTED, "accept");
        if (!id.progress.replace(IdState.REQUESTED, IdState.ACCEPTING)) {
            throw id.progress.wrong("accept",
                    "the id stands for no request; what can be accepted is"
                            + " the id that CONNECT_REQUEST or awaitRequest brings");
        }
        try {
            CmConnection request = connection("accept");
            own = withQueuePair(granted);
            if (isDatagram()) {
                own.qkey(qkey());
                id.queues.changeQkey(own.qkey());
                request.accept(own, queuePairNumber(granted));
                id.progress.replace(IdState.ACCEPTING, IdState.CONNECTED);
                return;
            }
            id.queues.ready();
            request.accept(own, queuePairNumber(granted));
        } catch (RdmaException | RuntimeException e) {
            id.progress.replace(IdState.ACCEPTING, IdState.REQUESTED);
            throw e;
        }
        step.complete("accept", CmEventType.ESTABLISHED);
    }

    /** The peer would send to a queue pair 0, which nobody has; the order of steps is refused first. */
    private void requireQueuePair(int number, IdState wanted, String operation)
            throws RdmaException {
        if (number == 0 && id.progress.is(wanted)) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "there is no queue pair; create one on the"
                            + " id, or say the number of another in the parameters");
        }
    }

    private ConnectionParameters asRequested() {
        ConnectionParameters asked = requested;
        return asked == null
                ? new ConnectionParameters()
                : new ConnectionParameters(asked).privateData(new byte[0]).queuePairNumber(0);
    }

    void reject(RejectReason reason, byte[] privateData) throws RdmaException {
        checkPrivateData(privateData, isDatagram()
                ? CmId.MAX_DATAGRAM_REPLY_PRIVATE_DATA
                : CmId.MAX_REJECT_PRIVATE_DATA, "reject");
        if (!id.progress.is(IdState.REQUESTED) && !id.progress.is(IdState.CONNECTING)) {
            throw id.progress.wrong("reject",
                    "the id stands for no request; what can be rejected is"
                            + " the id that CONNECT_REQUEST or awaitRequest brings");
        }
        connection("reject").reject(reason, privateData);
        id.progress.end();
    }

    void establish() throws RdmaException {
        if (id.queues.queuePair() != null) {
            throw new RdmaException(Errno.EINVAL, "establish",
                    "the id has a queue pair of its own, so connecting establishes by itself");
        }
        if (!id.progress.is(IdState.CONNECTING)) {
            throw id.progress.wrong("establish",
                    "there is no CONNECT_RESPONSE to confirm; connecting brings one");
        }
        connection("establish").establish();
        id.progress.replace(IdState.CONNECTING, IdState.CONNECTED);
    }

    void communicationEstablished() throws RdmaException {
        connection("notify").communicationEstablished();
    }

    void disconnect() throws RdmaException {
        if (isDatagram()) {
            throw new RdmaException(Errno.EINVAL, "disconnect",
                    "a datagram service has no connection; close the id");
        }
        try (IdEvents.Step step = id.events.begin("disconnect")) {
            disconnect(step);
        }
    }

    private void disconnect(IdEvents.Step step) throws RdmaException {
        boolean isAlive = id.progress.is(IdState.CONNECTED) || id.progress.is(IdState.ACCEPTING);
        if (!isAlive && !id.progress.is(IdState.ENDED)) {
            throw id.progress.wrong("disconnect",
                    "the id is not connected, so there is nothing to end; closing it is enough");
        }
        id.queues.fail();
        if (isAlive) {
            connection("disconnect").disconnect();
            step.complete("disconnect", CmEventType.DISCONNECTED);
        }
    }

    void close() {
        CmConnection open = connection;
        if (open != null) {
            open.close();
        }
    }

    private CmConnection connection(String operation) throws RdmaException {
        CmConnection open = connection;
        if (open == null) {
            throw id.progress.wrong(operation, "there is no connection yet; CONNECT_REQUEST or"
                    + " CONNECT_RESPONSE brings the peer's parameters");
        }
        return open;
    }

    private int queuePairNumber(ConnectionParameters parameters) {
        QueuePair queuePair = id.queues.queuePair();
        return queuePair == null ? parameters.queuePairNumber() : queuePair.number();
    }

    /** {@return a copy; whether receives are shared is a property of the queue pair, if the id has one} */
    private ConnectionParameters withQueuePair(ConnectionParameters chosen) {
        ConnectionParameters copy = new ConnectionParameters(chosen);
        QueuePair queuePair = id.queues.queuePair();
        return queuePair == null
                ? copy
                : copy.sharedReceiveQueue(queuePair.sharedReceiveQueue() != null);
    }

    /** As in C, more than the device can hold is refused; what the peer asked for is cut instead. */
    private void checkResources(ConnectionParameters chosen, String operation)
            throws RdmaException {
        checkResource("responderResources", chosen.responderResources(),
                DeviceLimit.MAX_QP_RD_ATOM, operation);
        checkResource("initiatorDepth", chosen.initiatorDepth(), DeviceLimit.MAX_QP_INIT_RD_ATOM,
                operation);
    }

    private void checkResource(String name, int value, DeviceLimit limit, String operation)
            throws RdmaException {
        DeviceLease device = id.addresses.lease();
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

    private static void checkPrivateData(byte[] data, int maximum, String operation)
            throws RdmaException {
        if (data.length > maximum) {
            throw new RdmaException(Errno.EINVAL, operation, "private data has " + data.length
                    + " bytes; at most " + maximum + " fit");
        }
    }

    // ---------------------------------------------------------------- the queue pair

    /** {@return the Q_Key of datagrams to and from this id} */
    int qkey() {
        int chosen = own.qkey();
        return chosen == 0 ? DatagramParameters.UDP_QKEY : chosen;
    }

    /** {@return the attributes that bring the queue pair to INIT, RTR or RTS} */
    QueuePairAttributes attributes(QueuePairState target) throws RdmaException {
        CmConnection open = connection;
        QueuePairAttributes attributes;
        if (isDatagram()) {
            attributes = datagramAttributes(target);
        } else if (open == null && target == QueuePairState.INIT) {
            attributes = new QueuePairAttributes().state(target).pkeyIndex(0).port(IdAddresses.PORT)
                    .accessFlags(Set.of());
        } else {
            attributes = connection("initialize queue pair attributes").queuePairAttributes(target,
                    own);
        }
        Integer acknowledgeTimeout = id.options.acknowledgeTimeout;
        if (acknowledgeTimeout != null && attributes.isSet(QueuePairAttribute.TIMEOUT)) {
            attributes.timeout(acknowledgeTimeout);
        }
        return attributes;
    }

    private QueuePairAttributes datagramAttributes(QueuePairState target) throws RdmaException {
        QueuePairAttributes attributes = new QueuePairAttributes().state(target);
        return switch (target) {
            case INIT -> attributes.pkeyIndex(0).port(IdAddresses.PORT).qkey(qkey());
            case RTR -> attributes;
            case RTS -> attributes.sendPsn(0);
            case RESET, SQD, SQE, ERR -> throw new RdmaException(Errno.EINVAL,
                    "initialize queue pair attributes",
                    "an id brings a queue pair to INIT, RTR or RTS, not to " + target);
        };
    }

    // ---------------------------------------------------------------- reports

    @Override
    public void onReply(CmConnection open, ConnectionParameters parameters) {
        if (!id.progress.is(IdState.CONNECTING)) {
            return;
        }
        connection = open;
        if (!bringsQueuePair) {
            id.events.publish(CmEventType.CONNECT_RESPONSE, EventDetails.of(parameters));
            return;
        }
        try {
            id.queues.requireQueuePair();
            id.queues.ready();
            open.establish();
            id.progress.replace(IdState.CONNECTING, IdState.CONNECTED);
            id.events.publish(CmEventType.ESTABLISHED, EventDetails.of(parameters));
        } catch (RdmaException e) {
            fail(CmEventType.CONNECT_ERROR, EventDetails.failure(e));
            rejectUnusable(open);
        } catch (IllegalStateException closed) {
            fail(CmEventType.CONNECT_ERROR, EventDetails.failure(new RdmaException(Errno.EINVAL,
                    "connect", "the queue pair was closed before the peer accepted", closed)));
            rejectUnusable(open);
        }
    }

    /** The peer accepted, but this side's queue pair did not go along: the peer need not wait. */
    private static void rejectUnusable(CmConnection open) {
        try {
            open.reject(RejectReason.CONSUMER_DEFINED, new byte[0]);
        } catch (RdmaException alreadyOver) {
            // Then it knows.
        }
    }

    @Override
    public void onService(DatagramParameters service) {
        if (id.progress.replace(IdState.CONNECTING, IdState.CONNECTED)) {
            id.events.publish(CmEventType.ESTABLISHED, EventDetails.of(service));
        }
    }

    @Override
    public void onEstablished() {
        id.progress.replace(IdState.ACCEPTING, IdState.CONNECTED);
        id.events.publish(CmEventType.ESTABLISHED, EventDetails.NONE);
    }

    @Override
    public void onRejected(int reason, byte[] privateData) {
        // As in Linux, a datagram service that says no counts as not reachable.
        fail(isDatagram() ? CmEventType.UNREACHABLE : CmEventType.REJECTED,
                EventDetails.failure(reason, privateData));
    }

    @Override
    public void onUnreachable(Errno reason) {
        fail(CmEventType.UNREACHABLE, EventDetails.failure(-reason.number()));
    }

    private void fail(CmEventType type, EventDetails details) {
        id.progress.end();
        if (!isDatagram()) {
            id.queues.failQuietly();
        }
        id.events.publish(type, details);
    }

    @Override
    public void onDisconnected() {
        id.progress.end();
        if (id.events.isSynchronous()) {
            // Nobody listens for events, but a thread may wait for a completion.
            id.queues.failQuietly();
        }
        id.events.publish(CmEventType.DISCONNECTED, EventDetails.NONE);
    }

    @Override
    public void onTimewaitExit() {
        id.events.publish(CmEventType.TIMEWAIT_EXIT, EventDetails.NONE);
    }
}
