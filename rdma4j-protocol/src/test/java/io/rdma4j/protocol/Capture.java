// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol;

import io.rdma4j.verbs.Gid;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;

/** RoCEv2 packets that Linux sent, out of a capture. */
public final class Capture {
    /** All captures of the kernel's RoCE driver. */
    public static final List<String> ALL = List.of("rxe-atomic-fetch-add", "rxe-connect-rejected",
            "rxe-loss-rc-pingpong", "rxe-loss-rping", "rxe-mckey", "rxe-rc-pingpong", "rxe-read-bw",
            "rxe-rping", "rxe-rstream", "rxe-srq-pingpong", "rxe-uc-pingpong", "rxe-ucmatose",
            "rxe-ud-pingpong", "rxe-udaddy", "rxe-write-bw");

    private static final int ETHERNET_HEADER = 14;
    private static final int UDP = 17;
    private static final int ROCE = 4791;

    private Capture() {}

    /** One packet: where it came from and went to, and the payload of its UDP datagram. */
    public record Packet(String name, Gid source, Gid destination, int sourcePort,
            int destinationPort, int identification, MemorySegment payload) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** {@return the RoCEv2 packets over IPv4 of a capture, in order} */
    public static List<Packet> packets(String name) {
        ByteBuffer file = ByteBuffer.wrap(bytes(name + ".pcap.gz")).order(ByteOrder.LITTLE_ENDIAN);
        file.position(24);
        List<Packet> packets = new ArrayList<>();
        int number = 0;
        while (file.remaining() >= 16) {
            file.position(file.position() + 8);
            int captured = file.getInt();
            file.getInt();
            byte[] frame = new byte[captured];
            file.get(frame);
            number++;
            add(packets, name + " #" + number, ByteBuffer.wrap(frame));
        }
        return packets;
    }

    private static void add(List<Packet> packets, String name, ByteBuffer frame) {
        if (frame.getShort(12) != 0x0800 || frame.get(ETHERNET_HEADER + 9) != UDP) {
            return;
        }
        int ip = ETHERNET_HEADER;
        int udp = ip + 4 * (frame.get(ip) & 0xf);
        int destinationPort = frame.getShort(udp + 2) & 0xffff;
        if (destinationPort != ROCE) {
            return;
        }
        int length = (frame.getShort(udp + 4) & 0xffff) - 8;
        packets.add(new Packet(name, ipv4(frame.getInt(ip + 12)), ipv4(frame.getInt(ip + 16)),
                frame.getShort(udp) & 0xffff, destinationPort, frame.getShort(ip + 4) & 0xffff,
                MemorySegment.ofBuffer(frame).asSlice(udp + 8, length)));
    }

    private static Gid ipv4(int address) {
        return new Gid(0, 0xffff_0000_0000L | (address & 0xffff_ffffL));
    }

    static byte[] bytes(String resource) {
        try (InputStream in = Capture.class.getResourceAsStream("/captures/" + resource)) {
            if (in == null) {
                throw new IllegalArgumentException("no capture " + resource);
            }
            return new GZIPInputStream(new ByteArrayInputStream(in.readAllBytes())).readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
