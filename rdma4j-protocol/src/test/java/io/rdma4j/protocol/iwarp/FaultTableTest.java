package io.rdma4j.protocol.iwarp;

import io.rdma4j.protocol.bytes.Layouts;
import io.rdma4j.protocol.iwarp.wire.Crc32c;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.protocol.iwarp.wire.RdmapOpcode;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What each fault of a peer causes: what is sent to it, what becomes of the receive it reached or the READ it answers, and
 * which event this side sees. {@code -} is nothing. The receive has number 10 and 100 bytes, the READ number 1 and 50.
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

    static Stream<Row> rows() {
        return Stream.of(
                row("WRITE, unknown key", t -> t.write(FOREIGN, 0, 10),
                        "invalid STag", FLUSHED, "QP_ACCESS_ERROR"),
                row("WRITE, no right to", t -> t.write(READ_ONLY, 0, 10),
                        "invalid STag", FLUSHED, "QP_ACCESS_ERROR"),
                row("WRITE, beyond the memory", t -> t.write(t.here.key, StreamEnd.MEMORY - 5, 10),
                        "base or bounds violation", FLUSHED, "QP_ACCESS_ERROR"),
                row("WRITE, past the end of all numbers",
                        t -> t.write(t.here.key, -5 - t.here.address, 10),
                        "TO wrap", FLUSHED, "QP_ACCESS_ERROR"),
                row("WRITE, another key within a message", t -> {
                    t.write(t.here.key, 0, 10, false);
                    t.write(FOREIGN, 10, 10, true);
                }, "invalid STag", FLUSHED, "QP_FATAL"),
                row("WRITE, a gap within a message", t -> {
                    t.write(t.here.key, 0, 10, false);
                    t.write(t.here.key, 11, 10, true);
                }, "base or bounds violation", FLUSHED, "QP_FATAL"),
                row("WRITE, not allowed to the queue pair", t -> {
                    t.allow(AccessFlag.REMOTE_READ);
                    t.write(t.here.key, 0, 10);
                }, "invalid STag", FLUSHED, "QP_ACCESS_ERROR"),

                row("READ, unknown key", t -> t.read(1, FOREIGN, 0, 10),
                        "invalid STag", FLUSHED, "-"),
                row("READ, beyond the memory", t -> t.read(1, t.here.key, StreamEnd.MEMORY, 1),
                        "base or bounds violation", FLUSHED, "-"),
                row("READ, past the end of all numbers",
                        t -> t.read(1, t.here.key, -5 - t.here.address, 10),
                        "TO wrap", FLUSHED, "-"),
                row("READ, not allowed to the queue pair", t -> {
                    t.allow(AccessFlag.REMOTE_WRITE);
                    t.read(1, t.here.key, 0, 10);
                }, "access rights violation", FLUSHED, "-"),
                row("READ out of turn", t -> t.read(2, t.here.key, 0, 10),
                        "invalid MSN: MSN range is not valid", FLUSHED, "QP_FATAL"),
                row("more READs than agreed on", t -> {
                    for (int i = 1; i <= 5; i++) {
                        t.read(i, t.here.key, 0, 10);
                    }
                }, "catastrophic error, localized to RDMAP stream", FLUSHED, "-"),

                row("answer to another key", t -> t.answer(FOREIGN, 0, 50, true),
                        "invalid STag", "1 GENERAL_ERROR, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),
                row("answer to another place", t -> t.answer(t.here.key, 1, 50, true),
                        "base or bounds violation", "1 GENERAL_ERROR, 10 WORK_REQUEST_FLUSHED",
                        "QP_FATAL"),
                row("answer that is too long", t -> t.answer(t.here.key, 0, 51, true),
                        "base or bounds violation",
                        "1 LOCAL_LENGTH_ERROR, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),
                row("answer that ends too soon", t -> t.answer(t.here.key, 0, 49, true),
                        "local catastrophic error",
                        "1 LOCAL_LENGTH_ERROR, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),
                row("answer that does not end", t -> t.answer(t.here.key, 0, 50, false),
                        "local catastrophic error",
                        "1 LOCAL_LENGTH_ERROR, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),
                row("answer into memory that is gone", t -> {
                    t.here.regions.close(t.here.key);
                    t.answer(t.here.key, 0, 50, true);
                }, "local catastrophic error",
                        "1 LOCAL_PROTECTION_ERROR, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),
                row("answer to nothing", t -> {
                    t.answer(t.here.key, 0, 50, true);
                    t.answer(t.here.key, 0, 50, true);
                }, "local catastrophic error", "1 SUCCESS, 10 WORK_REQUEST_FLUSHED", "QP_FATAL"),

                row("SEND without a receive", t -> {
                    t.send(1, 0, 10, true);
                    t.send(2, 0, 10, true);
                }, "invalid MSN: no buffer available", "10 SUCCESS, 1 WORK_REQUEST_FLUSHED", "-"),
                row("SEND longer than its receive", t -> t.send(1, 0, 101, true),
                        "DDP message too long for available buffer",
                        "1 WORK_REQUEST_FLUSHED, 10 LOCAL_LENGTH_ERROR", "-"),
                row("SEND that grows longer than its receive", t -> {
                    t.send(1, 0, 60, false);
                    t.send(1, 60, 60, true);
                }, "DDP message too long for available buffer",
                        "1 WORK_REQUEST_FLUSHED, 10 LOCAL_LENGTH_ERROR", "-"),
                row("SEND out of turn", t -> t.send(2, 0, 10, true),
                        "invalid MSN: MSN range is not valid", FLUSHED, "QP_FATAL"),
                row("SEND that begins in its middle", t -> t.send(1, 10, 10, true),
                        "invalid MO", FLUSHED, "QP_FATAL"),
                row("a gap within a SEND", t -> {
                    t.send(1, 0, 10, false);
                    t.send(1, 11, 10, true);
                }, "invalid MO", FLUSHED, "QP_FATAL"),
                row("another kind of SEND within a SEND", t -> {
                    t.send(1, 0, 10, false);
                    t.untagged(RdmapOpcode.SEND_SOLICITED, 1, 10, 10, true);
                }, "unexpected opcode", FLUSHED, "-"),
                row("SEND into memory that is gone", t -> {
                    t.here.regions.close(t.here.key);
                    t.send(1, 0, 10, true);
                }, "local catastrophic error",
                        "1 WORK_REQUEST_FLUSHED, 10 LOCAL_PROTECTION_ERROR", "QP_ACCESS_ERROR"),
                row("SEND that ends a key that it may not end",
                        t -> t.untagged(RdmapOpcode.SEND_INVALIDATE, 1, 0, 10, true),
                        "STag cannot be invalidated",
                        "1 WORK_REQUEST_FLUSHED, 10 REMOTE_INVALID_REQUEST_ERROR", "-"),

                row("a wrong CRC", t -> t.damaged(20), "MPA CRC error", FLUSHED, "-"),
                row("a unit without headers", t -> t.bytes(new byte[8]),
                        "MPA marker and ULPDU length fields do not match", FLUSHED, "-"));
    }

    private final StreamPair pair = new StreamPair();
    private final StreamEnd here = pair.initiator;
    private final List<byte[]> units = new ArrayList<>();
    private final MemorySegment payload = MemorySegment.ofArray(new byte[200]);

    private void add(OutgoingFpdu unit) {
        byte[] bytes = new byte[unit.length()];
        unit.copyTo(MemorySegment.ofArray(bytes), 0, new Crc32c());
        units.add(bytes);
    }

    private void bytes(byte[] unit) {
        int covered = unit.length - 4;
        byte[] sealed = unit.clone();
        MemorySegment.ofArray(sealed).set(Layouts.U32_LITTLE, covered,
                new Crc32c().of(MemorySegment.ofArray(unit), 0, covered));
        units.add(sealed);
    }

    private void damaged(int at) {
        send(1, 0, 10, true);
        units.getLast()[at]++;
    }

    private void allow(AccessFlag right) {
        here.queuePair.modify(new QueuePairAttributes().accessFlags(Set.of(right)),
                QueuePairState.RTS, 0);
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

    @ParameterizedTest
    @MethodSource("rows")
    void eachFaultEndsTheStreamAsItShould(Row row) {
        here.regions.register(READ_ONLY, here.address, here.memory, Set.of(AccessFlag.REMOTE_READ));
        here.receive(10, 100);
        here.read(1, 50, pair.responder);
        here.work(0);
        byte[] before = here.out.record();
        row.units.accept(this);
        for (byte[] unit : units) {
            MemorySegment bytes = MemorySegment.ofArray(unit);
            assertThat(here.queuePair.onBytes(bytes, 0, unit.length, 0)).isEqualTo(unit.length);
        }
        assertThat(here.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(here.terminations).containsExactly("says: " + row.says);
        assertThat(String.join(", ", here.completions.stream()
                .map(c -> c.id() + " " + c.status()).toList())).isEqualTo(row.completions);
        assertThat(here.events.isEmpty() ? "-" : here.events.getFirst().name())
                .isEqualTo(row.events);
        assertThat(here.events).hasSizeLessThanOrEqualTo(1);
        assertThat(here.queuePair.isOver()).isFalse();
        here.work(0);
        assertThat(here.queuePair.isOver()).isTrue();
        byte[] after = here.out.record();
        assertThat(Arrays.copyOfRange(after, before.length, after.length)[3])
                .isEqualTo((byte) 0x47);
    }

    @Test
    void tableNamesEveryFaultOnce() {
        assertThat(rows().map(Row::fault)).doesNotHaveDuplicates();
    }
}
