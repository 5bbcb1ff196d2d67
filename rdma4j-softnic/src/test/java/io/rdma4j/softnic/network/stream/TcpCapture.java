// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Reads the TCP segments of a capture, and checks their lengths and checksums. Without the product's help: the layouts of
 * pcap(5), RFC 791, RFC 8200 and RFC 9293.
 */
public final class TcpCapture {
    public static final int FIN = 1;
    public static final int SYN = 2;
    public static final int RST = 4;
    public static final int ACK = 16;

    private static final int FILE_HEADER = 24;
    private static final int RECORD_HEADER = 16;
    private static final int IPV4_HEADER = 20;
    private static final int IPV6_HEADER = 40;
    private static final int TCP_HEADER = 20;
    private static final byte TCP = 6;

    private TcpCapture() {}

    /** A segment of TCP. */
    public record Segment(InetSocketAddress from, InetSocketAddress to, int sequence,
            int acknowledged, int flags, byte[] bytes) {}

    /** {@return all segments of a file, which has nothing else} */
    public static List<Segment> segments(Path file) throws IOException {
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        in.position(FILE_HEADER);
        List<Segment> found = new ArrayList<>();
        while (in.hasRemaining()) {
            int length = in.getInt(in.position() + 8);
            found.add(segment(in.slice(in.position() + RECORD_HEADER, length)));
            in.position(in.position() + RECORD_HEADER + length);
        }
        return found;
    }

    private static Segment segment(ByteBuffer packet) {
        int length = packet.limit();
        boolean isIpv4 = packet.get(0) >>> 4 == 4;
        int tcp = isIpv4 ? IPV4_HEADER : IPV6_HEADER;
        int addresses = isIpv4 ? 12 : 8;
        if (isIpv4) {
            assertThat(packet.get(0)).isEqualTo((byte) 0x45);
            assertThat(packet.getShort(2)).isEqualTo((short) length);
            assertThat(packet.get(9)).isEqualTo(TCP);
            assertThat(sum(packet, 0, IPV4_HEADER, 0)).isEqualTo(0xffff);
        } else {
            assertThat(packet.getInt(0)).isEqualTo(0x6000_0000);
            assertThat(packet.getShort(4)).isEqualTo((short) (length - IPV6_HEADER));
            assertThat(packet.get(6)).isEqualTo(TCP);
        }
        assertThat(sum(packet, addresses, length, TCP + length - tcp)).isEqualTo(0xffff);
        assertThat(packet.get(tcp + 12)).isEqualTo((byte) ((TCP_HEADER / 4) << 4));
        int addressLength = (tcp - addresses) / 2;
        byte[] bytes = new byte[length - tcp - TCP_HEADER];
        packet.get(tcp + TCP_HEADER, bytes);
        return new Segment(end(packet, addresses, addressLength, tcp),
                end(packet, addresses + addressLength, addressLength, tcp + 2),
                packet.getInt(tcp + 4), packet.getInt(tcp + 8), packet.get(tcp + 13), bytes);
    }

    private static InetSocketAddress end(ByteBuffer packet, int at, int length, int port) {
        byte[] address = new byte[length];
        packet.get(at, address);
        try {
            return new InetSocketAddress(InetAddress.getByAddress(address),
                    packet.getShort(port) & 0xffff);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static int sum(ByteBuffer packet, int from, int to, int start) {
        int sum = start;
        for (int i = from; i < to; i++) {
            sum += (packet.get(i) & 0xff) << ((i - from) % 2 == 0 ? 8 : 0);
        }
        while (sum > 0xffff) {
            sum = (sum & 0xffff) + (sum >>> 16);
        }
        return sum;
    }
}
