// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.roce;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.Ports;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;

/** A network whose ports a test has made, and that sends nothing. No thread waits in it. */
class FixedPorts implements DatagramNetwork {
    private final Ports ports = new Ports();

    FixedPorts(PacketPort... ports) {
        for (PacketPort port : ports) {
            this.ports.add(port);
        }
    }

    /** What a test does not care for. */
    abstract static class Port implements PacketPort {
        @Override
        public Gid local() {
            return Gid.of(InetAddress.getLoopbackAddress());
        }

        @Override
        public boolean flush() {
            return true;
        }

        @Override
        public int waiting() {
            return 0;
        }

        @Override
        public int dropWaiting() {
            return 0;
        }

        @Override
        public Sent send(OutgoingPacket packet) {
            throw new AssertionError("this test needs it not");
        }

        @Override
        public Sent send(ByteBuffer datagram, Path path) {
            throw new AssertionError("this test needs it not");
        }
    }

    @Override
    public List<PacketPort> ports() {
        return ports.inOrder();
    }

    @Override
    public @Nullable PacketPort port(Gid local) {
        return ports.find(local);
    }

    @Override
    public void await(long timeoutNs) {
        throw new AssertionError("this test needs it not");
    }

    @Override
    public void wake() {
        // No thread waits.
    }

    @Override
    public PacketPort open(InetAddress local) {
        throw new AssertionError("this test needs it not");
    }

    @Override
    public PacketPort join(Gid group) {
        throw new AssertionError("this test needs it not");
    }

    @Override
    public void leave(Gid group) {
        throw new AssertionError("this test needs it not");
    }

    @Override
    public void close() {
        // Nothing is open.
    }
}
