// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import static org.assertj.core.api.Assertions.assertThat;

/** Packets as they are built and as they are checked, from a network and from memory that both sides share. IBTA 9.2. */
class PacketTest {
    private static final int ICRC = PacketView.ICRC_LENGTH;

    private final MemorySegment payload = MemorySegment.ofArray(new byte[]{1, 2, 3, 4, 5, 6, 7, 8});
    private final PacketView view = new PacketView();
    private final MemorySegment headers = MemorySegment
            .ofArray(new byte[Opcode.MAX_HEADER_LENGTH]);

    private static OutgoingPacket begin(Opcode opcode) {
        return new OutgoingPacket()
                .begin(opcode, Path.NONE, 0x123456, 0x654321, true, true);
    }

    private static byte[] bytes(OutgoingPacket packet) {
        byte[] bytes = new byte[packet.totalLength()];
        packet.copyTo(MemorySegment.ofArray(bytes), 0);
        return bytes;
    }

    // ---------------------------------------------------------------- what is no packet

    private @Nullable DropReason reason(byte[] bytes, int length) {
        return view.wrap(MemorySegment.ofArray(bytes), 0, length);
    }

    @ParameterizedTest
    @EnumSource(Opcode.class)
    void packetHasAtLeastItsHeadersAndItsCrc(Opcode opcode) {
        byte[] bytes = bytes(begin(opcode));
        assertThat(bytes).hasSize(opcode.headerLength() + ICRC);
        assertThat(reason(bytes, bytes.length)).isNull();
        assertThat(view.payloadLength()).isZero();
        assertThat(view.length()).isEqualTo(bytes.length);
        assertThat(reason(bytes, bytes.length - 1)).isEqualTo(DropReason.TOO_SHORT);
        assertThat(reason(bytes, Opcode.BTH_LENGTH + ICRC - 1)).isEqualTo(DropReason.TOO_SHORT);
    }

    @ParameterizedTest
    @EnumSource(Opcode.class)
    void payloadIsThereOnlyWhereItMayBe(Opcode opcode) {
        byte[] bytes = new byte[opcode.headerLength() + 8 + ICRC];
        bytes[0] = (byte) opcode.code();
        assertThat(reason(bytes, bytes.length))
                .isEqualTo(opcode.hasPayload() ? null : DropReason.UNEXPECTED_PAYLOAD);
    }

    // [IBTA 9.2-1]
    @Test
    void otherVersionsAndOpcodesAreNoPackets() {
        byte[] bytes = bytes(begin(Opcode.RC_ACKNOWLEDGE));
        bytes[1] |= 0x01;
        assertThat(reason(bytes, bytes.length)).isEqualTo(DropReason.BAD_VERSION);
        bytes[0] = (byte) 0xff;
        assertThat(reason(bytes, bytes.length)).isEqualTo(DropReason.UNKNOWN_OPCODE);
    }

    // [IBTA 9.2-2]
    @Test
    void paddingIsNoPayloadAndMayNotBeAllThereIs() {
        byte[] bytes = new byte[Opcode.BTH_LENGTH + 4 + ICRC];
        bytes[0] = (byte) Opcode.RC_SEND_ONLY.code();
        for (int padding = 0; padding < 4; padding++) {
            bytes[1] = (byte) (padding << 4);
            assertThat(reason(bytes, bytes.length)).isNull();
            assertThat(view.payloadLength()).isEqualTo(4 - padding);
            assertThat(reason(bytes, bytes.length - 4))
                    .isEqualTo(padding == 0 ? null : DropReason.TOO_SHORT);
        }
    }

    // ---------------------------------------------------------------- through shared memory

    private @Nullable DropReason shared(OutgoingPacket packet, int headerLength, int length,
            int span) {
        packet.copyHeadersTo(headers, 0);
        return wrapShared(headerLength, length, span);
    }

    private @Nullable DropReason wrapShared(int headerLength, int length, int span) {
        return view.wrap(headers, 0, headerLength, payload, 2, length, span);
    }

