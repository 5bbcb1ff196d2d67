// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;

/** Is told why packets do not arrive, as far as this host's system knows it. */
@FunctionalInterface
public interface SendFailures {
    /**
     * The system has refused a packet, or has a report of a packet that it had sent.
     *
     * @param destination of the packet
     * @param why ECONNREFUSED if no socket has the port there, EHOSTUNREACH if no host answers at the address, ENETUNREACH
     *        without a route, EPERM if a firewall or a sandbox of this host refuses it, EMSGSIZE if it is too long for a hop
     */
    void onFailure(Gid destination, Errno why);
}
