// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import io.rdma4j.protocol.Capture;
import io.rdma4j.protocol.Capture.Packet;
import io.rdma4j.protocol.bytes.Layouts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** What Linux put on the wire is understood, and written again byte for byte. */
class GoldenPacketTest {
    private final Icrc icrc = new Icrc();

    static Stream<String> captures() {
        return Capture.ALL.stream();
    }

    // [IBTA 9.2-1]
    @ParameterizedTest
    @MethodSource("captures")
    void everyPacketIsReadAndWrittenAgainWithTheSameBytes(String capture) {
        List<Packet> packets = Capture.packets(capture);
        assertThat(packets).isNotEmpty();
        for (Packet packet : packets) {
            PacketView view = view(packet);
            MemorySegment again = MemorySegment.ofArray(new byte[bytes(packet).length]);
            int length = rebuild(view, path(packet)).copyTo(again, 0);
            ByteBuffer bytes = again.asByteBuffer();
            int crc = icrc.compute(packet.source(), packet.destination(), packet.sourcePort(),
                    packet.destinationPort(), packet.identification(), bytes, 0, length);
            again.set(Layouts.U32_LITTLE, length, crc);
            assertThat(again.toArray(Layouts.U8)).as(packet.name()).isEqualTo(bytes(packet));
        }
    }

    @ParameterizedTest
    @MethodSource("captures")
    void everyIcrcTellsTheIdentificationThatNoSocketSees(String capture) {
        for (Packet packet : Capture.packets(capture)) {
            for (int likely : new int[]{0, 1, 0xffff, packet.identification()}) {
                assertThat(identify(packet, bytes(packet), likely)).as(packet.name())
                        .isEqualTo(packet.identification());
            }
        }
    }

    @Test
    void aFlippedBitAnywhereOutsideTheMaskedFieldsIsNoticed() {
        Packet packet = Capture.packets("rxe-rping").getFirst();
        int missed = 0;
        int flips = 0;
        for (int bit = 0; bit < 8 * bytes(packet).length; bit++) {
            if (bit / 8 == 4) {
                continue;
            }
            byte[] damaged = bytes(packet);
            damaged[bit / 8] ^= (byte) (1 << bit % 8);
            flips++;
            missed += identify(packet, damaged, 0) >= 0 ? 1 : 0;
        }
        // Some Identification explains one of 65,536 wrong CRCs; of these few none.
        assertThat(flips).isGreaterThan(2000);
        assertThat(missed).isZero();
    }

    @Test
    void aPacketCutAtAnyLengthIsRefusedOrStillWithinItsBounds() {
        List<Packet> packets = new ArrayList<>();
        Capture.ALL.forEach(name -> packets.add(Capture.packets(name).getLast()));
        for (Packet packet : packets) {
            for (int length = 0; length < bytes(packet).length; length++) {
                MemorySegment cut = packet.payload().asSlice(0, length);
                PacketView view = new PacketView();
                if (view.wrap(cut, 0, length) == null) {
                    assertThat(view.payloadStart() + view.payloadLength())
                            .isLessThanOrEqualTo(length - PacketView.ICRC_LENGTH);
                }
            }
        }
    }

    private int identify(Packet packet, byte[] payload, int likely) {
        assertThat(packet.destinationPort()).isEqualTo(Path.UDP_PORT);
        return icrc.identify(packet.source(), packet.destination(), packet.sourcePort(), likely,
                ByteBuffer.wrap(payload), 0, payload.length);
    }

    private static byte[] bytes(Packet packet) {
        return packet.payload().toArray(Layouts.U8);
    }

    private static Path path(Packet packet) {
        return Path.between(packet.source(), packet.destination());
    }

    private static PacketView view(Packet packet) {
        PacketView view = new PacketView();
        assertThat(view.wrap(packet.payload(), 0, bytes(packet).length))
                .as(packet.name()).isNull();
        return view;
    }

    /** Builds a packet from nothing but what the view's accessors say. */
    private static OutgoingPacket rebuild(PacketView view, Path path) {
        Opcode opcode = view.opcode();
        assertThat(view.pkey()).isEqualTo(OutgoingPacket.DEFAULT_PKEY);
        OutgoingPacket out = new OutgoingPacket();
        out.begin(opcode, path, view.destinationQueuePairNumber(), view.psn(),
                view.isAcknowledgeRequested(), view.isSolicited());
        if (opcode.hasDatagram()) {
            out.datagram(view.qkey(), view.sourceQueuePairNumber());
        }
        if (opcode.hasRdma()) {
            out.rdma(view.remoteAddress(), view.rkey(), view.dmaLength());
        }
        if (opcode.hasAtomic()) {
            out.atomic(view.atomicAddress(), view.atomicRkey(), view.swapAdd(), view.compare());
        }
        if (opcode.hasAcknowledgement()) {
            out.acknowledgement(view.syndrome(), view.messageNumber());
        }
        if (opcode.hasAtomicAcknowledgement()) {
            out.atomicAcknowledgement(view.originalValue());
        }
        if (opcode.hasImmediate()) {
            out.immediate(view.immediate());
        }
        if (view.payloadLength() > 0) {
            out.addPayload(view.payloadMemory(), view.payloadStart(), view.payloadLength());
        }
        return out;
    }
}
