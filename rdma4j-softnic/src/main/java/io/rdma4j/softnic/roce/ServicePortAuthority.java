// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.connection.PortSpace;
import io.rdma4j.softnic.device.SoftNicOptions;
import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.spi.PortAuthority;
import io.rdma4j.spi.PortReservation;
import io.rdma4j.verbs.RdmaException;

import java.net.InetSocketAddress;

/** The service ports of RoCE devices: each is one process's, of those that share the machine's addresses. */
final class ServicePortAuthority implements PortAuthority {
    static final PortAuthority AUTHORITY = new ServicePortAuthority();

    private ServicePortAuthority() {}

    @Override
    public PortReservation reserve(PortSpace space, InetSocketAddress address, boolean isShared)
            throws RdmaException {
        NetworkBackend wanted = SoftNicOptions.ofSystem().device().backend();
        if (RoceFamily.choice(wanted).kind() != NetworkBackend.LINUX) {
            return PROCESS.reserve(space, address, isShared);
        }
        return LinuxNetwork.sharingOfProcess()
                .reserve(space.code() << Short.SIZE | address.getPort())::release;
    }

    @Override
    public boolean hasOneWildcardListener() {
        return false;
    }
}
