// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.protocol;

import org.jspecify.annotations.Nullable;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Datagrams over RDMA and introductions over UDP as a stranger may send them. Whatever comes, it is read within its own bytes or refused, and what is read
 * says of itself what stands there: written again it is the same, but for the bytes that nobody reads.
 */
public final class DatagramFuzz {
    private static final int FLOW = 4;
    private static final int RESERVED = 7;
    /** Behind the tag, the version, the operation, the length and the reserved byte: the byte above the 24 bits of a number. */
    private static final int ABOVE_NUMBER = 8;

    private DatagramFuzz() {}

    /** What the fuzzer calls. */
    public static void fuzzerTestOneInput(byte[] input) {
        try {
            header(input);
            introduction(input, new byte[DatagramHeader.ADDRESS_4]);
            introduction(input, new byte[DatagramHeader.ADDRESS_6]);
            peer(input);
        } catch (BufferUnderflowException e) {
            throw new AssertionError("it reads beyond the end", e);
        }
    }

    private static void header(byte[] input) {
        ByteBuffer from = ByteBuffer.wrap(input);
        @Nullable
        DatagramHeader read = DatagramHeader.read(from);
        if (read == null) {
            return;
        }
        int length = DatagramHeader.length(read.address());
        require(from.position() == length, "the bytes of the datagram begin elsewhere");
        require(read.port() >= 0 && read.port() <= 0xffff, "no port");
        ByteBuffer again = ByteBuffer.allocate(length);
        DatagramHeader.put(again, read.address(), read.port());
        byte[] kept = Arrays.copyOf(input, length);
        if (read.address().length == DatagramHeader.ADDRESS_6) {
            Arrays.fill(kept, FLOW, 2 * FLOW, (byte) 0);
        }
        require(Arrays.equals(again.array(), kept), "it is another header");
    }

    private static void introduction(byte[] input, byte[] source) {
        ByteBuffer from = ByteBuffer.wrap(input);
        @Nullable
        Introduction read = Introduction.read(from, source);
        if (read == null) {
            return;
        }
        int length = from.position();
        int address = length - source.length;
        require(address == Introduction.MOST_BYTES - DatagramHeader.ADDRESS_6,
                "the datagram begins elsewhere");
        require(read.queuePairNumber() >>> 24 == 0, "a number has 24 bits");
        ByteBuffer again = ByteBuffer.allocate(length);
        read.put(again, Arrays.copyOfRange(input, address, length));
        byte[] kept = Arrays.copyOf(input, length);
        kept[RESERVED] = 0;
        kept[ABOVE_NUMBER] = 0;
        require(Arrays.equals(again.array(), kept), "it is another introduction");
    }

    /** A peer of whom introductions and datagrams come at any time. */
    private static void peer(byte[] input) {
        DatagramPeer peer = new DatagramPeer();
        long nowNs = 0;
        int number = -1;
        for (byte each : input) {
            nowNs += (long) (each & 0x3f) << 25;
            switch (each >> 6 & 3) {
                case 0 -> peer.onDatagram(nowNs);
                case 1 -> {
                    number = each & 0x3f;
                    peer.onIntroduction(new Introduction(false, number), nowNs);
                }
                default -> {
                    boolean introduces = peer.takesIntroduction(nowNs);
                    require(introduces || number >= 0, "nobody knows where to send it");
                    require(number < 0 || !peer.takesIntroduction(nowNs),
                            "each datagram goes over UDP");
                }
            }
            require(peer.isKnown() == number >= 0, "a queue pair from nowhere");
            require(number < 0 || peer.queuePairNumber() == number, "another queue pair");
        }
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}
