// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * What a responder does about each request packet, whatever came before it and whatever is wrong with it. Where it writes, it
 * writes what the packet carries, or the result of the atomic, where it belongs, and nothing else.
 */
class RcResponderTableTest {
    private static final int MTU = 1024;
    private static final int WINDOW_KEY = 0x5a5a5a;
    private static final int RECEIVE = 7;

    /** What the packet finds, and what is wrong with it. Where nothing else is said, a receive is posted. */
    private enum Circumstance {
        /** No message is under way. */
        BETWEEN_MESSAGES,
        /** A SEND has begun. */
        WITHIN_SEND,
        /** A WRITE has begun. */
        WITHIN_WRITE,
        /** It is in its place, and no receive is posted. */
        NO_RECEIVE,
        /** It was carried out before. */
        AGAIN,
        /** The packet before it is missing. */
        AHEAD,
        /** It comes together with as many READs as may be under way. */
        BEHIND_READS,
        /** Its key, or the one its message began with, is none of the peer's. */
        BAD_KEY,
        /** It has more bytes than the receive takes, than its message announced or than the region has. */
        TOO_LONG,
        /** Its length is not the one of its place in a message, or its address is not aligned. */
        MALFORMED,
        /** It has no bytes, nor does it ask for any. */
        EMPTY;

