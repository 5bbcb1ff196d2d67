// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.datagram;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.DatagramNetwork;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.PortableNetwork;
import io.rdma4j.softnic.network.linux.calls.ControlMessage;
import io.rdma4j.softnic.network.linux.calls.LinuxCalls;
import io.rdma4j.softnic.network.linux.calls.LinuxSocket;
import io.rdma4j.softnic.network.linux.calls.MessageHeader;
import io.rdma4j.softnic.network.linux.calls.SocketAddress;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.Gid;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.NetworkInterface;

import static io.rdma4j.softnic.network.linux.calls.SocketOption.IPPROTO_IP;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_TOS;
import static io.rdma4j.softnic.network.linux.calls.SocketOption.IP_TTL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** The IP headers that networks send, seen by a socket with the options to receive them. */
class HeaderFieldsTest {
    private static final int IP_RECVTTL = 12;
    private static final int IP_RECVTOS = 13;
    private static final InetAddress SENDER = address(1);
    private static final Gid RECEIVER = Gid.of(address(2));

    private final Arena arena = Arena.ofAuto();

    private static InetAddress address(int last) {
        long pid = ProcessHandle.current().pid();
        return InetAddress
                .ofLiteral("127." + (200 + pid % 50) + "." + pid / 50 % 256 + "." + last);
    }

    @BeforeEach
    void requireLinux() {
        assumeThat(LinuxNetwork.obstacle()).isNull();
    }

    private LinuxSocket receiver() throws Exception {
        LinuxSocket socket = LinuxSocket.open(SocketAddress.AF_INET, arena);
        socket.set(IPPROTO_IP, IP_RECVTOS, 1);
        socket.set(IPPROTO_IP, IP_RECVTTL, 1);
        MemorySegment name = arena.allocate(SocketAddress.MAX_LENGTH, 8);
        socket.bind(name, SocketAddress.write(name, RECEIVER, Path.UDP_PORT, 0));
        return socket;
    }

    /** {@return type of service and time to live of the next datagram} */
    private int[] receive(LinuxSocket socket) {
        MemorySegment control = arena.allocate(128, 8);
        MemorySegment iovec = arena.allocate(MessageHeader.IOVEC_LENGTH, 8);
        MessageHeader.iovec(iovec, 0, arena.allocate(8192).address(), 8192);
        MemorySegment header = arena.allocate(MessageHeader.LENGTH, 8);
        MessageHeader.iovecs(header, iovec, 1);
        long[] length = new long[1];
        Wait.until("a datagram has arrived", () -> {
            MessageHeader.control(header, control, control.byteSize());
            length[0] = socket.receive(header);
            return length[0] != -LinuxCalls.EAGAIN;
        });
        assertThat(length[0]).isPositive();
        long controlLength = MessageHeader.controlLength(header);
        return new int[]{ControlMessage.find(control, controlLength, IPPROTO_IP, IP_TOS) & 0xff,
            ControlMessage.find(control, controlLength, IPPROTO_IP, IP_TTL)};
    }

    private void send(PacketPort port, int trafficClass, int hopLimit) {
        Path path = new Path(port.local(), RECEIVER, trafficClass, 0, hopLimit);
        assertThat(port.send(new OutgoingPacket()
                .begin(Opcode.RC_SEND_ONLY, path, 17, 5, false, false)))
                .isEqualTo(PacketPort.Sent.SENT);
        assertThat(port.flush()).isTrue();
    }

    @Test
    void linuxNetworkAppliesTrafficClassAndHopLimit() throws Exception {
        LinuxSocket receiver = receiver();
        DatagramNetwork network = new LinuxNetwork(
                NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()),
                LinuxNetwork.SharedMemoryUse.NEVER);
        try {
            PacketPort port = network.open(SENDER);
            send(port, 0, 64);
            assertThat(receive(receiver)).containsExactly(0, 64);
            send(port, 0xb8, 5);
            assertThat(receive(receiver)).containsExactly(0xb8, 5);
            send(port, 0x20, 0);
            assertThat(receive(receiver)).containsExactly(0x20, 64);
            send(port, 0, 255);
            assertThat(receive(receiver)).containsExactly(0, 255);
        } finally {
            network.close();
            receiver.close();
        }
    }

    @Test
    void portableNetworkAppliesTrafficClassAlone() throws Exception {
        LinuxSocket receiver = receiver();
        DatagramNetwork network = new PortableNetwork(
                NetworkInterface.getByInetAddress(InetAddress.getLoopbackAddress()));
        try {
            PacketPort port = network.open(SENDER);
            send(port, 0xb8, 5);
            assertThat(receive(receiver)[0]).isEqualTo(0xb8);
            send(port, 0, 5);
            assertThat(receive(receiver)[0]).isZero();
        } finally {
            network.close();
            receiver.close();
        }
    }
}
