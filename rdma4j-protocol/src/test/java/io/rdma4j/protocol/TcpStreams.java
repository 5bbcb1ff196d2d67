// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The byte streams of TCP connections that Linux made, out of a capture: of siw, its iWARP driver. */
public final class TcpStreams {
    /** All captures of the kernel's iWARP driver in which a connection came about. */
    public static final List<String> ALL = List.of("siw-rping", "siw-rstream", "siw-ucmatose",
            "siw-write-bw");

    private static final int ETHERNET_HEADER = 14;
    private static final int TCP = 6;
    private static final int SYN = 0x02;
    private static final int ACK = 0x10;

    private TcpStreams() {}

    /** One connection: what who asked for it has sent, and what the other has. */
    public record Connection(String name, byte[] fromInitiator, byte[] fromResponder) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** One direction: its segments are in the order of their numbers but for repetitions. */
    private static final class Direction {
        private int firstNumber;
        private boolean isInitiator;
        private byte[] bytes = {};

        void add(ByteBuffer frame, int at, int length, int number) {
            int from = number - firstNumber;
            if (from + length > bytes.length) {
                bytes = Arrays.copyOf(bytes, from + length);
            }
            frame.get(at, bytes, from, length);
        }
    }

    /** {@return the connections over IPv4 of a capture} */
    public static List<Connection> connections(String name) {
        Map<List<Integer>, Direction> directions = new LinkedHashMap<>();
        ByteBuffer file = ByteBuffer.wrap(Capture.bytes(name + ".pcap.gz"))
                .order(ByteOrder.LITTLE_ENDIAN);
        file.position(24);
        while (file.remaining() >= 16) {
            file.position(file.position() + 8);
            byte[] frame = new byte[file.getInt()];
            file.getInt();
            file.get(frame);
            add(directions, ByteBuffer.wrap(frame));
        }
        List<Connection> connections = new ArrayList<>();
        directions.forEach((ends, there) -> {
            Direction back = directions.get(List.of(ends.get(2), ends.get(3), ends.get(0),
                    ends.get(1)));
            if (there.isInitiator && back != null && there.bytes.length > 0
                    && isIwarp(there.bytes)) {
                connections.add(new Connection(name + " " + ends.get(1), there.bytes, back.bytes));
            }
        });
        return connections;
    }

    /** Programs also talk over TCP by themselves. */
    private static boolean isIwarp(byte[] bytes) {
        return bytes[0] == 'M' && bytes[1] == 'P' && bytes[2] == 'A';
    }

    private static void add(Map<List<Integer>, Direction> directions, ByteBuffer frame) {
        if (frame.getShort(12) != 0x0800 || frame.get(ETHERNET_HEADER + 9) != TCP) {
            return;
        }
        int ip = ETHERNET_HEADER;
        int tcp = ip + 4 * (frame.get(ip) & 0xf);
        int ports = frame.getInt(tcp);
        Direction direction = directions.computeIfAbsent(List.of(frame.getInt(ip + 12),
                ports >>> 16, frame.getInt(ip + 16), ports & 0xffff), ends -> new Direction());
        int flags = frame.get(tcp + 13);
        int number = frame.getInt(tcp + 4);
        if ((flags & SYN) != 0) {
            direction.firstNumber = number + 1;
            direction.isInitiator = (flags & ACK) == 0;
            return;
        }
        int header = 4 * (frame.get(tcp + 12) >>> 4 & 0xf);
        int length = (frame.getShort(ip + 2) & 0xffff) - (tcp - ip) - header;
        if (length > 0) {
            direction.add(frame, tcp + header, length, number);
        }
    }
}
