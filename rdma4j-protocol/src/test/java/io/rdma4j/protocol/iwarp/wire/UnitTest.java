// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp.wire;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;

import static org.assertj.core.api.Assertions.assertThat;

/** Units of the stream, from bytes and to bytes. RFC 5044 4, RFC 5041 4, RFC 5040 4. */
class UnitTest {
    @ParameterizedTest
    @CsvSource({
        // opcode, tagged, solicited, ends a key
        "WRITE, true, false, false", "READ_REQUEST, false, false, false",
        "READ_RESPONSE, true, false, false", "SEND, false, false, false",
        "SEND_INVALIDATE, false, false, true", "SEND_SOLICITED, false, true, false",
        "SEND_SOLICITED_INVALIDATE, false, true, true", "TERMINATE, false, false, false"})
    void opcodeSaysWhatItIs(RdmapOpcode opcode, boolean isTagged, boolean isSolicited,
            boolean invalidates) {
        assertThat(opcode.isTagged()).isEqualTo(isTagged);
        assertThat(opcode.isSolicited()).isEqualTo(isSolicited);
        assertThat(opcode.invalidates()).isEqualTo(invalidates);
        assertThat(RdmapOpcode.of(opcode.code())).isEqualTo(opcode);
    }

    @Test
    void otherNumbersAreNoOpcodes() {
        assertThat(RdmapOpcode.of(-1)).isNull();
        assertThat(RdmapOpcode.of(RdmapOpcode.values().length)).isNull();
    }

    private static FpduView view(OutgoingFpdu unit) {
        // What was in the memory before must not shine through.
        MemorySegment bytes = MemorySegment.ofArray(HexFormat.of().parseHex("ff".repeat(200)));
        int length = unit.copyTo(bytes, 3, new Crc32c());
        FpduView view = new FpduView();
        assertThat(FpduView.lengthOf(bytes, 3, 197)).isEqualTo(length);
        assertThat(view.wrap(bytes, 3)).isNull();
        assertThat(view.hasRightCrc(new Crc32c())).isTrue();
        return view;
    }

    @ParameterizedTest
    @EnumSource(value = RdmapOpcode.class, names = {"WRITE", "SEND"})
    void unitThatIsUsedAgainHasNothingOfTheOneBefore(RdmapOpcode opcode) {
        OutgoingFpdu unit = new OutgoingFpdu();
        MemorySegment payload = MemorySegment.ofArray(new byte[]{1, 2, 3, 4, 5});
        unit.begin(opcode, true).addPayload(payload, 0, 5);
        assertThat(view(unit).payloadLength()).isEqualTo(5);
        unit.begin(opcode, false).addPayload(payload, 2, 3);
        FpduView view = view(unit);
        assertThat(view.payloadLength()).isEqualTo(3);
        assertThat(view.isLast()).isFalse();
        assertThat(view.opcode()).isEqualTo(opcode);
        unit.release();
        assertThat(view(unit).payloadLength()).isZero();
    }

    // [RFC 5044 4.1-1] [RFC 5044 4.1-2] [RFC 5044 4.4-2]
    @Test
    void paddingIsZeroAndCountsForTheCrc() {
        OutgoingFpdu unit = new OutgoingFpdu().begin(RdmapOpcode.WRITE, true).tagged(1, 2);
        unit.addPayload(MemorySegment.ofArray(new byte[]{9}), 0, 1);
        MemorySegment bytes = MemorySegment.ofArray(HexFormat.of().parseHex("ff".repeat(60)));
        int length = unit.copyTo(bytes, 0, new Crc32c());
        assertThat(length).isEqualTo(24);
        assertThat(HexFormat.of().formatHex(bytes.asSlice(16, 4)
                .toArray(ValueLayout.JAVA_BYTE))).isEqualTo("09000000");
        unit.copyTo(bytes, 0, null);
        assertThat(HexFormat.of().formatHex(bytes.asSlice(20, 4)
                .toArray(ValueLayout.JAVA_BYTE))).isEqualTo("00000000");
    }

    private static byte[] bytes(OutgoingFpdu unit) {
        byte[] bytes = new byte[unit.length()];
        unit.copyTo(MemorySegment.ofArray(bytes), 0, new Crc32c());
        return bytes;
    }