        String title() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    // [IBTA 9.4.1-1] [IBTA 9.4.1-2] [IBTA 9.4.3-1] [IBTA 9.4.3-2] [IBTA 9.7.4-1] [IBTA 9.7.4-2]
    // [IBTA 9.7.4-3] [IBTA 9.7.4-4] [IBTA 9.7.4-5] [IBTA 9.7.5-4] [IBTA 9.7.5-5] [IBTA 9.9.3-1]
    @TestFactory
    Stream<DynamicTest> eachRequestInEachCircumstance() {
        Table table = new Table(
                """
                        event                | between messages | within send | within write | no receive | again  | ahead          | behind reads | bad key  | too long  | malformed | empty
                        SEND_FIRST           | taken            | invalid 1   | invalid 1    | RNR_NAK 0  | ACK 0  | NAK_SEQUENCE 0 | taken 4      | taken    | length    | invalid   | invalid
                        SEND_MIDDLE          | invalid          | taken 1     | invalid 1    | no message | ACK 1  | NAK_SEQUENCE 0 | invalid 4    | taken 1  | length 1  | invalid 1 | invalid 1
                        SEND_LAST            | invalid          | done 1      | invalid 1    | no message | ACK 1  | NAK_SEQUENCE 0 | invalid 4    | done 1   | length 1  | invalid 1 | invalid 1
                        SEND_LAST_IMMEDIATE  | invalid          | done 1      | invalid 1    | no message | ACK 1  | NAK_SEQUENCE 0 | invalid 4    | done 1   | length 1  | invalid 1 | invalid 1
                        SEND_ONLY            | done             | invalid 1   | invalid 1    | RNR_NAK 0  | ACK 0  | NAK_SEQUENCE 0 | done 4       | done     | length    | invalid   | complete
                        SEND_ONLY_IMMEDIATE  | done             | invalid 1   | invalid 1    | RNR_NAK 0  | ACK 0  | NAK_SEQUENCE 0 | done 4       | done     | length    | invalid   | complete
                        WRITE_FIRST          | taken            | invalid 1   | invalid 1    | taken      | ACK 0  | NAK_SEQUENCE 0 | taken 4      | access   | invalid   | invalid   | invalid
                        WRITE_MIDDLE         | invalid          | invalid 1   | taken 1      | taken 1    | ACK 1  | NAK_SEQUENCE 0 | invalid 4    | access 1 | invalid 1 | invalid 1 | invalid 1
                        WRITE_LAST           | invalid          | invalid 1   | taken 1      | taken 1    | ACK 1  | NAK_SEQUENCE 0 | invalid 4    | access 1 | invalid 1 | invalid 1 | invalid 1
                        WRITE_LAST_IMMEDIATE | invalid          | invalid 1   | done 1       | RNR_NAK 1  | ACK 1  | NAK_SEQUENCE 0 | invalid 4    | access 1 | invalid 1 | invalid 1 | invalid 1
                        WRITE_ONLY           | taken            | invalid 1   | invalid 1    | taken      | ACK 0  | NAK_SEQUENCE 0 | taken 4      | access   | invalid   | invalid   | ACK 0
                        WRITE_ONLY_IMMEDIATE | done             | invalid 1   | invalid 1    | RNR_NAK 0  | ACK 0  | NAK_SEQUENCE 0 | done 4       | access   | invalid   | invalid   | complete
                        READ_REQUEST         | data             | invalid 1   | invalid 1    | data       | data   | NAK_SEQUENCE 0 | invalid 4    | access   | access    | invalid   | data
                        COMPARE_SWAP         | atomic           | invalid 1   | invalid 1    | atomic     | result | NAK_SEQUENCE 0 | invalid 4    | access   | access    | invalid   | atomic
                        FETCH_ADD            | atomic           | invalid 1   | invalid 1    | atomic     | result | NAK_SEQUENCE 0 | invalid 4    | access   | access    | invalid   | atomic
                        SEND_LAST_INVALIDATE | invalid          | done 1      | invalid 1    | no message | ACK 1  | NAK_SEQUENCE 0 | invalid 4    | window 1 | length 1  | invalid 1 | invalid 1
                        SEND_ONLY_INVALIDATE | done             | invalid 1   | invalid 1    | RNR_NAK 0  | ACK 0  | NAK_SEQUENCE 0 | done 4       | window   | length    | invalid   | complete
                        FLUSH                | data             | invalid 1   | invalid 1    | data       | data   | NAK_SEQUENCE 0 | invalid 4    | access   | access    | invalid   | data
                        ATOMIC_WRITE         | done now         | invalid 1   | invalid 1    | done now   | data   | NAK_SEQUENCE 0 | invalid 4    | access   | access    | invalid   | invalid
                        """,
                """
                        taken      = writes, ACK 0
                        done       = writes, ACK 0, 7 success
                        complete   = ACK 0, 7 success
                        invalid    = NAK_INVALID_REQUEST 0, 7 flushed, !REQUEST_ERROR, >ERR
                        access     = NAK_REMOTE_ACCESS 0, 7 flushed, !ACCESS_ERROR, >ERR
                        length     = NAK_INVALID_REQUEST 0, 7 LOCAL_LENGTH_ERROR, >ERR
                        window     = writes, NAK_REMOTE_ACCESS 0, 7 REMOTE_INVALID_REQUEST_ERROR, >ERR
                        taken 1    = writes, ACK 1
                        done 1     = writes, ACK 1, 7 success
                        invalid 1  = NAK_INVALID_REQUEST 1, 7 flushed, !REQUEST_ERROR, >ERR
                        access 1   = NAK_REMOTE_ACCESS 1, 7 flushed, !ACCESS_ERROR, >ERR
                        length 1   = NAK_INVALID_REQUEST 1, 7 LOCAL_LENGTH_ERROR, >ERR
                        window 1   = writes, NAK_REMOTE_ACCESS 1, 7 REMOTE_INVALID_REQUEST_ERROR, >ERR
                        taken 4    = writes, READ_RESPONSE_ONLY 0 to ACK 4
                        done 4     = writes, READ_RESPONSE_ONLY 0 to ACK 4, 7 success
                        invalid 4  = READ_RESPONSE_ONLY 0 to NAK_INVALID_REQUEST 4, 7 flushed, !REQUEST_ERROR, >ERR
                        no message = NAK_INVALID_REQUEST 0, !REQUEST_ERROR, >ERR
                        data       = READ_RESPONSE_ONLY 0
                        done now   = writes, READ_RESPONSE_ONLY 0
                        atomic     = writes, ATOMIC_ACKNOWLEDGE 0
                        result     = ATOMIC_ACKNOWLEDGE 0
                        """);
        return table.compare(requests().map(Enum::name).map(n -> n.substring(3)).toList(),
                Arrays.stream(Circumstance.values()).map(Circumstance::title).toList(),
                (row, column) -> effects(Opcode.valueOf("RC_" + row), Circumstance
                        .valueOf(column.toUpperCase(Locale.ROOT).replace(' ', '_'))));
    }

