// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.NetworkContract;
import io.rdma4j.softnic.network.PacketHandler;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PortableNetwork;
import io.rdma4j.softnic.network.ReceivedDatagram;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.softnic.network.linux.calls.SocketOption;
import io.rdma4j.softnic.network.linux.route.Ways;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/** The network on Linux does what every network does. */
class LinuxNetworkTest extends NetworkContract {
    private static final ValueLayout.OfInt BIG_ENDIAN_INT = ValueLayout.JAVA_INT_UNALIGNED
            .withOrder(ByteOrder.BIG_ENDIAN);
    private static final int QUEUE_PAIRS = 100;
    private static final int QUEUE_PAIR_AT = 4;

    private static final int UDP_NO_CHECK6_TX = 101;
    private static final long WAIT_NS = 5_000_000_000L;

    @Override
    protected DatagramNetwork newNetwork(NetworkInterface networkInterface) throws RdmaException {
        assumeThat(LinuxNetwork.obstacle()).isNull();
        return new LinuxNetwork(networkInterface, LinuxNetwork.SharedMemoryUse.OTHERS);
    }

    @Test
    void burstReachesAPortableNetwork() throws Exception {
        burstArrives(network(), portable());
    }

    @Test
    void portableNetworkReachesThis() throws Exception {
        burstArrives(portable(), network());
    }

    @Test
    void anAddressThatFailsAfterItWasSharedIsGivenUp() throws Exception {
        InetAddress address = InetAddress.ofLiteral("127.45.67.91");
        DatagramNetwork closed = newNetwork(loopback());
        closed.close();
        // The socket is bound, and there is nothing to watch it with.
        assertThatExceptionOfType(RdmaException.class).isThrownBy(() -> closed.open(address))
                .withMessageContaining("epoll_ctl");
        network().open(address);
    }

    private DatagramNetwork portable() throws Exception {
        return closedAtEnd(new PortableNetwork(loopback()));
    }

    /** Else a packet would wait for the next look at the sockets. */
    @Test
    void aWaitTellsWhetherAPortMayHaveAnything() throws Exception {
        DatagramNetwork network = network();
        PacketPort port = network.open(FIRST);
        network.wake();
        network.await(WAIT_NS);
        assertThat(network.takePortsQuiet()).as("woken, perhaps for a new port").isFalse();
        network.await(0);
        assertThat(network.takePortsQuiet()).as("time was up").isTrue();
        assertThat(network.takePortsQuiet()).as("asked twice").isFalse();
        network.await(0);
        try (DatagramChannel sender = DatagramChannel.open()) {
            sender.send(ByteBuffer.allocate(40),
                    new InetSocketAddress(port.local().address(), Path.UDP_PORT));
        }
        network.await(WAIT_NS);
        assertThat(network.takePortsQuiet()).as("a packet has come").isFalse();
    }

    /** As Linux's own RoCE driver sends it, which an ordinary socket never receives. */
    @Test
    void packetWithoutUdpChecksumArrivesOverIpv6() throws Exception {
        InetAddress address = InetAddress.ofLiteral("::1");
        assumeThat(NetworkInterface.getByInetAddress(address)).isNotNull();
        DatagramNetwork network = network();
        PacketPort port = openOnceFree(network, address);
        ByteBuffer packet = ByteBuffer.allocate(40)
                .putInt(QUEUE_PAIR_AT, ownQueuePair(network, 2));
        List<Gid> damaged = new ArrayList<>();
        PacketHandler handler = new PacketHandler() {
            @Override
            public void onDatagram(ReceivedDatagram datagram) {
                throw new AssertionError("the ICRC is not right");
            }

            @Override
            public void onDamaged(Gid source, int length) {
                damaged.add(source);
            }
        };
        Arena arena = Arena.ofAuto();
        LinuxSocket sender = LinuxSocket.open(SocketAddress.AF_INET6, arena);
        try {
            sender.set(SocketOption.IPPROTO_UDP, UDP_NO_CHECK6_TX, 1);
            Flow flow = new Flow(sender, Path.UDP_PORT, 0,
                    new Ways(destination -> 0), arena);
            int rounds = sendUntil("the packet has arrived", network, port, handler,
                    () -> !damaged.isEmpty(),
                    () -> {
                        flow.add(packet.rewind(), Path.between(port.local(), port.local()));
                        assertThat(flow.flush()).isTrue();
                    });
            assertThat(flow.takeRefused((destination, why) -> {})).isZero();
            assertThat(damaged).hasSizeLessThanOrEqualTo(rounds);
        } finally {
            sender.close();
        }
        assertThat(damaged).containsOnly(Gid.of(address));
    }

    @Override
    protected boolean hasReports() {
        return true;
    }

    /** There no card puts packets together, as it does with those of one flow. */
    @Test
    void packetsToThisHostLeaveFromOnePort() throws Exception {
        DatagramNetwork network = network();
        PacketPort port = network.open(FIRST);
        Path path = Path.between(port.local(), port.local());
        Map<Integer, Set<Integer>> ports = new HashMap<>();
        int[] arrived = new int[1];
        PacketHandler handler = new PacketHandler() {
            @Override
            public void onDatagram(ReceivedDatagram datagram) {
                int queuePair = datagram.memory().get(BIG_ENDIAN_INT,
                        datagram.offset() + QUEUE_PAIR_AT);
                ports.computeIfAbsent(queuePair, any -> new HashSet<>())
                        .add(datagram.sourcePort());
                arrived[0]++;
            }

            @Override
            public void onDamaged(Gid source, int length) {
                throw new AssertionError("the ICRC is not right");
            }
        };
        for (int round = 0; round < 2; round++) {
            for (int queuePair = 2; queuePair < 2 + QUEUE_PAIRS; queuePair++) {
                PacketPort.Sent sent = port.send(
                        new OutgoingPacket()
                                .begin(Opcode.RC_SEND_ONLY, path, queuePair, 0, false, false));
                assertThat(sent).isEqualTo(PacketPort.Sent.SENT);
            }
            assertThat(port.flush()).isTrue();
        }
        Wait.until("all have arrived", () -> arrived[0] == 2 * QUEUE_PAIRS,
                () -> port.receive(handler, Integer.MAX_VALUE));
        assertThat(ports).hasSize(QUEUE_PAIRS)
                .allSatisfy((queuePair, from) -> assertThat(from).singleElement()
                        .matches(number -> number >= 0xc000 && number <= 0xffff));
        assertThat(ports.values().stream().distinct()).hasSize(1);
    }

    /** Or a card that puts packets of one flow together would more often hand a process those of another. */
    @Test
    void packetsToOtherHostsAreSpreadOverSixteenFlows() throws Exception {
        Set<Integer> flows = new HashSet<>();
        for (int queuePair = 2; queuePair < 2 + QUEUE_PAIRS; queuePair++) {
            flows.add(LinuxPort.spread(queuePair));
        }
        assertThat(flows).hasSize(16);
        PacketPort port = network().open(FIRST);
        assertThat(port.sendsTogether(port.local())).isTrue();
        assertThat(port.sendsTogether(Gid.of(InetAddress.ofLiteral("192.0.2.2")))).isFalse();
    }
}