    @Test
    void packetThroughSharedMemoryHasItsPayloadElsewhere() {
        OutgoingPacket packet = begin(Opcode.RC_SEND_ONLY);
        assertThat(shared(packet, Opcode.BTH_LENGTH, 6, 1)).isNull();
        assertThat(view.payloadMemory()).isSameAs(payload);
        assertThat(view.payloadStart()).isEqualTo(2);
        assertThat(view.payloadLength()).isEqualTo(6);
        assertThat(view.length()).isEqualTo(Opcode.BTH_LENGTH + 6 + ICRC);
        assertThat(view.isPayloadGone()).isFalse();
        view.onPayloadGone();
        assertThat(view.isPayloadGone()).isTrue();
        view.release();
        assertThat(view.payloadLength()).isZero();
        assertThat(view.payloadMemory()).isSameAs(MemorySegment.NULL);
        // Padding counts, as it would on a network.
        headers.set(ValueLayout.JAVA_BYTE, 1, (byte) 0x20);
        assertThat(wrapShared(Opcode.BTH_LENGTH, 6, 1)).isNull();
        assertThat(view.length()).isEqualTo(Opcode.BTH_LENGTH + 8 + ICRC);
        assertThat(view.isPayloadGone()).isFalse();
    }

    /** What lies in shared memory is another process's word. */
    @Test
    void whatIsNoPacketInSharedMemoryIsRefused() {
        OutgoingPacket send = begin(Opcode.RC_SEND_ONLY);
        assertThat(shared(send, Opcode.BTH_LENGTH + 1, 6, 1)).isEqualTo(DropReason.TOO_SHORT);
        assertThat(shared(send, Opcode.BTH_LENGTH, -1, 1)).isEqualTo(DropReason.TOO_SHORT);
        assertThat(shared(begin(Opcode.RC_ACKNOWLEDGE), Opcode.RC_ACKNOWLEDGE.headerLength(), 6, 1))
                .isEqualTo(DropReason.UNEXPECTED_PAYLOAD);
        headers.set(ValueLayout.JAVA_BYTE, 0, (byte) 0xff);
        assertThat(wrapShared(Opcode.BTH_LENGTH, 6, 1)).isEqualTo(DropReason.UNKNOWN_OPCODE);
    }

    @Test
    void onlyPacketsOfAReliableConnectionStandForSeveral() {
        OutgoingPacket send = begin(Opcode.RC_SEND_ONLY);
        assertThat(shared(send, Opcode.BTH_LENGTH, 6, 2)).isNull();
        assertThat(view.span()).isEqualTo(2);
        assertThat(shared(send, Opcode.BTH_LENGTH, 0, 2)).isEqualTo(DropReason.UNEXPECTED_PAYLOAD);
        assertThat(shared(begin(Opcode.UC_SEND_ONLY), Opcode.BTH_LENGTH, 6, 2))
                .isEqualTo(DropReason.UNEXPECTED_PAYLOAD);
        assertThat(shared(begin(Opcode.UC_SEND_ONLY), Opcode.BTH_LENGTH, 6, 1)).isNull();
    }

    // ---------------------------------------------------------------- within one device

    @Test
    void packetThatDoesNotLeaveTheMachineKeepsOnePieceWhereItIs() {
        OutgoingPacket packet = begin(Opcode.RC_SEND_ONLY);
        packet.addPayload(payload, 2, 5);
        MemorySegment room = MemorySegment.ofArray(new byte[16]);
        assertThat(view.wrap(packet, room)).isTrue();
        assertThat(view.payloadMemory()).isSameAs(payload);
        assertThat(view.payloadStart()).isEqualTo(2);
        assertThat(view.payloadLength()).isEqualTo(5);
        packet.addPayload(payload, 0, 2);
        assertThat(view.wrap(packet, room)).isTrue();
        assertThat(view.payloadMemory()).isSameAs(room);
        assertThat(view.payloadStart()).isZero();
        assertThat(room.asSlice(0, 8).toArray(ValueLayout.JAVA_BYTE)).containsExactly(3, 4, 5, 6, 7,
                1, 2, 0);
    }

