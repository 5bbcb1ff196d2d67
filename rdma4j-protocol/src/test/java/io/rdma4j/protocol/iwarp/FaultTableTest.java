// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.protocol.iwarp.wire.Crc32c;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.protocol.iwarp.wire.RdmapOpcode;
import io.rdma4j.protocol.iwarp.wire.TerminateCause;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What each fault of a peer causes: what is sent to it, what becomes of the receive it reached or the READ it answers, and
 * which event this side sees. {@code -} is nothing. The receive has number 10 and 100 bytes, the READ number 1 and 50.
 *
 * <p>What is sent is the control word of the Terminate: a digit for the layer, one for the kind of error, two for the code, and
 * the flags, of which {@code c000} announces a header of DDP and {@code e000} that of a READ request, too. Which header
 * follows, and the error in words, come after it. Source: RFC 5040 4.8, RFC 5041 7, RFC 5044 8.
 */
class FaultTableTest {
    /** A fault, and what follows from it. */
    record Row(String fault, Consumer<FaultTableTest> units, String says, String completions,
            String events) {
        @Override
        public String toString() {
            return fault;
        }
    }

    private static Row row(String fault, Consumer<FaultTableTest> units, String says,
            String completions, String events) {
        return new Row(fault, units, says, completions, events);
    }

    private static final String FLUSHED = "1 WORK_REQUEST_FLUSHED, 10 WORK_REQUEST_FLUSHED";
    private static final int FOREIGN = 0x4444;
    private static final int READ_ONLY = 0x5555;
    private static final int WRITE_ONLY = 0x6666;
    private static final int ELSEWHERE = 0x7777;
    private static final int TERMINATE_HEADER = 20;
    private static final int CRC = 4;
    /** What a Terminate begins with, behind its length. */
    private static final String TERMINATE = "4147" + "00000000" + "00000002" + "00000001"
            + "00000000";

    /** Causes without a row: what is sent of them, and why no unit of a peer leads to them. */
    private static final Map<TerminateCause, String> NOT_IN_THE_TABLE = Map.of(
            TerminateCause.RDMAP_CATASTROPHIC, "00000000 -: this side fails (IwarpQueuePairTest)",
            TerminateCause.INVALID_FRAME, "20040000 -: the set-up fails (MpaTest)",
            TerminateCause.INSUFFICIENT_READS, "20060000 -: the set-up fails (MpaTest)",
            TerminateCause.NO_MATCHING_RTR, "20070000 -: the set-up fails (MpaTest)");

