// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.protocol.ibcm.CmMessage.Reply;
import io.rdma4j.protocol.ibcm.CmMessage.Request;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandleAttributes;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;

import java.util.EnumSet;
import java.util.Set;

/**
 * The parameters that both sides of a connection agree on, message by message, and the resulting queue
 * pair attributes.
 */
final class NegotiatedParameters {
    /** 4.3 s, twice Linux's request. A peer that requests more gets this. */
    private static final int MOST_PATIENT = 20;

    private final CmSettings settings;
    private final QueuePairType type;
    /**
     * The first PSN of the peer, which this side chooses, and that of this side, which the peer chooses.
     */
    private final int receivePsn;
    private int sendPsn;
    private int remoteQueuePair;
    private int pathMtu;
    private int responderResources;
    private int initiatorDepth;
    private final int retryCount;
    private int rnrRetryCount;
    private final int typeOfService;
    /** How long to wait for acknowledgements, an exponent: the longer of both sides' requests. */
    private int ackTimeout;

    /** The request of an active side. */
    NegotiatedParameters(CmSettings settings, ConnectSpec call, int receivePsn) {
        this.settings = settings;
        this.receivePsn = receivePsn;
        ConnectionParameters own = call.parameters();
        type = call.type();
        pathMtu = call.pathMtu().code();
        responderResources = Math.min(own.responderResources(), settings.maxReadAtomic());
        initiatorDepth = Math.min(own.initiatorDepth(), settings.maxReadAtomic());
        retryCount = own.retryCount();
        typeOfService = call.typeOfService();
        ackTimeout = settings.ackTimeout();
    }

    /** The request received by a passive side. */
    NegotiatedParameters(CmSettings settings, QueuePairType type, Request request, int receivePsn) {
        this.settings = settings;
        this.type = type;
        this.receivePsn = receivePsn;
        sendPsn = request.startingPsn();
        remoteQueuePair = request.queuePair();
        pathMtu = request.pathMtu();
        responderResources = request.initiatorDepth();
        initiatorDepth = request.responderResources();
        retryCount = request.retryCount();
        rnrRetryCount = request.rnrRetryCount();
        typeOfService = request.primary().trafficClass();
        ackTimeout = patience(request.primary().ackTimeoutExponent());
    }

    /** The passive side grants at most the requested resources and its own limits. */
    void grant(ConnectionParameters own) {
        responderResources = Math.min(responderResources,
                Math.min(own.responderResources(), settings.maxReadAtomic()));
        initiatorDepth = Math.min(initiatorDepth,
                Math.min(own.initiatorDepth(), settings.maxReadAtomic()));
    }

    /** Sets the granted resources on the active side. */
    void onReply(Reply reply) {
        remoteQueuePair = reply.queuePair();
        sendPsn = reply.startingPsn();
        initiatorDepth = Math.min(initiatorDepth, reply.responderResources());
        responderResources = Math.min(responderResources, reply.initiatorDepth());
        rnrRetryCount = reply.rnrRetryCount();
        // Twice the delay that the peer may take.
        ackTimeout = patience(reply.targetAckDelay() + 1);
    }

    /** The peer cannot have the path MTU that was requested. */
    void lower(Mtu acceptable) {
        pathMtu = acceptable.code();
    }

    private int patience(int asked) {
        return Math.max(settings.ackTimeout(), Math.min(asked, MOST_PATIENT));
    }

    /** {@return the attributes that bring the queue pair to INIT, RTR or RTS} */
    QueuePairAttributes attributes(QueuePairState target, Gid remote, int gidIndex)
            throws RdmaException {
        QueuePairAttributes attributes = new QueuePairAttributes().state(target);
        switch (target) {
            case INIT -> attributes.pkeyIndex(0).port(1).accessFlags(access());
            case RTR -> {
                attributes.addressVector(AddressHandleAttributes.to(remote, gidIndex)
                        .withTrafficClass(typeOfService)).pathMtu(mtu())
                        .destinationQueuePairNumber(remoteQueuePair).receivePsn(receivePsn);
                if (type == QueuePairType.RC) {
                    attributes.maxDestinationReadAtomic(responderResources)
                            .minRnrTimerCode(settings.minRnrTimer());
                }
            }
            case RTS -> {
                attributes.sendPsn(sendPsn);
                if (type == QueuePairType.RC) {
                    attributes.ackTimeoutExponent(ackTimeout).retryCount(retryCount)
                            .rnrRetry(rnrRetryCount).maxReadAtomic(initiatorDepth);
                }
            }
            case RESET, SQD, SQE, ERR -> throw new RdmaException(Errno.EINVAL,
                    "initialize queue pair attributes",
                    "a connection brings a queue pair to INIT, RTR or RTS, not to " + target);
        }
        return attributes;
    }

    /** As the kernel: the peer may write, and read if it was granted resources to. */
    private Set<AccessFlag> access() {
        return responderResources == 0 || type != QueuePairType.RC
                ? EnumSet.of(AccessFlag.REMOTE_WRITE)
                : EnumSet.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ,
                        AccessFlag.REMOTE_ATOMIC);
    }

    /** {@return the transport service of a request} Source: IBTA 12.6.5. */
    static int transportType(QueuePairType type) {
        return type == QueuePairType.UC ? 1 : 0;
    }

    int transportType() {
        return transportType(type);
    }

    Mtu mtu() {
        return CmSettings.mtu(pathMtu);
    }

    int receivePsn() {
        return receivePsn;
    }

    int remoteQueuePair() {
        return remoteQueuePair;
    }

    int responderResources() {
        return responderResources;
    }

    int initiatorDepth() {
        return initiatorDepth;
    }

    int retryCount() {
        return retryCount;
    }

    int typeOfService() {
        return typeOfService;
    }
}
