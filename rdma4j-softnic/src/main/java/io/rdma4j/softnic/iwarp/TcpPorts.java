// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.iwarp;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.network.stream.HeldPort;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.verbs.RdmaException;

import java.net.InetSocketAddress;

/**
 * The ports of iWARP devices are the system's TCP ports, shared with all programs. In other port spaces there is nothing to
 * reserve.
 */
enum TcpPorts implements PortAuthority {
    /** Those of the machine. */
    OF_SYSTEM;

    @Override
    public PortReservation reserve(PortSpace space, InetSocketAddress address, boolean isShared)
            throws RdmaException {
        return space == PortSpace.TCP ? HeldPort.at(address)::release : () -> {};
    }

    /** Each device listens at its own addresses. */
    @Override
    public boolean hasOneWildcardListener() {
        return false;
    }
}
