package io.rdma4j.protocol.cm;

import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.verbs.Mtu;

import java.nio.ByteBuffer;

/**
 * What an active side asks for.
 *
 * @param peer the addresses
 * @param space the port space of both ports
 * @param sourcePort the local port
 * @param destinationPort the listener's port
 * @param parameters what the application set
 * @param queuePairNumber the local queue pair
 * @param pathMtu the largest packet this side can send
 */
public record CmCall(CmPeer peer, PortSpace space, int sourcePort, int destinationPort,
        ConnectionParameters parameters, int queuePairNumber, Mtu pathMtu) {

    /** {@return the service that stands for a port} Source: IBTA annex A11.3. */
    static long serviceId(PortSpace space, int port) {
        return (long) space.code() << 16 | port;
    }

    long serviceId() {
        return serviceId(space, destinationPort);
    }

    PrivateData privateData() {
        byte[] user = parameters.privateData();
        ByteBuffer out = ByteBuffer.allocate(IpHeader.LENGTH + user.length);
        new IpHeader(!peer.local().isIpv4(), sourcePort, peer.local(), peer.remote()).encode(out);
        out.put(user);
        return PrivateData.of(out.array());
    }
}
