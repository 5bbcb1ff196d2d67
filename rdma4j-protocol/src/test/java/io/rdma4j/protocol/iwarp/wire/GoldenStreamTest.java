// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp.wire;

import io.rdma4j.protocol.TcpStreams;
import io.rdma4j.protocol.TcpStreams.Connection;
import io.rdma4j.protocol.bytes.Layouts;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Frames and units as Linux's siw sends them are read as what they are, and written the same byte for byte. */
class GoldenStreamTest {
    private final FpduView view = new FpduView();

    static Stream<Connection> connections() {
        return TcpStreams.ALL.stream().flatMap(name -> TcpStreams.connections(name).stream());
    }

    // [RFC 5040 4.1-1] [RFC 5040 4.2-1]
    @ParameterizedTest
    @MethodSource("connections")
    void everyByteIsUnderstoodAndWrittenTheSame(Connection connection) {
        int there = rewritten(connection.fromInitiator(), false);
        int back = rewritten(connection.fromResponder(), true);
        assertThat(there + back).isPositive();
    }

    /** {@return the units behind the frame} */
    private int rewritten(byte[] bytes, boolean isReply) {
        MemorySegment stream = MemorySegment.ofArray(bytes);
        int at = MpaFrame.lengthOf(stream, 0, bytes.length, isReply);
        MpaFrame frame = MpaFrame.of(stream, 0, isReply);
        assertThat(frame.bytes()).isEqualTo(Arrays.copyOf(bytes, at));
        assertThat(frame.revision()).isEqualTo(2);
        assertThat(frame.isEnhanced()).isTrue();
        int units = 0;
        while (at < bytes.length) {
            int length = FpduView.lengthOf(stream, at, bytes.length - at);
            assertThat(length).isPositive().isLessThanOrEqualTo(bytes.length - at);
            assertThat(view.wrap(stream, at)).isNull();
            assertThat(view.length()).isEqualTo(length);
            assertRewritten(Arrays.copyOfRange(bytes, at, at + length));
            at += length;
            units++;
        }
        return units;
    }

    private void assertRewritten(byte[] expected) {
        OutgoingFpdu out = new OutgoingFpdu().begin(view.opcode(), view.isLast());
        if (view.opcode().isTagged()) {
            out.tagged(view.key(), view.taggedOffset());
        } else {
            out.untagged(view.messageNumber(), view.messageOffset(), view.key());
        }
        if (view.opcode() == RdmapOpcode.READ_REQUEST) {
            out.read(view.sinkKey(), view.sinkOffset(), view.readLength(), view.sourceKey(),
                    view.sourceOffset());
        }
        if (view.payloadLength() > 0) {
            out.addPayload(view.memory(), view.payloadStart(), view.payloadLength());
        }
        byte[] written = new byte[expected.length];
        assertThat(out.copyTo(MemorySegment.ofArray(written), 0, null)).isEqualTo(expected.length);
        // siw pads with what happens to be there.
        int end = view.opcode().headerLength() + view.payloadLength();
        assertThat(Arrays.copyOf(written, end)).isEqualTo(Arrays.copyOf(expected, end));
        assertThat(Arrays.copyOfRange(written, end, written.length)).containsOnly(0);
    }

    @Test
    void capturesShowEveryKindOfMessageThatAProgramSends() {
        Set<RdmapOpcode> seen = EnumSet.noneOf(RdmapOpcode.class);
        connections().forEach(connection -> {
            MemorySegment stream = MemorySegment.ofArray(connection.fromInitiator());
            int end = connection.fromInitiator().length;
            int at = MpaFrame.lengthOf(stream, 0, end, false);
            while (at < end) {
                assertThat(view.wrap(stream, at)).isNull();
                seen.add(view.opcode());
                at += view.length();
            }
        });
        assertThat(seen).contains(RdmapOpcode.SEND, RdmapOpcode.WRITE, RdmapOpcode.READ_RESPONSE);
    }

    @Test
    void frameIsReadFromAsManyBytesAsThereAreAndNoMore() {
        byte[] bytes = connections().findFirst().orElseThrow().fromInitiator();
        MemorySegment stream = MemorySegment.ofArray(bytes);
        int length = MpaFrame.lengthOf(stream, 0, bytes.length, false);
        for (int available = 0; available < MpaFrame.HEADER_LENGTH; available++) {
            assertThat(MpaFrame.lengthOf(stream, 0, available, false)).isZero();
        }
        assertThat(MpaFrame.lengthOf(stream, 0, MpaFrame.HEADER_LENGTH, false)).isEqualTo(length);
        assertThat(MpaFrame.lengthOf(stream, 0, 20, true)).isEqualTo(MpaFrame.NOT_A_FRAME);
    }

