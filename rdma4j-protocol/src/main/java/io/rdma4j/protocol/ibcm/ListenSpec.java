// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/**
 * What a listener offers.
 *
 * @param space the port space
 * @param type RC or UC for connections, UD for a datagram service
 * @param port the port
 * @param address the address that requests must come to, null for any
 * @param versions the IP versions that requests may come by
 * @param backlog requests that may wait unanswered; further ones are refused
 */
public record ListenSpec(PortSpace space, QueuePairType type, int port, @Nullable Gid address,
        IpVersions versions, int backlog) {

    /** {@return the service ID of a port} Source: IBTA annex A11.3. */
    static long serviceId(PortSpace space, int port) {
        return (long) space.code() << 16 | port;
    }

    boolean serves(long serviceId, Gid destination) {
        return serviceId(space, port) == serviceId && versions.include(destination)
                && (address == null || address.equals(destination));
    }

    /** @throws RdmaException EADDRINUSE if a request could be meant for either */
    void requireNoConflict(ListenSpec other) throws RdmaException {
        if (space == other.space && port == other.port && versions.overlap(other.versions)
                && (address == null || other.address == null || address.equals(other.address))) {
            throw new RdmaException(Errno.EADDRINUSE, "listen",
                    "port " + port + " has a listener already");
        }
    }
}
