package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;

/**
 * Sends a packet to an address of this machine and finds out whether any socket has the port.
 *
 * <p>The system reports errors of datagrams only to a connected socket, which a port is not. On loopback the ICMP
 * message "port unreachable" has arrived when the sending call returns. It cannot be forged from outside, because
 * packets to such addresses never leave the machine.
 *
 * <p>The packet leaves from another UDP port, which has no meaning in RoCEv2, and over IPv4 with an Identification
 * that the system chooses for such a socket; the receiver derives it as in ADR 6.
 */
public final class PortProbe {
    private PortProbe() {}

    /** {@return whether it can be known at the other end of a path} */
    public static boolean isPossible(Path path) {
        return path.source().isLoopback() && path.destination().isLoopback()
                && path.source().isIpv4() == path.destination().isIpv4();
    }

    /**
     * Sends a packet.
     *
     * @param sealer seals it
     * @return UNREACHABLE if no socket has the port, REFUSED if it could not be sent
     */
    public static PacketPort.Sent send(OutgoingPacket packet, PacketSealer sealer) {
        Path path = packet.path();
        StandardProtocolFamily family = path.source().isIpv4()
                ? StandardProtocolFamily.INET
                : StandardProtocolFamily.INET6;
        try (DatagramChannel channel = DatagramChannel.open(family)) {
            channel.configureBlocking(false);
            channel.bind(new InetSocketAddress(path.source().address(), 0));
            channel.connect(new InetSocketAddress(path.destination().address(), Path.UDP_PORT));
            ByteBuffer datagram = sealer.seal(packet, 0, channel.socket().getLocalPort());
            if (datagram == null) {
                return PacketPort.Sent.PAYLOAD_GONE;
            }
            channel.write(datagram);
            channel.read(ByteBuffer.allocate(1));
            return PacketPort.Sent.SENT;
        } catch (PortUnreachableException nobody) {
            return PacketPort.Sent.UNREACHABLE;
        } catch (IOException | SecurityException refused) {
            return PacketPort.Sent.REFUSED;
        }
    }
}
