// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import io.rdma4j.verbs.Gid;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * Bytes of any kind as a packet and as a global route header. What is accepted can be read to the last
 * field without leaving the packet, and written again it is the same packet.
 */
public final class PacketFuzz {
    private static final Gid SOURCE = new Gid(0, 0xffff_0a00_0001L);
    private static final Gid DESTINATION = new Gid(0x20010db8_00000000L, 2);

    private PacketFuzz() {}

    /** What the fuzzer calls. */
    public static void fuzzerTestOneInput(byte[] input) {
        MemorySegment memory = MemorySegment.ofArray(input);
        PacketView packet = new PacketView();
        if (packet.wrap(memory, 0, input.length) == null) {
            readEverything(packet, memory);
            writeAgain(packet, input);
            writeRouteHeader(packet);
        }
        GlobalRouteHeader.read(memory);
        // Behind other bytes, and cut short by its length alone.
        byte[] shifted = new byte[input.length + 3];
        System.arraycopy(input, 0, shifted, 3, input.length);
        for (int length = Math.max(0, input.length - 8); length <= input.length; length++) {
            DropReason reason = new PacketView().wrap(MemorySegment.ofArray(shifted), 3, length);
            DropReason same = new PacketView().wrap(memory.asSlice(0, length), 0, length);
            require(reason == same, "a packet depends on where it lies");
        }
    }

    private static void readEverything(PacketView packet, MemorySegment memory) {
        Opcode opcode = packet.opcode();
        long end = packet.payloadStart() + packet.payloadLength();
        require(packet.payloadLength() >= 0 && end <= memory.byteSize() - PacketView.ICRC_LENGTH,
                "the payload leaves the packet");
        require(packet.payloadLength() == 0 || opcode.hasPayload(), "payload where none may be");
        require((packet.psn() | packet.destinationQueuePairNumber()) >>> 24 == 0,
                "more than 24 bits");
        if (opcode.hasDatagram()) {
            packet.qkey();
            packet.sourceQueuePairNumber();
        }
        if (opcode.hasRdma()) {
            packet.remoteAddress();
            packet.rkey();
            require(packet.dmaLength() >= 0, "a negative length");
        }
        if (opcode.hasAtomic()) {
            packet.atomicAddress();
            packet.atomicRkey();
            packet.swapAdd();
            packet.compare();
        }
        if (opcode.hasAcknowledgement()) {
            int syndrome = packet.syndrome();
            packet.messageNumber();
            Syndrome.kind(syndrome);
            Syndrome.credits(syndrome);
            require(Syndrome.rnrNs(syndrome) > 0, "no time to wait");
        }
        if (opcode.hasAtomicAcknowledgement()) {
            packet.originalValue();
        }
        if (opcode.hasImmediate()) {
            packet.immediate();
        }
        if (opcode.hasInvalidate()) {
            packet.invalidateRkey();
        }
        if (opcode.hasFlush()) {
            packet.flush();
        }
        require(!packet.toString().isEmpty(), "no text");
    }

    /** Everything but reserved bits, partition, padding and ICRC comes out as it went in. */
    private static void writeAgain(PacketView packet, byte[] input) {
        Opcode opcode = packet.opcode();
        OutgoingPacket out = new OutgoingPacket().begin(opcode, Path.NONE,
                packet.destinationQueuePairNumber(), packet.psn(),
                packet.isAcknowledgeRequested(), packet.isSolicited());
        if (opcode.hasDatagram()) {
            out.datagram(packet.qkey(), packet.sourceQueuePairNumber());
        }
        if (opcode.hasFlush()) {
            out.flush(packet.flush());
        }
        if (opcode.hasRdma()) {
            out.rdma(packet.remoteAddress(), packet.rkey(), packet.dmaLength());
        }
        if (opcode.hasAtomic()) {
            out.atomic(packet.atomicAddress(), packet.atomicRkey(), packet.swapAdd(),
                    packet.compare());
        }
        if (opcode.hasAcknowledgement()) {
            out.acknowledgement(packet.syndrome(), packet.messageNumber());
        }
        if (opcode.hasAtomicAcknowledgement()) {
            out.atomicAcknowledgement(packet.originalValue());
        }
        if (opcode.hasImmediate()) {
            out.immediate(packet.immediate());
        }
        if (opcode.hasInvalidate()) {
            out.invalidate(packet.invalidateRkey());
        }
        out.addPayload(packet.payloadMemory(), packet.payloadStart(), packet.payloadLength());
        byte[] written = new byte[out.totalLength()];
        int length = out.copyTo(MemorySegment.ofArray(written), 0);
        require(length + PacketView.ICRC_LENGTH == written.length, "lengths differ");
        byte[] expected = Arrays.copyOf(input, opcode.headerLength() + packet.payloadLength());
        blankReserved(expected, opcode);
        byte[] got = Arrays.copyOf(written, expected.length);
        blankReserved(got, opcode);
        require(Arrays.equals(got, expected), "written again it differs: " + packet);
    }

    private static void blankReserved(byte[] bytes, Opcode opcode) {
        bytes[1] &= (byte) 0x80;
        bytes[2] = 0;
        bytes[3] = 0;
        bytes[4] = 0;
        bytes[8] &= (byte) 0x80;
        if (opcode.hasDatagram()) {
            bytes[Opcode.BTH_LENGTH + 4] = 0;
        }
    }

    private static void writeRouteHeader(PacketView packet) {
        MemorySegment header = MemorySegment.ofArray(new byte[GlobalRouteHeader.LENGTH]);
        for (Gid destination : new Gid[]{SOURCE, DESTINATION}) {
            packet.travelled(destination, destination);
            GlobalRouteHeader.write(packet, header);
            GlobalRouteHeader.Addresses route = GlobalRouteHeader.read(header);
            require(route != null && route.source().equals(destination)
                    && route.destination().equals(destination), "the route is lost");
        }
    }

    private static void require(boolean isRight, String otherwise) {
        if (!isRight) {
            throw new AssertionError(otherwise);
        }
    }
}
