// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

/**
 * Sends a packet from a socket of its own and finds out whether any socket has the destination port.
 *
 * <p>The system reports errors of datagrams only to a connected socket, which a port is not. On loopback the ICMP
 * message "port unreachable" has arrived when the sending call returns. It cannot be forged from outside, because
 * packets to such addresses never leave the machine. From elsewhere it comes later.
 *
 * <p>The packet leaves from another UDP port, which has no meaning in RoCEv2, and over IPv4 with an Identification
 * that the system chooses for such a socket; the receiver derives it as in ADR 6. So it is for this machine alone, where
 * rdma4j receives; packets to peers elsewhere leave from the port.
 */
public final class PortProbe {
    private PortProbe() {}

    /** {@return whether it is known at once at the other end of a path} */
    public static boolean isPossible(Path path) {
        return path.source().isLoopback() && path.destination().isLoopback()
                && path.source().isIpv4() == path.destination().isIpv4();
    }

    /**
     * Sends a packet on this machine.
     *
     * @param sealer seals it
     * @return UNREACHABLE if no socket has the port, REFUSED if it could not be sent
     */
    public static PacketPort.Sent send(OutgoingPacket packet, PacketSealer sealer) {
        Path path = packet.path();
        try (DatagramChannel channel = open(path.source().address(),
                path.destination().address())) {
            PacketPort.Sent sent = send(packet, sealer, channel);
            return sent == PacketPort.Sent.SENT && isRefused(channel)
                    ? PacketPort.Sent.UNREACHABLE
                    : sent;
        } catch (PortUnreachableException nobody) {
            return PacketPort.Sent.UNREACHABLE;
        } catch (IOException | SecurityException refused) {
            return PacketPort.Sent.REFUSED;
        }
    }

    /** {@return a channel to send from and to be told by} */
    static DatagramChannel open(InetAddress source, InetAddress destination) throws IOException {
        DatagramChannel channel = JdkProvider.provider()
                .openDatagramChannel(source instanceof Inet4Address
                        ? StandardProtocolFamily.INET
                        : StandardProtocolFamily.INET6);
        try {
            channel.configureBlocking(false);
            channel.bind(new InetSocketAddress(source, 0));
            channel.connect(new InetSocketAddress(destination, Path.UDP_PORT));
            return channel;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** Sends a packet from such a channel. */
    static PacketPort.Sent send(OutgoingPacket packet, PacketSealer sealer,
            DatagramChannel channel) throws IOException {
        ByteBuffer datagram = sealer.seal(packet, 0, channel.socket().getLocalPort());
        if (datagram == null) {
            return PacketPort.Sent.PAYLOAD_GONE;
        }
        channel.write(datagram);
        return PacketPort.Sent.SENT;
    }

    /** {@return whether the system has reported meanwhile that no socket has the port} */
    static boolean isRefused(DatagramChannel channel) {
        try {
            channel.read(ByteBuffer.allocate(1));
            return false;
        } catch (PortUnreachableException nobody) {
            return true;
        } catch (IOException otherwise) {
            return false;
        }
    }
}