    private static Stream<Opcode> requests() {
        return Arrays.stream(Opcode.values())
                .filter(o -> o.service() == Opcode.Service.RC && !o.isResponse());
    }

    private static String effects(Opcode opcode, Circumstance circumstance) {
        RcPair.Settings settings = new RcPair.Settings();
        settings.firstPsn = 100;
        RcPair pair = new RcPair(settings);
        Requests from = new Requests(pair, opcode, circumstance);
        pair.a.isStopped = true;
        pair.b.regions.windowKeys.add(WINDOW_KEY);
        if (circumstance != Circumstance.NO_RECEIVE) {
            pair.b.receive(RECEIVE, receiveLength(opcode, circumstance));
        }
        int index = from.begin();
        if (circumstance == Circumstance.AGAIN) {
            pair.wire.deliver(pair.b, from.packet(index));
        }
        if (circumstance == Circumstance.BAD_KEY) {
            pair.b.regions.close(pair.b.key);
            // What a receive asks for is another matter.
            pair.b.regions.register(pair.b.key, pair.b.address, pair.b.memory,
                    EnumSet.of(AccessFlag.LOCAL_WRITE));
        }
        return Effects.of(pair.b, from.written(index), () -> from.arrive(index));
    }

    private static int receiveLength(Opcode opcode, Circumstance circumstance) {
        if (circumstance != Circumstance.TOO_LONG) {
            return 4 * MTU;
        }
        return opcode.isStart() ? 50 : MTU + 50;
    }

    /** Makes the packets that reach a responder. */
    private record Requests(RcPair pair, Opcode opcode, Circumstance circumstance) {
        /** Sends what has to come first. {@return how many packets that was} */
        int begin() {
            boolean isContinued = !opcode.isStart();
            return switch (circumstance) {
                case BETWEEN_MESSAGES, AHEAD, BEHIND_READS -> 0;
                case WITHIN_SEND -> beginSend();
                case WITHIN_WRITE -> beginWrite();
                case NO_RECEIVE ->
                    isContinued && opcode.kind() == Opcode.Kind.WRITE ? beginWrite() : 0;
                case AGAIN, BAD_KEY, TOO_LONG, MALFORMED, EMPTY -> {
                    if (!isContinued) {
                        yield 0;
                    }
                    yield opcode.kind() == Opcode.Kind.SEND ? beginSend() : beginWrite();
                }
            };
        }

        private int beginSend() {
            pair.wire.deliver(pair.b, pair.a.forge(Opcode.RC_SEND_FIRST, 0, MTU));
            return 1;
        }

        private int beginWrite() {
            pair.wire.deliver(pair.b, pair.a.forge(Opcode.RC_WRITE_FIRST, 0, MTU).rdma(
                    pair.b.address + RcEnd.UPPER, pair.b.key, MTU + bytesBehindFirst()));
            return 1;
        }

        private int bytesBehindFirst() {
            if (circumstance == Circumstance.TOO_LONG) {
                return 20;
            }
            return opcode.isEnd() ? 100 : MTU + 100;
        }

        /** The packet of which the table tells arrives where it belongs, or ahead of that. */
        void arrive(int index) {
            int reads = circumstance == Circumstance.BEHIND_READS ? pair.settings.readsServed : 0;
            for (int i = 0; i < reads; i++) {
                pair.wire.arrive(pair.b, pair.a.forge(Opcode.RC_READ_REQUEST, i)
                        .rdma(pair.b.address, pair.b.key, 100));
            }
            int ahead = circumstance == Circumstance.AHEAD ? 1 : 0;
            pair.wire.deliver(pair.b, packet(index + reads + ahead));
        }

