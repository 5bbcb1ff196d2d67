// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.DatagramParameters;
import io.rdma4j.connection.PrivateDataLimits;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmLookup;
import io.rdma4j.spi.CmLookupRequest;
import io.rdma4j.spi.QueuePairBringUp;
import io.rdma4j.spi.Refusal;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** The look-up of a datagram service by an id, or the look-up that an id stands for. */
final class IdDatagram extends IdExchange implements CmLookup.Handler {
    private volatile @Nullable CmLookup lookup;
    private volatile @Nullable CmLookupRequest request;

    IdDatagram(Kind kind, IdStateMachine states, IdEvents events, IdAddresses addresses,
            IdOptions options, IdQueuePair queuePair) {
        super(kind, states, events, addresses, options, queuePair);
    }

    /** The id stands for a look-up. */
    void adopt(CmLookupRequest lookedUp, ConnectionParameters parameters) {
        request = lookedUp;
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
        states.require(IdStep.CONNECT, "connect");
        try {
            lookup = services("connect").lookUp(
                    request(choose(parameters), queuePairNumber(parameters)), this);
        } catch (RdmaException e) {
            states.take(IdStep.CONNECT_FAILED);
            throw e;
        }
        if (states.is(IdState.CLOSED)) {
            // Meanwhile, when there was no look-up yet to close.
            close();
            requireAnswered();
        }
        step.complete(connectTo(), CmEventType.ESTABLISHED);
    }

    @Override
    void accept(@Nullable ConnectionParameters parameters) throws RdmaException {
        try (IdEvents.Step _ = events.begin("accept")) {
            ConnectionParameters granted = parameters == null ? asRequested() : parameters;
            checkPrivateData(granted.privateData(), PrivateDataLimits::acceptance, "accept");
            requireQueuePair(queuePairNumber(granted), IdState.REQUESTED, "accept");
            CmLookupRequest asked = request;
            if (asked == null || !states.take(IdStep.ACCEPT)) {
                throw noRequest("accept", "accepted");
            }
            try {
                ConnectionParameters own = choose(granted).qkey(qkey(granted));
                queuePair.changeQkey(own.qkey());
                asked.accept(queuePairNumber(granted), own.qkey(), own.privateData());
                states.take(IdStep.CONFIRM);
            } catch (RdmaException | RuntimeException e) {
                states.take(IdStep.ACCEPT_FAILED);
                throw e;
            }
        }
    }

    @Override
    void reject(byte[] privateData) throws RdmaException {
        checkPrivateData(privateData, PrivateDataLimits::rejection, "reject");
        CmLookupRequest asked = request;
        if (asked == null || !states.is(IdState.REQUESTED)) {
            throw noRequest("reject", "rejected");
        }
        asked.reject(privateData);
        states.take(IdStep.END);
    }

    @Override
    void establish() throws RdmaException {
        throw connectionless("establish");
    }

    @Override
    void communicationEstablished() throws RdmaException {
        throw connectionless("notify");
    }

    @Override
    void disconnect() throws RdmaException {
        throw connectionless("disconnect");
    }

    private static RdmaException connectionless(String operation) {
        return new RdmaException(Errno.EINVAL, operation,
                "a datagram service has no connection; close the id");
    }

    @Override
    void close() {
        CmLookup asking = lookup;
        if (asking != null) {
            asking.close();
        }
        CmLookupRequest asked = request;
        if (asked != null) {
            asked.close();
        }
    }

    // ---------------------------------------------------------------- what the device says

    /**
     * {@return the datagram services of the id's device}
     *
     * @throws RdmaException EOPNOTSUPP if it has none
     */
    CmDatagrams services(String operation) throws RdmaException {
        return services(addresses.device(), operation);
    }

    static CmDatagrams services(DeviceLease device, String operation) throws RdmaException {
        CmDatagrams services = device.context().datagramServices();
        if (services == null) {
            throw RdmaException.unsupported(operation, device.device().name()
                    + " has connections alone; datagrams need a device of InfiniBand or RoCE");
        }
        return services;
    }

    /** {@return the Q_Key of datagrams to and from this id} */
    int qkey() {
        return qkey(own());
    }

    private static int qkey(ConnectionParameters parameters) {
        return parameters.qkey() == 0 ? DatagramParameters.UDP_QKEY : parameters.qkey();
    }

    /** Datagrams go to whom the application says, whatever became of a look-up. */
    @Override
    void requireUseForQueuePair(String operation) throws RdmaException {
        if (states.is(IdState.REMOVED) || states.is(IdState.CLOSED)) {
            throw states.wrong(operation);
        }
    }

    @Override
    QueuePairBringUp bringUpOfNew() throws RdmaException {
        String operation = "create queue pair";
        return services(operation).bringUp(addresses.local(operation).getAddress(), qkey());
    }

    @Override
    QueuePairBringUp bringUp() throws RdmaException {
        return bringUpOfNew();
    }

    @Override
    PrivateDataLimits privateDataLimits() throws RdmaException {
        return services("limit private data").privateDataLimits();
    }

    // ---------------------------------------------------------------- reports

    @Override
    public void onService(DatagramParameters service) {
        answered();
        if (states.take(IdStep.ESTABLISH)) {
            events.publish(CmEventType.ESTABLISHED, EventDetails.of(service));
        }
    }

    /** As in Linux, a datagram service that refuses counts as not reachable. */
    @Override
    public void onRefused(Refusal refusal) {
        answered();
        states.take(IdStep.END);
        events.publish(CmEventType.UNREACHABLE, EventDetails.refusal(refusal));
    }

    @Override
    public void onUnknownEvent(int typeCode, int status) {
        events.publishUnknown(typeCode, status);
    }

    @Override
    public void onUnreachable(Errno reason) {
        answered();
        states.take(IdStep.END);
        events.publish(CmEventType.UNREACHABLE, EventDetails.failure(-reason.number()));
    }
}