    @Test
    void packetWhosePayloadIsGoneIsNone() {
        MemorySegment gone;
        try (Arena brief = Arena.ofConfined()) {
            gone = brief.allocate(8);
        }
        OutgoingPacket one = begin(Opcode.RC_SEND_ONLY);
        one.addPayload(gone, 0, 4);
        MemorySegment room = MemorySegment.ofArray(new byte[16]);
        assertThat(view.wrap(one, room)).isFalse();
        one.addPayload(payload, 0, 4);
        assertThat(view.wrap(one, room)).isFalse();
        assertThat(one.copyTo(room, 0)).isEqualTo(OutgoingPacket.PAYLOAD_GONE);
    }

    // ---------------------------------------------------------------- how it is built

    @Test
    void packetSaysWhatItConsistsOf() {
        OutgoingPacket packet = begin(Opcode.RC_SEND_ONLY);
        packet.addPayload(payload, 3, 5);
        assertThat(packet.pieceCount()).isOne();
        assertThat(packet.piece(0)).isSameAs(payload);
        assertThat(packet.pieceOffset(0)).isEqualTo(3);
        assertThat(packet.payloadLength()).isEqualTo(5);
        assertThat(packet.padding()).isEqualTo(3);
        assertThat(packet.totalLength()).isEqualTo(Opcode.BTH_LENGTH + 8 + ICRC);
        packet.release();
        assertThat(packet.pieceCount()).isZero();
        assertThat(packet.payloadLength()).isZero();
    }

    // [IBTA 9.2-2]
    @Test
    void paddingIsWrittenAsZerosBehindThePayload() {
        OutgoingPacket packet = begin(Opcode.RC_SEND_ONLY);
        packet.addPayload(payload, 0, 5);
        MemorySegment target = MemorySegment.ofArray(new byte[40]);
        target.fill((byte) 0xee);
        assertThat(packet.copyTo(target, 3)).isEqualTo(Opcode.BTH_LENGTH + 8);
        assertThat(target.asSlice(3 + Opcode.BTH_LENGTH, 9).toArray(ValueLayout.JAVA_BYTE))
                .containsExactly(1, 2, 3, 4, 5, 0, 0, 0, (byte) 0xee);
        assertThat(target.get(ValueLayout.JAVA_BYTE, 2)).isEqualTo((byte) 0xee);
        assertThat(reason(target.asSlice(3, Opcode.BTH_LENGTH + 12)
                .toArray(ValueLayout.JAVA_BYTE), Opcode.BTH_LENGTH + 12)).isNull();
        assertThat(view.payloadLength()).isEqualTo(5);
        assertThat(view.isSolicited()).isTrue();
        assertThat(view.isAcknowledgeRequested()).isTrue();
        assertThat(view.pkey()).isEqualTo(OutgoingPacket.DEFAULT_PKEY);
        assertThat(view).hasToString("RC_SEND_ONLY qp=0x123456 psn=6636321 payload=5");
    }

    @Test
    void packetThatStandsForSeveralIsCutEvenlyAndTheLastAsksForTheAnswer() {
        OutgoingPacket packet = begin(Opcode.RC_SEND_MIDDLE).span(2);
        packet.addPayload(payload, 0, 8);
        assertThat(packet.packetLength()).isEqualTo(Opcode.BTH_LENGTH + 4 + ICRC);
        for (int i = 0; i < 2; i++) {
            byte[] bytes = new byte[packet.packetLength() + 1];
            assertThat(packet.copyTo(i, MemorySegment.ofArray(bytes), 1))
                    .isEqualTo(Opcode.BTH_LENGTH + 4);
            assertThat(view.wrap(MemorySegment.ofArray(bytes), 1, bytes.length - 1)).isNull();
            assertThat(view.psn()).isEqualTo(0x654321 + i);
            assertThat(view.isAcknowledgeRequested()).isEqualTo(i == 1);
            assertThat(view.payloadMemory().get(ValueLayout.JAVA_BYTE, view.payloadStart()))
                    .isEqualTo((byte) (1 + 4 * i));
        }
    }

    @Test
    void headersOfDatagramsAndFlushesAreTheirsAlone() {
        for (Opcode opcode : Opcode.values()) {
            assertThat(opcode.hasDatagram()).isEqualTo(opcode.service() == Opcode.Service.UD);
            assertThat(opcode.hasFlush()).isEqualTo(opcode == Opcode.RC_FLUSH);
        }
    }
}
