// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.RdmaException;

import java.net.InetSocketAddress;

/**
 * Allocates the ports of a device's port spaces. Devices that share the ports have the same authority, such as all
 * that use the operating system's.
 *
 * <p>The connection manager itself prevents conflicts between ids of this process; an authority prevents those with other
 * programs.
 */
public interface PortAuthority {
    /** Allocates every port, because no other process uses ports of these devices. */
    PortAuthority PROCESS = new PortAuthority() {
        @Override
        public PortReservation reserve(PortSpace space, InetSocketAddress address,
                boolean isShared) {
            return () -> {};
        }

        @Override
        public boolean hasOneWildcardListener() {
            return false;
        }
    };

    /**
     * Reserves a port.
     *
     * @param address the address, which may be the wildcard address, and the port, which is never 0
     * @param isShared whether other reservations with this flag may share the port
     * @throws RdmaException EADDRINUSE if another process has it
     */
    PortReservation reserve(PortSpace space, InetSocketAddress address, boolean isShared)
            throws RdmaException;

    /**
     * {@return whether one listener at the wildcard address serves all devices of this authority} Then only one of
     * them is asked to listen there, and it reports by which device each request arrived.
     */
    boolean hasOneWildcardListener();
}