    @Test
    void firstWrongByteIsEnoughToKnowThatItIsNoFrame() {
        MemorySegment http = MemorySegment.ofArray(new byte[]{'M', 'Q'});
        assertThat(MpaFrame.lengthOf(http, 0, 1, false)).isZero();
        assertThat(MpaFrame.lengthOf(http, 0, 2, false)).isEqualTo(MpaFrame.NOT_A_FRAME);
    }

    // [RFC 5044 7.1.1-5]
    @Test
    void frameWithMorePrivateDataThanAnyMayHaveIsNone() {
        byte[] frame = new MpaFrame(false, 0, 1, 0, 0, new byte[MpaFrame.MAX_DATA]).bytes();
        MemorySegment memory = MemorySegment.ofArray(frame);
        assertThat(MpaFrame.lengthOf(memory, 0, frame.length, false)).isEqualTo(frame.length);
        frame[19]++;
        assertThat(MpaFrame.lengthOf(memory, 0, frame.length, false))
                .isEqualTo(MpaFrame.NOT_A_FRAME);
    }

    // [RFC 6581 6-1]
    @Test
    void enhancedFrameWithoutItsNumbersIsNone() {
        byte[] frame = new MpaFrame(false, 0, 2, 0, 0, new byte[3]).bytes();
        frame[16] = MpaFrame.ENHANCED;
        assertThat(MpaFrame.lengthOf(MemorySegment.ofArray(frame), 0, frame.length, false))
                .isEqualTo(MpaFrame.NOT_A_FRAME);
    }

    // ---------------------------------------------------------------- what no capture shows

    private static byte[] written(OutgoingFpdu unit, @Nullable Crc32c crc) {
        byte[] bytes = new byte[unit.length()];
        assertThat(unit.copyTo(MemorySegment.ofArray(bytes), 0, crc)).isEqualTo(bytes.length);
        return bytes;
    }

    /** The CRC of RFC 3720, appendix B.4: 32 bytes of zeros give aa 36 91 8a. */
    // [RFC 5044 4.4-2]
    @Test
    void crcIsThatOfTheStandard() {
        MemorySegment zeros = MemorySegment.ofArray(new byte[32]);
        byte[] stored = new byte[4];
        MemorySegment.ofArray(stored).set(Layouts.U32_LITTLE, 0, new Crc32c().of(zeros, 0, 32));
        assertThat(HexFormat.of().formatHex(stored)).isEqualTo("aa36918a");
    }

    // [RFC 5041 3-1] [RFC 5044 4.4-3]
    @Test
    void damageAnywhereShowsInTheCrc() {
        OutgoingFpdu unit = new OutgoingFpdu().begin(RdmapOpcode.SEND, true).untagged(1, 0, 0);
        unit.addPayload(MemorySegment.ofArray(new byte[]{1, 2, 3, 4, 5}), 0, 5);
        byte[] bytes = written(unit, new Crc32c());
        assertThat(bytes).hasSize(20 + 8 + 4);
        MemorySegment memory = MemorySegment.ofArray(bytes);
        Crc32c crc = new Crc32c();
        view.wrap(memory, 0);
        assertThat(view.hasRightCrc(crc)).isTrue();
        for (int i = 2; i < bytes.length; i++) {
            bytes[i] ^= 4;
            view.wrap(memory, 0);
            assertThat(view.hasRightCrc(crc)).as("byte " + i).isFalse();
            bytes[i] ^= 4;
        }
    }

    /** Source: RFC 5040 4.8; the bytes after the control word are those of the unit that was wrong. */
    @Test
    void terminateShowsTheHeaderOfWhatWasWrong() {
        MemorySegment send = MemorySegment.ofArray(written(
                new OutgoingFpdu().begin(RdmapOpcode.SEND, true).untagged(7, 0, 0), null));
        view.wrap(send, 0);
        OutgoingFpdu unit = new OutgoingFpdu().terminate(TerminateCause.NO_RECEIVE, view);
        assertThat(HexFormat.of().formatHex(written(unit, null))).isEqualTo(
                "002a" + "4147" + "00000000" + "00000002" + "00000001" + "00000000"
                        + "1202c000" + "0012" + "4143" + "00000000" + "00000000" + "00000007"
                        + "00000000" + "00000000");
    }

    // [RFC 5040 4.8-3]
    @Test
    void terminateIsReadInTheOrderOfTheStandardAndOfSiw() {
        assertThat(read("1202c000")).isEqualTo(TerminateCause.NO_RECEIVE);
        assertThat(read("21020300")).isEqualTo(TerminateCause.NO_RECEIVE);
        assertThat(read("1101c000")).isEqualTo(TerminateCause.TAGGED_OUT_OF_BOUNDS);
        assertThat(read("11010300")).isEqualTo(TerminateCause.TAGGED_OUT_OF_BOUNDS);
        assertThat(read("20020000")).isEqualTo(TerminateCause.WRONG_CRC);
        assertThat(read("02020000")).isEqualTo(TerminateCause.WRONG_CRC);
        assertThat(read("00000000")).isEqualTo(TerminateCause.RDMAP_CATASTROPHIC);
    }