        /** {@return what the packet is to change} */
        Effects.Written written(int index) {
            long original = pair.b.word(0);
            int reads = circumstance == Circumstance.BEHIND_READS ? pair.settings.readsServed : 0;
            return switch (opcode.kind()) {
                case SEND, WRITE -> new Effects.Written(RcEnd.UPPER + index * MTU,
                        Arrays.copyOfRange(pair.a.bytes(), (index + reads) * MTU,
                                (index + reads) * MTU + payload()));
                case COMPARE_SWAP -> Effects.Written.word(0, 1);
                case FETCH_ADD -> Effects.Written.word(0, original + 1);
                case ATOMIC_WRITE -> Effects.Written.word(0, pair.a.word(0));
                case READ_REQUEST, FLUSH -> Effects.Written.NOTHING;
                case READ_RESPONSE, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, CONGESTION_NOTIFICATION ->
                    throw new IllegalArgumentException(opcode + " is no request");
            };
        }

        OutgoingPacket packet(int index) {
            OutgoingPacket packet = pair.a.forge(opcode, index);
            boolean isTooLong = circumstance == Circumstance.TOO_LONG;
            boolean isMalformed = circumstance == Circumstance.MALFORMED;
            boolean isEmpty = circumstance == Circumstance.EMPTY;
            switch (opcode.kind()) {
                case SEND -> {
                    if (opcode.hasInvalidate()) {
                        packet.invalidate(circumstance == Circumstance.BAD_KEY ? WINDOW_KEY + 1
                                : WINDOW_KEY);
                    }
                    packet.addPayload(pair.a.memory, (long) index * MTU, payload());
                }
                case WRITE -> {
                    if (opcode.hasRdma()) {
                        packet.rdma(pair.b.address + RcEnd.UPPER, pair.b.key, announced());
                    }
                    packet.addPayload(pair.a.memory, (long) index * MTU, payload());
                }
                case READ_REQUEST -> packet.rdma(pair.b.address, pair.b.key,
                        isMalformed ? RcResponder.MAX_MESSAGE + 1
                                : isTooLong ? RcEnd.MEMORY + 1 : isEmpty ? 0 : 100);
                case COMPARE_SWAP, FETCH_ADD -> packet.atomic(
                        isMalformed ? pair.b.address + 4
                                : isTooLong ? pair.b.address + RcEnd.MEMORY : pair.b.address,
                        pair.b.key, 1,
                        pair.b.memory.get(ValueLayout.JAVA_LONG, 0));
                case FLUSH -> packet
                        .flush(isMalformed ? 0
                                : FlushPlacement.GLOBAL.bit()
                                        | FlushSelectivity.RANGE.code() << 4)
                        .rdma(pair.b.address, pair.b.key, isTooLong ? RcEnd.MEMORY + 1
                                : isEmpty ? 0 : 100);
                case ATOMIC_WRITE -> {
                    packet.rdma(isTooLong ? pair.b.address + RcEnd.MEMORY : pair.b.address,
                            pair.b.key, Long.BYTES);
                    packet.addPayload(pair.a.memory, 0,
                            isMalformed ? 4 : isEmpty ? 0 : Long.BYTES);
                }
                case READ_RESPONSE, ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, CONGESTION_NOTIFICATION ->
                    throw new IllegalArgumentException(opcode + " is no request");
            }
            return packet;
        }

        private int announced() {
            return circumstance == Circumstance.TOO_LONG ? 20
                    : opcode.isEnd() ? payload() : payload() + 100;
        }

        private int payload() {
            if (circumstance == Circumstance.EMPTY) {
                return 0;
            }
            if (circumstance == Circumstance.MALFORMED) {
                return opcode.isEnd() ? MTU + 1 : MTU - 4;
            }
            boolean isShort = opcode.isEnd() && circumstance != Circumstance.TOO_LONG;
            return isShort ? 100 : MTU;
        }
    }
}