    static Stream<Row> rows() {
        return Stream.of(
                row("WRITE, unknown key", t -> t.write(FOREIGN, 0, 10),
                        "1100c000 tagged: invalid STag", FLUSHED, "QP_ACCESS_ERROR"),
                row("WRITE, no right to", t -> t.write(READ_ONLY, 0, 10),
                        "1100c000 tagged: invalid STag", FLUSHED, "QP_ACCESS_ERROR"),
                row("WRITE, of another protection domain", t -> t.write(ELSEWHERE, 0, 10),
                        "1102c000 tagged: STag not associated with DDP stream", FLUSHED,
                        "QP_ACCESS_ERROR"),
                row("WRITE, beyond the memory", t -> t.write(t.here.key, StreamEnd.MEMORY - 5, 10),
                        "1101c000 tagged: base or bounds violation", FLUSHED, "QP_ACCESS_ERROR"),
                row("WRITE, past the end of all numbers",
                        t -> t.write(t.here.key, -5 - t.here.address, 10),
                        "1103c000 tagged: TO wrap", FLUSHED, "QP_ACCESS_ERROR"),
                row("WRITE, another key within a message", t -> {
                    t.write(t.here.key, 0, 10, false);
                    t.write(FOREIGN, 10, 10, true);
                }, "1100c000 tagged: invalid STag", FLUSHED, "QP_FATAL"),
                row("WRITE, a gap within a message", t -> {
                    t.write(t.here.key, 0, 10, false);
                    t.write(t.here.key, 11, 10, true);
                }, "1101c000 tagged: base or bounds violation", FLUSHED, "QP_FATAL"),
                row("WRITE, not allowed to the queue pair", t -> {
                    t.allow(AccessFlag.REMOTE_READ);
                    t.write(t.here.key, 0, 10);
                }, "1100c000 tagged: invalid STag", FLUSHED, "QP_ACCESS_ERROR"),

                row("READ, unknown key", t -> t.read(1, FOREIGN, 0, 10),
                        "0100e000 READ: invalid STag", FLUSHED, "-"),
                row("READ, no right to", t -> t.read(1, WRITE_ONLY, 0, 10),
                        "0102e000 READ: access rights violation", FLUSHED, "-"),
                row("READ, of another protection domain", t -> t.read(1, ELSEWHERE, 0, 10),
                        "0103e000 READ: STag not associated with RDMAP stream", FLUSHED, "-"),
                row("READ, beyond the memory", t -> t.read(1, t.here.key, StreamEnd.MEMORY, 1),
                        "0101e000 READ: base or bounds violation", FLUSHED, "-"),
                row("READ, past the end of all numbers",
                        t -> t.read(1, t.here.key, -5 - t.here.address, 10),
                        "0104e000 READ: TO wrap", FLUSHED, "-"),
                row("READ, not allowed to the queue pair", t -> {
                    t.allow(AccessFlag.REMOTE_WRITE);
                    t.read(1, t.here.key, 0, 10);
                }, "0102e000 READ: access rights violation", FLUSHED, "-"),
                row("READ out of turn", t -> t.read(2, t.here.key, 0, 10),
                        "1203e000 READ: invalid MSN: MSN range is not valid", FLUSHED, "QP_FATAL"),
                row("more READs than agreed on", t -> {
                    for (int i = 1; i <= 5; i++) {
                        t.read(i, t.here.key, 0, 10);
                    }
                }, "0207e000 READ: catastrophic error, localized to RDMAP stream", FLUSHED, "-"),
                row("READ to another queue", t -> {
                    t.read(1, t.here.key, 0, 10);
                    t.change(11, 0);
                }, "1201e000 READ: invalid QN", FLUSHED, "QP_FATAL"),
                row("READ that begins in its middle", t -> {
                    t.read(1, t.here.key, 0, 10);
                    t.change(19, 1);
                }, "1204e000 READ: invalid MO", FLUSHED, "QP_FATAL"),
                row("READ that goes on", t -> {
                    t.read(1, t.here.key, 0, 10);
                    t.change(2, 0x01);
                }, "1204e000 READ: invalid MO", FLUSHED, "QP_FATAL"),
                row("READ with payload", t -> {
                    OutgoingFpdu unit = new OutgoingFpdu().begin(RdmapOpcode.READ_REQUEST, true)
                            .untagged(1, 0, 0).read(1, 2, 10, t.here.key, t.here.address);
                    unit.addPayload(t.payload, 0, 4);
                    t.add(unit);
                }, "1205c000 untagged: DDP message too long for available buffer", FLUSHED, "-"),

                row("answer to another key", t -> t.answer(FOREIGN, 0, 50, true),
                        "1100c000 tagged: invalid STag", "1 GENERAL_ERROR, 10 WORK_REQUEST_FLUSHED",
                        "QP_FATAL"),
                row("answer to another place", t -> t.answer(t.here.key, 1, 50, true),
                        "1101c000 tagged: base or bounds violation",
                        "1 GENERAL_ERROR, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),
                row("answer that is too long", t -> t.answer(t.here.key, 0, 51, true),
                        "1101c000 tagged: base or bounds violation",
                        "1 LOCAL_LENGTH_ERROR, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),
                row("answer that ends too soon", t -> t.answer(t.here.key, 0, 49, true),
                        "1000c000 tagged: local catastrophic error",
                        "1 LOCAL_LENGTH_ERROR, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),
                row("answer that does not end", t -> t.answer(t.here.key, 0, 50, false),
                        "1000c000 tagged: local catastrophic error",
                        "1 LOCAL_LENGTH_ERROR, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),
                row("answer into memory that is gone", t -> {
                    t.here.regions.close(t.here.key);
                    t.answer(t.here.key, 0, 50, true);
                }, "1000c000 tagged: local catastrophic error",
                        "1 LOCAL_PROTECTION_ERROR, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),
                row("answer into memory that may not be written", t -> {
                    t.protect();
                    t.answer(t.here.key, 0, 50, true);
                }, "1000c000 tagged: local catastrophic error",
                        "1 LOCAL_PROTECTION_ERROR, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),
                row("answer to nothing", t -> {
                    t.answer(t.here.key, 0, 50, true);
                    t.answer(t.here.key, 0, 50, true);
                }, "1000c000 tagged: local catastrophic error",
                        "1 SUCCESS, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),

                row("SEND without a receive", t -> {
                    t.send(1, 0, 10, true);
                    t.send(2, 0, 10, true);
                }, "1202c000 untagged: invalid MSN: no buffer available",
                        "10 SUCCESS, 1 WORK_REQUEST_FLUSHED", "-"),
                row("SEND longer than its receive", t -> t.send(1, 0, 101, true),
                        "1205c000 untagged: DDP message too long for available buffer",
                        "1 WORK_REQUEST_FLUSHED, 10 LOCAL_LENGTH_ERROR", "-"),
                row("SEND that grows longer than its receive", t -> {
                    t.send(1, 0, 60, false);
                    t.send(1, 60, 60, true);
                }, "1205c000 untagged: DDP message too long for available buffer",
                        "1 WORK_REQUEST_FLUSHED, 10 LOCAL_LENGTH_ERROR", "-"),
                row("SEND out of turn", t -> t.send(2, 0, 10, true),
                        "1203c000 untagged: invalid MSN: MSN range is not valid", FLUSHED,
                        "QP_FATAL"),
                row("SEND that begins in its middle", t -> t.send(1, 10, 10, true),
                        "1204c000 untagged: invalid MO", FLUSHED, "QP_FATAL"),
                row("a gap within a SEND", t -> {
                    t.send(1, 0, 10, false);
                    t.send(1, 11, 10, true);
                }, "1204c000 untagged: invalid MO", FLUSHED, "QP_FATAL"),
                row("another kind of SEND within a SEND", t -> {
                    t.send(1, 0, 10, false);
                    t.untagged(RdmapOpcode.SEND_SOLICITED, 1, 10, 10, true);
                }, "0206c000 untagged: unexpected opcode", FLUSHED, "-"),
                row("SEND into memory that is gone", t -> {
                    t.here.regions.close(t.here.key);
                    t.send(1, 0, 10, true);
                }, "1000c000 untagged: local catastrophic error",
                        "1 WORK_REQUEST_FLUSHED, 10 LOCAL_PROTECTION_ERROR", "QP_ACCESS_ERROR"),
                row("SEND into memory that may not be written", t -> {
                    t.protect();
                    t.send(1, 0, 10, true);
                }, "1000c000 untagged: local catastrophic error",
                        "1 WORK_REQUEST_FLUSHED, 10 LOCAL_PROTECTION_ERROR", "QP_ACCESS_ERROR"),
                row("SEND to another queue", t -> {
                    t.send(1, 0, 10, true);
                    t.change(11, 1);
                }, "1201c000 untagged: invalid QN", FLUSHED, "QP_FATAL"),
                row("SEND to a queue that there is not", t -> {
                    t.send(1, 0, 10, true);
                    t.change(11, 3);
                }, "1201c000 untagged: invalid QN", FLUSHED, "QP_FATAL"),
                row("SEND that ends a key that it may not end",
                        t -> t.untagged(RdmapOpcode.SEND_INVALIDATE, 1, 0, 10, true),
                        "0109c000 untagged: STag cannot be invalidated",
                        "1 WORK_REQUEST_FLUSHED, 10 REMOTE_INVALID_REQUEST_ERROR", "-"),

                row("another version of DDP, tagged", t -> {
                    t.write(t.here.key, 0, 10);
                    t.change(2, 0xc0);
                }, "1104c000 tagged: invalid DDP version", FLUSHED, "-"),
                row("another version of DDP, untagged", t -> {
                    t.send(1, 0, 10, true);
                    t.change(2, 0x42);
                }, "1206c000 untagged: invalid DDP version", FLUSHED, "-"),
                row("another version of RDMAP, tagged", t -> {
                    t.write(t.here.key, 0, 10);
                    t.change(3, 0x80);
                }, "0205c000 tagged: invalid RDMAP version", FLUSHED, "-"),
                row("another version of RDMAP, untagged", t -> {
                    t.send(1, 0, 10, true);
                    t.change(3, 0x03);
                }, "0205c000 untagged: invalid RDMAP version", FLUSHED, "-"),
                row("the first opcode that there is not", t -> {
                    t.send(1, 0, 10, true);
                    t.change(3, 0x48);
                }, "0206c000 untagged: unexpected opcode", FLUSHED, "-"),
                row("the last opcode that there is not", t -> {
                    t.write(t.here.key, 0, 10);
                    t.change(3, 0x4f);
                }, "0206c000 tagged: unexpected opcode", FLUSHED, "-"),
                row("WRITE, untagged", t -> {
                    t.send(1, 0, 10, true);
                    t.change(3, 0x40);
                }, "0206c000 untagged: unexpected opcode", FLUSHED, "-"),
                row("SEND, tagged", t -> {
                    t.write(t.here.key, 0, 10);
                    t.change(3, 0x43);
                }, "0206c000 tagged: unexpected opcode", FLUSHED, "-"),

                row("a wrong CRC", t -> t.damaged(20), "20020000 -: MPA CRC error", FLUSHED, "-"),
                row("a unit without headers", t -> t.bytes(new byte[8]),
                        "20030000 -: MPA marker and ULPDU length fields do not match", FLUSHED,
                        "-"),
                row("a unit with less than a header of DDP", t -> {
                    t.write(t.here.key, 0, 0);
                    t.change(1, 13);
                }, "20030000 -: MPA marker and ULPDU length fields do not match", FLUSHED, "-"),
                row("a READ with less than a header of RDMAP", t -> {
                    t.read(1, t.here.key, 0, 10);
                    t.change(1, 45);
                }, "20030000 -: MPA marker and ULPDU length fields do not match", FLUSHED, "-"));
    }

    private final StreamPair pair = new StreamPair();
    private final StreamEnd here = pair.initiator;
    private final List<byte[]> units = new ArrayList<>();
    private final MemorySegment payload = MemorySegment.ofArray(new byte[200]);

    private void add(OutgoingFpdu unit) {
        units.add(written(unit));
    }

    private static byte[] written(OutgoingFpdu unit) {
        byte[] bytes = new byte[unit.length()];
        unit.copyTo(MemorySegment.ofArray(bytes), 0, new Crc32c());
        return bytes;
    }

    private void bytes(byte[] unit) {
        int covered = unit.length - 4;
        byte[] sealed = unit.clone();
        MemorySegment.ofArray(sealed).set(Layouts.U32_LITTLE, covered,
                new Crc32c().of(MemorySegment.ofArray(unit), 0, covered));
        units.add(sealed);
    }

    /** Changes a byte of the last unit. */
    private void change(int at, int value) {
        byte[] unit = units.removeLast();
        unit[at] = (byte) value;
        bytes(unit);
    }

    private void damaged(int at) {
        send(1, 0, 10, true);
        units.getLast()[at]++;
    }

    private void allow(AccessFlag right) {
        here.queuePair.modify(new QueuePairAttributes().accessFlags(Set.of(right)),
                QueuePairState.RTS, 0);
    }

    /** Takes the right to write to its memory from this side itself. */
    private void protect() {
        here.regions.register(here.key, here.address, here.memory, Set.of(AccessFlag.REMOTE_READ));
    }

    private void write(int key, long offset, int length) {
        write(key, offset, length, true);
    }

    private void write(int key, long offset, int length, boolean isLast) {
        OutgoingFpdu unit = new OutgoingFpdu().begin(RdmapOpcode.WRITE, isLast).tagged(key,
                here.address + offset);
        unit.addPayload(payload, 0, length);
        add(unit);
    }

    private void answer(int key, long offset, int length, boolean isLast) {
        OutgoingFpdu unit = new OutgoingFpdu().begin(RdmapOpcode.READ_RESPONSE, isLast).tagged(key,
                here.address + StreamEnd.UPPER + offset);
        unit.addPayload(payload, 0, length);
        add(unit);
    }

    private void read(int number, int key, long offset, int length) {
        add(new OutgoingFpdu().begin(RdmapOpcode.READ_REQUEST, true).untagged(number, 0, 0).read(1,
                2, length, key, here.address + offset));
    }

    private void send(int number, int offset, int length, boolean isLast) {
        untagged(RdmapOpcode.SEND, number, offset, length, isLast);
    }

    private void untagged(RdmapOpcode opcode, int number, int offset, int length, boolean isLast) {
        OutgoingFpdu unit = new OutgoingFpdu().begin(opcode, isLast).untagged(number, offset,
                FOREIGN);
        unit.addPayload(payload, 0, length);
        add(unit);
    }

    // [RFC 5040 4.1-3] [RFC 5040 4.2-1] [RFC 5040 4.8-1] [RFC 5040 4.8-2] [RFC 5040 5.1-1]
    // [RFC 5040 5.2.1-1] [RFC 5040 5.2.1-3] [RFC 5040 5.2.2-1] [RFC 5040 5.3-3] [RFC 5040 5.4-1]
    // [RFC 5040 5.4-3] [RFC 5040 5.5-2] [RFC 5040 6.1-3] [RFC 5040 7.1-1] [RFC 5040 7.1-2]
    // [RFC 5040 7.2-1] [RFC 5040 7.2-2] [RFC 5040 7.2-3] [RFC 5040 8.1.1-1] [RFC 5041 4.1-4]
    // [RFC 5041 4.2-1] [RFC 5041 4.3-1] [RFC 5041 4.3-3] [RFC 5041 5.2-2] [RFC 5041 5.2-3]
    // [RFC 5041 7.1-1] [RFC 5041 7.1-2] [RFC 5041 7.1-3] [RFC 5041 7.2-1] [RFC 5041 8.3.1-1]
    // [RFC 5044 4.4-3] [RFC 5044 8-1]
    @ParameterizedTest
    @MethodSource("rows")
    void eachFaultEndsTheStreamAsItShould(Row row) {
        here.regions.register(READ_ONLY, here.address, here.memory, Set.of(AccessFlag.REMOTE_READ));
        here.regions.register(WRITE_ONLY, here.address, here.memory,
                Set.of(AccessFlag.REMOTE_WRITE));
        here.regions.registerElsewhere(ELSEWHERE, here.address, here.memory,
                EnumSet.allOf(AccessFlag.class));
        here.receive(10, 100);
        here.read(1, 50, pair.responder);
        here.work(0);
        int before = here.out.record().length;
        row.units.accept(this);
        for (byte[] unit : units) {
            MemorySegment bytes = MemorySegment.ofArray(unit);
            assertThat(here.queuePair.onBytes(bytes, 0, unit.length, 0)).isEqualTo(unit.length);
        }
        assertThat(here.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(String.join(", ", here.completions.stream()
                .map(c -> c.id() + " " + c.status()).toList())).isEqualTo(row.completions);
        assertThat(here.events.isEmpty() ? "-" : here.events.getFirst().name())
                .isEqualTo(row.events);
        assertThat(here.events).hasSizeLessThanOrEqualTo(1);
        assertThat(here.queuePair.isOver()).isFalse();
        here.work(0);
        assertThat(here.queuePair.isOver()).isTrue();
        byte[] record = here.out.record();
        byte[] sent = Arrays.copyOfRange(record, before, record.length);
        String[] says = row.says.split(": ", 2);
        assertThat(said(sent, units.getLast())).isEqualTo(says[0]);
        assertThat(here.terminations).containsExactly("says: " + says[1]);
    }

    /** {@return the control word of a Terminate, and which header of the unit that was wrong follows it} */
    private static String said(byte[] terminate, byte[] wrong) {
        MemorySegment memory = MemorySegment.ofArray(terminate);
        int end = 2 + memory.get(Layouts.U16, 0);
        int covered = (end + 3) / 4 * 4;
        assertThat(terminate).hasSize(covered + CRC);
        assertThat(memory.get(Layouts.U32_LITTLE, covered))
                .isEqualTo(new Crc32c().of(memory, 0, covered));
        assertThat(hex(terminate, 2, TERMINATE_HEADER)).isEqualTo(TERMINATE);
        int headers = TERMINATE_HEADER + 4;
        assertThat(hex(terminate, headers, end)).isEqualTo(hex(wrong, 0, end - headers));
        return hex(terminate, TERMINATE_HEADER, headers) + switch (end - headers) {
            case 0 -> " -";
            case 16 -> " tagged";
            case 20 -> " untagged";
            case 48 -> " READ";
            default -> " " + (end - headers) + " bytes";
        };
    }

    private static String hex(byte[] bytes, int from, int to) {
        return HexFormat.of().formatHex(bytes, from, to);
    }

    @Test
    void tableNamesEveryFaultOnce() {
        assertThat(rows().map(Row::fault)).doesNotHaveDuplicates();
    }

    // [RFC 5041 7.2-1]
    @Test
    void everyCauseHasARowOrAReasonToHaveNone() {
        Set<TerminateCause> left = EnumSet.allOf(TerminateCause.class);
        left.removeAll(rows().map(row -> cause(row.says)).toList());
        assertThat(left).isEqualTo(NOT_IN_THE_TABLE.keySet());
    }

    private static @Nullable TerminateCause cause(String says) {
        int control = HexFormat.fromHexDigits(says, 0, 4);
        return TerminateCause.of(control >> 12, control >> 8 & 0xf, control & 0xff);
    }

    // [RFC 5040 4.8-1] [RFC 5044 8-1]
    @Test
    void causesWithoutARowAreSentAsTheyShould() {
        NOT_IN_THE_TABLE.forEach((cause, says) -> {
            byte[] sent = written(new OutgoingFpdu().terminate(cause, null));
            assertThat(said(sent, new byte[0])).isEqualTo(says.split(": ", 2)[0]);
        });
    }
}
