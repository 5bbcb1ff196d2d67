// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.util.List;

/** The network of a system whose loopback interface has 127.0.0.1 and no other address of IPv4. */
record OneLoopback(DatagramNetwork network) implements DatagramNetwork {
    @Override
    public PacketPort open(InetAddress local) throws RdmaException {
        if (local.isLoopbackAddress() && !local.getHostAddress().equals("127.0.0.1")) {
            throw new RdmaException(Errno.EADDRNOTAVAIL, "open device",
                    local.getHostAddress() + " is no address of this system");
        }
        return network.open(local);
    }

    @Override
    public List<PacketPort> ports() {
        return network.ports();
    }

    @Override
    public @Nullable PacketPort port(Gid local) {
        return network.port(local);
    }

    @Override
    public PacketPort join(Gid group) throws RdmaException {
        return network.join(group);
    }

    @Override
    public void leave(Gid group) {
        network.leave(group);
    }

    @Override
    public void await(long timeoutNs) {
        network.await(timeoutNs);
    }

    @Override
    public void wake() {
        network.wake();
    }

    @Override
    public void close() {
        network.close();
    }
}
