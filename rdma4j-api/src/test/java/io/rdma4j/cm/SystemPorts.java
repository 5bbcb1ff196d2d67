// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;

/** Gives out ports as a system does in which some are taken. */
final class SystemPorts implements PortAuthority {
    final List<Integer> given = new ArrayList<>();
    final List<Integer> released = new ArrayList<>();
    int takenBelow;
    boolean hasOneWildcardListener;

    @Override
    public PortReservation reserve(PortSpace space, InetSocketAddress address,
            boolean isShared) throws RdmaException {
        int port = address.getPort();
        if (port < takenBelow) {
            throw new RdmaException(Errno.EADDRINUSE, "bind address", "another process has it");
        }
        given.add(port);
        return () -> released.add(port);
    }

    @Override
    public boolean hasOneWildcardListener() {
        return hasOneWildcardListener;
    }
}