    // [RFC 5044 4.1-1]
    @Test
    void paddingOfAPeerIsNotLookedAt() {
        OutgoingFpdu unit = new OutgoingFpdu().begin(RdmapOpcode.WRITE, true).tagged(1, 2);
        unit.addPayload(MemorySegment.ofArray(new byte[]{9}), 0, 1);
        byte[] bytes = bytes(unit);
        for (int at = bytes.length - 7; at < bytes.length - 4; at++) {
            bytes[at] = 0x55;
        }
        FpduView view = new FpduView();
        assertThat(view.wrap(MemorySegment.ofArray(bytes), 0)).isNull();
        assertThat(view.payloadLength()).isEqualTo(1);
        assertThat(view.hasRightCrc(new Crc32c())).isFalse();
    }

    // [RFC 5040 4.1-2] [RFC 5041 4.1-3]
    @ParameterizedTest
    @EnumSource(RdmapOpcode.class)
    void bitsWithoutAMeaningAreSentAsZeroAndNotLookedAt(RdmapOpcode opcode) {
        OutgoingFpdu unit = new OutgoingFpdu().begin(opcode, true);
        if (opcode.isTagged()) {
            unit.tagged(0, 0);
        } else {
            unit.untagged(1, 0, 0);
        }
        byte[] bytes = bytes(unit);
        assertThat(bytes[FpduView.DDP_CONTROL_AT] & 0x3c).isZero();
        assertThat(bytes[FpduView.RDMAP_CONTROL_AT] & 0x30).isZero();
        bytes[FpduView.DDP_CONTROL_AT] |= 0x3c;
        bytes[FpduView.RDMAP_CONTROL_AT] |= 0x30;
        FpduView view = new FpduView();
        assertThat(view.wrap(MemorySegment.ofArray(bytes), 0)).isNull();
        assertThat(view.opcode()).isEqualTo(opcode);
        assertThat(view.isLast()).isTrue();
    }

    // [RFC 5041 4.3-2]
    @Test
    void numberOfAMessageGoesOnWithZeroBehindTheLast() {
        FpduView last = view(new OutgoingFpdu().begin(RdmapOpcode.SEND, true)
                .untagged(0xffff_ffffL, 0, 0));
        assertThat(last.messageNumber()).isEqualTo(-1);
        FpduView next = view(new OutgoingFpdu().begin(RdmapOpcode.SEND, true)
                .untagged(0xffff_ffffL + 1, 0, 0));
        assertThat(next.messageNumber()).isZero();
    }

    /** It stands in the unit, and need not begin where memory begins. */
    // [RFC 5040 4.8-2]
    @Test
    void lastWordsCopyTheHeaderOfTheUnitThatWasWrong() {
        OutgoingFpdu wrong = new OutgoingFpdu().begin(RdmapOpcode.WRITE, true).tagged(0x1234, 5);
        FpduView offending = view(wrong);
        assertThat(offending.start()).isEqualTo(3);
        OutgoingFpdu last = new OutgoingFpdu().terminate(TerminateCause.TAGGED_INVALID_KEY,
                offending);
        FpduView view = view(last);
        assertThat(HexFormat.of().formatHex(view.memory()
                .asSlice(view.payloadStart(), view.payloadLength())
                .toArray(ValueLayout.JAVA_BYTE)))
                .isEqualTo("1100c000" + "000e" + "c140" + "00001234" + "0000000000000005");
    }

    // ---------------------------------------------------------------- what a Terminate says

    private static TerminateMessage message(String payload) {
        byte[] bytes = HexFormat.of().parseHex(payload);
        OutgoingFpdu unit = new OutgoingFpdu().begin(RdmapOpcode.TERMINATE, true).untagged(1, 0, 0);
        unit.addPayload(MemorySegment.ofArray(bytes), 0, bytes.length);
        return TerminateMessage.of(view(unit));
    }

    @ParameterizedTest
    @CsvSource({
        // too short to say anything
        "000000, 0, false", "'', 0, false",
        // RFC: the READ with the number 7, and the same in a SEND, tagged, cut off, or without the flag
        "0100e000002e4141000000000000000100000007, 7, false",
        "0100e000002e4141000000000000000000000007, 0, false",
        "0100e000002ec141000000000000000100000007, 0, false",
        "0100e000002e41410000000000000001000000, 0, false",
        "01002000002e4141000000000000000100000007, 0, false",
        // siw: with both headers it is about the first READ, with one it names the number
        "100006000000414100000000000000010000000700000000, 0, true",
        "100002000000414100000000000000010000000700000000, 7, false"})
    void readThatItNamesIsFoundIfItIsThere(String payload, int number, boolean isAboutFirst) {
        TerminateMessage message = message(payload);
        assertThat(message.readNumber()).isEqualTo(number);
        assertThat(message.isAboutFirstRead()).isEqualTo(isAboutFirst);
    }
}
