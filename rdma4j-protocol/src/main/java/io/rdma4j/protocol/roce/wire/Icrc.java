// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import io.rdma4j.verbs.Gid;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;

/**
 * The invariant CRC of RoCEv2 packets.
 *
 * <p>It covers the IP and UDP headers, with the fields that routers may change set to ones, the transport
 * headers, and the payload. Source: IBTA annex A17.3.3 and 7.8.1. Over IPv4 it covers the Identification field
 * too, which a socket can neither set nor read: so {@link #identify} accepts every CRC that is right for some
 * Identification. Reusable, not thread safe, allocates nothing.
 */
public final class Icrc {
    private static final int DUMMY_LRH = 8;
    private static final int IPV4_HEADER = 20;
    private static final int IPV6_HEADER = 40;
    private static final int UDP_HEADER = 8;
    /** The offset of the Identification field in the bytes that the CRC of an IPv4 packet covers. */
    private static final int IDENTIFICATION = DUMMY_LRH + 4;
    /** The bytes of the transport header that are copied to {@link #prefix}, because one of them is masked. */
    private static final int MASKED_TRANSPORT = Opcode.BTH_LENGTH;

    private final CRC32 crc = new CRC32();
    private final ByteBuffer prefix = ByteBuffer
            .allocate(DUMMY_LRH + IPV6_HEADER + UDP_HEADER + MASKED_TRANSPORT);

    private Gid prefixSource = Gid.ZERO;
    private Gid prefixDestination = Gid.ZERO;
    private int prefixPorts;
    private int prefixLength;

    /** Creates one. */
    public Icrc() {
        prefix(Gid.ZERO, Gid.ZERO, 0);
    }

    /**
     * {@return the CRC of a packet as a number; on the wire the least significant byte comes first}
     *
     * @param transport the UDP payload; its position and limit change
     * @param start where it starts
     * @param length its bytes without the ICRC
     * @param identification the IPv4 Identification; 0 for IPv6
     */
    public int compute(Gid source, Gid destination, int sourcePort, int destinationPort,
            int identification, ByteBuffer transport, int start, int length) {
        begin(source, destination, sourcePort, destinationPort, identification, length);
        transport.limit(start + MASKED_TRANSPORT).position(start);
        return headers(transport).payload(transport, start + MASKED_TRANSPORT,
                length - MASKED_TRANSPORT).value();
    }

    /**
     * Starts a CRC over the IP and UDP headers; {@link #headers}, any number of {@link #payload} and
     * {@link #value} follow.
     *
     * @param length the bytes of the UDP payload without the ICRC
     */
    public Icrc begin(Gid source, Gid destination, int sourcePort, int destinationPort,
            int identification, int length) {
        int ports = sourcePort << 16 | (destinationPort & 0xffff);
        if (ports != prefixPorts || !source.equals(prefixSource)
                || !destination.equals(prefixDestination)) {
            prefix(source, destination, ports);
        }
        int udpLength = UDP_HEADER + length + PacketView.ICRC_LENGTH;
        if (source.isIpv4()) {
            prefix.putShort(DUMMY_LRH + 2, (short) (IPV4_HEADER + udpLength));
            prefix.putShort(IDENTIFICATION, (short) identification);
        } else {
            prefix.putShort(DUMMY_LRH + 4, (short) udpLength);
        }
        prefix.clear().position(prefixLength);
        prefix.putShort(prefixLength - 4, (short) udpLength);
        return this;
    }

    /**
     * Writes the part that is the same for all packets between two addresses; the lengths and the
     * Identification follow.
     */
    private void prefix(Gid source, Gid destination, int ports) {
        prefixSource = source;
        prefixDestination = destination;
        prefixPorts = ports;
        prefix.clear();
        prefix.putLong(-1L);
        if (source.isIpv4()) {
            prefix.putInt(0x45ff_0000);
            prefix.putInt(0x4000);
            prefix.putInt(0xff11_ffff);
            prefix.putInt((int) source.low());
            prefix.putInt((int) destination.low());
        } else {
            prefix.putInt(0x6fff_ffff);
            prefix.putInt(0x11ff);
            prefix.putLong(source.high()).putLong(source.low());
            prefix.putLong(destination.high()).putLong(destination.low());
        }
        prefix.putInt(ports);
        prefix.putInt(0xffff);
        prefixLength = prefix.position();
    }

    /** Covers the transport headers: the remaining bytes, at least the base header's. */
    public Icrc headers(ByteBuffer transport) {
        int masked = prefix.position() + 4;
        int end = transport.limit();
        transport.limit(transport.position() + MASKED_TRANSPORT);
        prefix.put(transport);
        transport.limit(end);
        prefix.put(masked, (byte) 0xff);
        prefix.flip();
        crc.reset();
        crc.update(prefix);
        crc.update(transport);
        return this;
    }

    /** Covers more bytes; position and limit of the buffer change. */
    public Icrc payload(ByteBuffer memory, int start, int length) {
        memory.limit(start + length).position(start);
        crc.update(memory);
        return this;
    }

    /** {@return the CRC of the covered bytes} */
    public int value() {
        return (int) crc.getValue();
    }

    /**
     * Writes the CRC of a packet to its end.
     *
     * @param sourcePort the UDP port that it leaves from
     * @param identification the IPv4 Identification that it leaves with; IPv6 has none
     * @param datagram the UDP payload, big endian as buffers are by themselves; its position and limit change
     * @param start where it starts
     * @param length its bytes, the ICRC included
     */
    public void seal(Path path, int sourcePort, int identification, ByteBuffer datagram, int start,
            int length) {
        int covered = length - PacketView.ICRC_LENGTH;
        int computed = compute(path.source(), path.destination(), sourcePort, Path.UDP_PORT,
                identification, datagram, start, covered);
        datagram.limit(start + length);
        datagram.putInt(start + covered, Integer.reverseBytes(computed));
    }

    /**
     * {@return the IPv4 Identification with which a received packet's CRC is right, 0 for IPv6; -1 if there is
     * none}
     *
     * @param likely the Identification to try first
     * @param datagram the UDP payload, big endian as buffers are by themselves; its position and limit change
     * @param start where it starts
     * @param length its bytes, the ICRC included
     */
    public int identify(Gid source, Gid destination, int sourcePort, int likely,
            ByteBuffer datagram, int start, int length) {
        if (length < Opcode.BTH_LENGTH + PacketView.ICRC_LENGTH) {
            return -1;
        }
        int covered = length - PacketView.ICRC_LENGTH;
        datagram.limit(start + length);
        int received = Integer.reverseBytes(datagram.getInt(start + covered));
        int computed = compute(source, destination, sourcePort, Path.UDP_PORT, likely, datagram,
                start, covered);
        if (!source.isIpv4()) {
            return computed == received ? 0 : -1;
        }
        if (computed == received) {
            return likely;
        }
        // The CRC is linear: the difference is the CRC of the difference between the Identifications
        // alone, followed by zeros. Running it back over those zeros leaves that, in 16 bits with its
        // first byte lowest, or something else.
        int zeros = IPV4_HEADER + UDP_HEADER + covered - (IDENTIFICATION - DUMMY_LRH);
        int origin = Crc32Arithmetic.rewind(computed ^ received, zeros);
        return (origin & 0xffff_0000) == 0
                ? Short.toUnsignedInt(Short.reverseBytes((short) origin)) ^ likely
                : -1;
    }
}
