// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Mtu;
import io.rdma4j.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;

import java.nio.ByteBuffer;

/**
 * The request of an active side.
 *
 * @param peer the addresses
 * @param space the port space of both ports
 * @param type RC or UC for a connection, UD for a datagram service
 * @param sourcePort the local port
 * @param destinationPort the listener's port
 * @param parameters what the application set
 * @param queuePairNumber the local queue pair
 * @param pathMtu the largest packet this side can send
 * @param isMtuFixed whether the connection must have this path MTU, instead of a smaller one that the peer names
 * @param typeOfService the IP type of service or traffic class
 * @param ackTimeoutExponent the acknowledgement time-out of the queue pairs, an exponent; null for the
 *        manager's own
 */
public record ConnectSpec(CmPeer peer, PortSpace space, QueuePairType type, int sourcePort,
        int destinationPort, ConnectionParameters parameters, int queuePairNumber, Mtu pathMtu,
        boolean isMtuFixed, int typeOfService, @Nullable Integer ackTimeoutExponent) {

    /** One whose path MTU may become smaller. */
    public ConnectSpec(CmPeer peer, PortSpace space, QueuePairType type, int sourcePort,
            int destinationPort, ConnectionParameters parameters, int queuePairNumber, Mtu pathMtu,
            int typeOfService, @Nullable Integer ackTimeoutExponent) {
        this(peer, space, type, sourcePort, destinationPort, parameters, queuePairNumber, pathMtu,
                false, typeOfService, ackTimeoutExponent);
    }

    long serviceId() {
        return ListenSpec.serviceId(space, destinationPort);
    }

    PrivateData privateData() {
        byte[] user = parameters.privateData();
        ByteBuffer out = ByteBuffer.allocate(IpHeader.LENGTH + user.length);
        new IpHeader(!peer.local().isIpv4(), sourcePort, peer.local(), peer.remote()).encode(out);
        out.put(user);
        return PrivateData.of(out.array());
    }
}