    @Test
    void terminateOfUnknownNumbersOrCutShortIsReadAllTheSame() {
        assertThat(message("3344c000").cause()).isNull();
        assertThat(message("3344c000").text()).isEqualTo(
                "an unknown layer: an unknown kind of error, an unknown error (3/3/68 of RFC 5040 4.8)");
        assertThat(message("02ffc000").text())
                .isEqualTo("RDMAP: remote operation error, unspecified (0/2/255 of RFC 5040 4.8)");
        assertThat(message("2001c000").text()).isEqualTo(
                "MPA: MPA error, TCP connection closed, terminated or lost (2/0/1 of RFC 5040 4.8)");
        assertThat(message("12").text()).isEqualTo("the message that says why is cut short");
        assertThat(message("12").cause()).isNull();
        assertThat(message("").cause()).isNull();
    }

    @Test
    void terminateNamesTheReadItIsAbout() {
        MemorySegment request = MemorySegment.ofArray(written(new OutgoingFpdu()
                .begin(RdmapOpcode.READ_REQUEST, true).untagged(9, 0, 0).read(1, 2, 3, 4, 5),
                null));
        FpduView offending = new FpduView();
        offending.wrap(request, 0);
        byte[] bytes = written(
                new OutgoingFpdu().terminate(TerminateCause.READ_INVALID_KEY, offending), null);
        assertThat(bytes).hasSize(20 + 4 + 48 + 4);
        assertThat(view.wrap(MemorySegment.ofArray(bytes), 0)).isNull();
        assertThat(TerminateMessage.of(view))
                .isEqualTo(
                        new TerminateMessage(TerminateCause.READ_INVALID_KEY, 0, 1, 0, 9, false));
    }

    private TerminateCause read(String control) {
        TerminateCause cause = message(control).cause();
        assertThat(cause).isNotNull();
        return cause;
    }

    private TerminateMessage message(String control) {
        byte[] said = HexFormat.of().parseHex(control);
        OutgoingFpdu unit = new OutgoingFpdu().begin(RdmapOpcode.TERMINATE, true).untagged(1, 0, 0);
        unit.addPayload(MemorySegment.ofArray(said), 0, said.length);
        assertThat(view.wrap(MemorySegment.ofArray(written(unit, null)), 0)).isNull();
        return TerminateMessage.of(view);
    }

    // ---------------------------------------------------------------- what is no unit

    @Test
    void everyWayToBeWrongHasItsName() {
        byte[] send = written(new OutgoingFpdu().begin(RdmapOpcode.SEND, true).untagged(1, 0, 0),
                null);
        byte[] write = written(new OutgoingFpdu().begin(RdmapOpcode.WRITE, true).tagged(1, 2),
                null);
        byte[] read = written(new OutgoingFpdu().begin(RdmapOpcode.READ_REQUEST, true)
                .untagged(1, 0, 0).read(1, 2, 3, 4, 5), null);
        List<String> seen = new ArrayList<>();
        seen.add(with(send, 1, 17));
        seen.add(with(write, 1, 13));
        seen.add(with(write, 1, 0));
        seen.add(with(send, 2, 0x42));
        seen.add(with(write, 2, 0xc0));
        seen.add(with(send, 3, 0x83));
        seen.add(with(send, 3, 0x48));
        seen.add(with(send, 3, 0x40));
        seen.add(with(write, 3, 0x43));
        seen.add(with(send, 11, 1));
        seen.add(with(read, 1, 45));
        seen.add(with(read, 2, 0x01));
        seen.add(with(read, 19, 1));
        seen.add(with(read, 1, 47));
        assertThat(seen).containsExactly("WRONG_LENGTH", "WRONG_LENGTH", "WRONG_LENGTH",
                "UNTAGGED_VERSION", "TAGGED_VERSION", "RDMAP_VERSION", "UNEXPECTED_OPCODE",
                "UNEXPECTED_OPCODE", "UNEXPECTED_OPCODE", "INVALID_QUEUE", "WRONG_LENGTH",
                "INVALID_MESSAGE_OFFSET", "INVALID_MESSAGE_OFFSET", "MESSAGE_TOO_LONG");
    }

    private String with(byte[] bytes, int at, int value) {
        byte[] changed = Arrays.copyOf(bytes, bytes.length + 8);
        MemorySegment.ofArray(changed).set(ValueLayout.JAVA_BYTE, at, (byte) value);
        return String.valueOf(view.wrap(MemorySegment.ofArray(changed), 0));
    }
}
