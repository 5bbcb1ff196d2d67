package io.rdma4j.softnic.network.linux;

import io.rdma4j.protocol.work.Path;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.NetworkContract;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PortableNetwork;
import io.rdma4j.softnic.network.ReceivedDatagram;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** The network on Linux does what every network does. */
class LinuxNetworkTest extends NetworkContract {
    private static final int UDP_NO_CHECK6_TX = 101;

    @Override
    protected DatagramNetwork newNetwork(NetworkInterface networkInterface) throws RdmaException {
        assumeThat(LinuxNetwork.obstacle()).isNull();
        return new LinuxNetwork(networkInterface);
    }

    @Test
    void burstReachesAPortableNetwork() throws Exception {
        burstArrives(network(), portable());
    }

    @Test
    void portableNetworkReachesThis() throws Exception {
        burstArrives(portable(), network());
    }

    private DatagramNetwork portable() throws Exception {
        return closedAtEnd(new PortableNetwork(loopback()));
    }

    /** As Linux's own RoCE driver sends it, and an ordinary socket never hears of it. */
    @Test
    void packetWithoutUdpChecksumArrivesOverIpv6() throws Exception {
        InetAddress address = InetAddress.ofLiteral("::1");
        assumeThat(NetworkInterface.getByInetAddress(address)).isNotNull();
        DatagramNetwork network = network();
        PacketPort port = openOnceFree(network, address);
        Arena arena = Arena.ofAuto();
        LinuxSocket sender = LinuxSocket.open(SocketAddress.AF_INET6, arena);
        try {
            sender.set(SocketOption.IPPROTO_UDP, UDP_NO_CHECK6_TX, 1);
            Burst burst = new Burst(0, arena);
            burst.add(ByteBuffer.allocate(40), Path.between(port.local(), port.local()));
            assertThat(burst.send(sender)).isTrue();
            assertThat(burst.takeRefused()).isZero();
        } finally {
            sender.close();
        }
        List<Gid> damaged = new ArrayList<>();
        Wait.until("the packet has arrived", () -> !damaged.isEmpty(), () -> {
            network.await(TimeUnit.SECONDS.toNanos(1));
            port.receive(new PacketHandler() {
                @Override
                public void onDatagram(ReceivedDatagram datagram) {
                    throw new AssertionError("the ICRC is not right");
                }

                @Override
                public void onDamaged(Gid source, int length) {
                    damaged.add(source);
                }
            }, 1);
        });
        assertThat(damaged).containsExactly(Gid.of(address));
    }
}
