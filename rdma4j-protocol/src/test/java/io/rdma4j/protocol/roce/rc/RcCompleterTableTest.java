// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a completer does about each answer, whatever it waits for. Request 0 is answered already; request 1 is what the
 * column says, of three packets if it is long; request 2 is a short WRITE. No answer but the one of the row arrives. Where it
 * writes, it writes what the answer brings.
 */
class RcCompleterTableTest {
    private static final int MTU = 1024;
    private static final int LONG = 2 * MTU + 100;
    private static final int SHORT = 100;
    /** 0.64 ms. */
    private static final int RNR_TIMER = 12;

    /** What is outstanding. */
    private enum Outstanding {
        NOTHING, SEND, LONG_WRITE, READ, LONG_READ, ATOMIC, FLUSH;

        void post(RcEnd end) {
            RcEnd peer = end.peer();
            switch (this) {
                case NOTHING -> {
                    return;
                }
                case SEND -> end.send(1, SHORT);
                case LONG_WRITE -> end.write(1, LONG);
                case READ -> end.read(1, SHORT);
                case LONG_READ -> end.read(1, LONG);
                case ATOMIC -> end.add(1, 5);
                case FLUSH -> end.post(end.request(1).flush(peer.address, peer.key, SHORT,
                        Set.of(FlushPlacement.GLOBAL), FlushSelectivity.RANGE));
            }
            end.write(2, SHORT);
        }

        /** {@return how many PSNs request 1 takes} */
        int packets() {
            return switch (this) {
                case NOTHING -> 0;
                case SEND, READ, ATOMIC, FLUSH -> 1;
                case LONG_WRITE, LONG_READ -> 3;
            };
        }
    }

    /** The packet that an answer is to. Request 0 takes the PSN before the first. */
    private enum Place {
        /** That of request 0, which is answered. */
        BEFORE,
        /** One that was answered still earlier. */
        LONG_BEFORE,
        FIRST,
        SECOND,
        LAST,
        /** That of request 2. */
        BEHIND,
        /** One that was not sent yet. */
        NOT_SENT;

        /** {@return how far it is from the first PSN of request 1} */
        int index(Outstanding outstanding) {
            int packets = outstanding.packets();
            return switch (this) {
                case LONG_BEFORE -> -2;
                case BEFORE -> -1;
                case FIRST -> 0;
                case SECOND -> 1;
                case LAST -> Math.max(0, packets - 1);
                case BEHIND -> packets;
                case NOT_SENT -> packets + (outstanding == Outstanding.NOTHING ? 0 : 1);
            };
        }
    }

    /** An answer. */
    private enum Answer {
        ACK_LONG_BEFORE(Opcode.RC_ACKNOWLEDGE, Syndrome.ack(4), Place.LONG_BEFORE),
        ACK_BEFORE(
                Opcode.RC_ACKNOWLEDGE, Syndrome.ack(4),
                Place.BEFORE),
        ACK_FIRST(Opcode.RC_ACKNOWLEDGE, Syndrome.ack(4),
                Place.FIRST),
        ACK_LAST(Opcode.RC_ACKNOWLEDGE, Syndrome.ack(4),
                Place.LAST),
        ACK_BEHIND(Opcode.RC_ACKNOWLEDGE, Syndrome.ack(4),
                Place.BEHIND),
        ACK_NOT_SENT(Opcode.RC_ACKNOWLEDGE,
                Syndrome.ack(4), Place.NOT_SENT),
        RNR_NAK_BEFORE(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.rnr(RNR_TIMER),
                Place.BEFORE),
        RNR_NAK_FIRST(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.rnr(RNR_TIMER),
                Place.FIRST),
        RNR_NAK_BEHIND(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.rnr(RNR_TIMER),
                Place.BEHIND),
        RNR_NAK_NOT_SENT(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.rnr(
                        RNR_TIMER),
                Place.NOT_SENT),
        NAK_SEQUENCE_BEFORE(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.NAK_PSN_SEQUENCE_ERROR,
                Place.BEFORE),
        NAK_SEQUENCE_FIRST(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.NAK_PSN_SEQUENCE_ERROR,
                Place.FIRST),
        NAK_SEQUENCE_LAST(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.NAK_PSN_SEQUENCE_ERROR,
                Place.LAST),
        NAK_SEQUENCE_BEHIND(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.NAK_PSN_SEQUENCE_ERROR,
                Place.BEHIND),
        NAK_SEQUENCE_NOT_SENT(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.NAK_PSN_SEQUENCE_ERROR,
                Place.NOT_SENT),
        NAK_INVALID_REQUEST_FIRST(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.NAK_INVALID_REQUEST,
                Place.FIRST),
        NAK_INVALID_REQUEST_BEHIND(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.NAK_INVALID_REQUEST,
                Place.BEHIND),
        NAK_REMOTE_ACCESS_FIRST(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.NAK_REMOTE_ACCESS_ERROR,
                Place.FIRST),
        NAK_REMOTE_ACCESS_LAST(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.NAK_REMOTE_ACCESS_ERROR,
                Place.LAST),
        NAK_REMOTE_ACCESS_BEFORE(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.NAK_REMOTE_ACCESS_ERROR,
                Place.BEFORE),
        NAK_REMOTE_OPERATIONAL_FIRST(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.NAK_REMOTE_OPERATIONAL_ERROR,
                Place.FIRST),
        NAK_INVALID_RD_REQUEST_FIRST(
                Opcode.RC_ACKNOWLEDGE,
                Syndrome.NAK_INVALID_RD_REQUEST,
                Place.FIRST),
        NAK_RESERVED_CODE_FIRST(
                Opcode.RC_ACKNOWLEDGE,
                0x7f,
                Place.FIRST),
        RESERVED_SYNDROME_FIRST(
                Opcode.RC_ACKNOWLEDGE,
                0x40,
                Place.FIRST),
        READ_RESPONSE_FIRST(
                Opcode.RC_READ_RESPONSE_FIRST,
                0,
                Place.FIRST),
        READ_RESPONSE_MIDDLE_FIRST(
                Opcode.RC_READ_RESPONSE_MIDDLE,
                0,
                Place.FIRST),
        READ_RESPONSE_MIDDLE_SECOND(
                Opcode.RC_READ_RESPONSE_MIDDLE,
                0,
                Place.SECOND),
        READ_RESPONSE_LAST(
                Opcode.RC_READ_RESPONSE_LAST,
                0,
                Place.LAST),
        READ_RESPONSE_ONLY_FIRST(
                Opcode.RC_READ_RESPONSE_ONLY,
                0,
                Place.FIRST),
        READ_RESPONSE_ONLY_BEFORE(
                Opcode.RC_READ_RESPONSE_ONLY,
                0,
                Place.BEFORE),
        READ_RESPONSE_ONLY_BEHIND(
                Opcode.RC_READ_RESPONSE_ONLY,
                0,
                Place.BEHIND),
        READ_RESPONSE_ONLY_NOT_SENT(
                Opcode.RC_READ_RESPONSE_ONLY,
                0,
                Place.NOT_SENT),
        READ_RESPONSE_ONLY_EMPTY_FIRST(
                Opcode.RC_READ_RESPONSE_ONLY,
                0,
                Place.FIRST),
        ATOMIC_ACKNOWLEDGE_FIRST(
                Opcode.RC_ATOMIC_ACKNOWLEDGE,
                0,
                Place.FIRST),
        ATOMIC_ACKNOWLEDGE_BEFORE(
                Opcode.RC_ATOMIC_ACKNOWLEDGE,
                0,
                Place.BEFORE),
        ATOMIC_ACKNOWLEDGE_BEHIND(
                Opcode.RC_ATOMIC_ACKNOWLEDGE,
                0,
                Place.BEHIND),
        ATOMIC_ACKNOWLEDGE_NOT_SENT(
                Opcode.RC_ATOMIC_ACKNOWLEDGE,
                0,
                Place.NOT_SENT);

        private final Opcode opcode;
        private final int syndrome;
        private final Place place;

        Answer(Opcode opcode, int syndrome, Place place) {
            this.opcode = opcode;
            this.syndrome = syndrome;
            this.place = place;
        }

        /** {@return what it is to change, if anything} */
        Effects.Written written(RcPair pair, Outstanding outstanding) {
            if (opcode.hasAtomicAcknowledgement()) {
                return Effects.Written.word(RcEnd.UPPER, 77);
            }
            return new Effects.Written(RcEnd.UPPER + place.index(outstanding) * MTU,
                    Arrays.copyOf(pair.b.bytes(), opcode.isEnd() ? SHORT : MTU));
        }

        OutgoingPacket packet(RcPair pair, Outstanding outstanding) {
            OutgoingPacket packet = pair.b.forge(opcode, 1 + place.index(outstanding));
            if (opcode.hasAcknowledgement()) {
                packet.acknowledgement(syndrome, 1);
            }
            if (opcode.hasAtomicAcknowledgement()) {
                packet.atomicAcknowledgement(77);
            }
            if (opcode.kind() == Opcode.Kind.READ_RESPONSE
                    && this != READ_RESPONSE_ONLY_EMPTY_FIRST) {
                packet.addPayload(pair.b.memory, 0, opcode.isEnd() ? SHORT : MTU);
            }
            return packet;
        }
    }

    // [IBTA 9.7.5-6] [IBTA 9.7.5-7] [IBTA 9.7.5-8] [IBTA 9.9.2-1]
    @TestFactory
    Stream<DynamicTest> eachAnswerToEachRequest() {
        Table table = new Table(
                """
                        event                          | nothing | send                    | long write                 | read              | long read  | atomic            | flush
                        ack long before                | ghost   | ghost                   | ghost                      | ghost             | ghost      | ghost             | ghost
                        ack before                     | -       | -                       | -                          | -                 | -          | -                 | -
                        ack first                      | ghost   | 1 success               | -                          | read again        | long again | atomic again      | flush again
                        ack last                       | ghost   | 1 success               | 1 success                  | read again        | long again | atomic again      | flush again
                        ack behind                     | ghost   | 1 success, 2 success    | 1 success, 2 success       | read again        | long again | atomic again      | flush again
                        ack not sent                   | ghost   | ghost                   | ghost                      | ghost             | ghost      | ghost             | ghost
                        rnr nak before                 | ghost   | ghost                   | ghost                      | ghost             | ghost      | ghost             | ghost
                        rnr nak first                  | ghost   | waits                   | waits                      | waits             | waits      | waits             | waits
                        rnr nak behind                 | ghost   | waits, 1 success        | waits, 1 success           | read again        | long again | atomic again      | flush again
                        rnr nak not sent               | ghost   | ghost                   | ghost                      | ghost             | ghost      | ghost             | ghost
                        nak sequence before            | ghost   | ghost                   | ghost                      | ghost             | ghost      | ghost             | ghost
                        nak sequence first             | ghost   | send again              | write again                | read again        | long again | atomic again      | flush again
                        nak sequence last              | ghost   | send again              | WRITE_LAST 3, WRITE_ONLY 4 | read again        | long again | atomic again      | flush again
                        nak sequence behind            | ghost   | WRITE_ONLY 2, 1 success | WRITE_ONLY 4, 1 success    | read again        | long again | atomic again      | flush again
                        nak sequence not sent          | ghost   | ghost                   | ghost                      | ghost             | ghost      | ghost             | ghost
                        nak invalid request first      | ghost   | invalid                 | invalid                    | invalid           | invalid    | invalid           | invalid
                        nak invalid request behind     | ghost   | invalid 2               | invalid 2                  | read again        | long again | atomic again      | flush again
                        nak remote access first        | ghost   | access                  | access                     | access            | access     | access            | access
                        nak remote access last         | ghost   | access                  | access                     | access            | access     | access            | access
                        nak remote access before       | ghost   | ghost                   | ghost                      | ghost             | ghost      | ghost             | ghost
                        nak remote operational first   | ghost   | operation               | operation                  | operation         | operation  | operation         | operation
                        nak invalid rd request first   | ghost   | datagram                | datagram                   | datagram          | datagram   | datagram          | datagram
                        nak reserved code first        | ghost   | bad                     | bad                        | bad               | bad        | bad               | bad
                        reserved syndrome first        | ghost   | ghost                   | ghost                      | ghost             | ghost      | ghost             | ghost
                        read response first            | ghost   | bad                     | bad                        | bad               | writes     | bad               | bad
                        read response middle first     | ghost   | bad                     | bad                        | bad               | writes     | bad               | bad
                        read response middle second    | ghost   | bad 2                   | bad                        | read again        | long again | atomic again      | flush again
                        read response last             | ghost   | bad                     | bad                        | writes, 1 success | long again | bad               | bad
                        read response only first       | ghost   | bad                     | bad                        | writes, 1 success | bad        | bad               | bad
                        read response only before      | ghost   | ghost                   | ghost                      | ghost             | ghost      | ghost             | ghost
                        read response only behind      | ghost   | bad 2                   | bad 2                      | read again        | long again | atomic again      | flush again
                        read response only not sent    | ghost   | ghost                   | ghost                      | ghost             | ghost      | ghost             | ghost
                        read response only empty first | ghost   | bad                     | bad                        | bad               | bad        | bad               | 1 success
                        atomic acknowledge first       | ghost   | bad                     | bad                        | bad               | bad        | writes, 1 success | bad
                        atomic acknowledge before      | ghost   | ghost                   | ghost                      | ghost             | ghost      | ghost             | ghost
                        atomic acknowledge behind      | ghost   | bad 2                   | bad 2                      | read again        | long again | atomic again      | flush again
                        atomic acknowledge not sent    | ghost   | ghost                   | ghost                      | ghost             | ghost      | ghost             | ghost
                        """,
                """
                        send again   = SEND_ONLY 1, WRITE_ONLY 2
                        read again   = READ_REQUEST 1, WRITE_ONLY 2
                        long again   = READ_REQUEST 1, WRITE_ONLY 4
                        atomic again = FETCH_ADD 1, WRITE_ONLY 2
                        flush again  = FLUSH 1, WRITE_ONLY 2
                        write again  = WRITE_FIRST 1 to WRITE_ONLY 4
                        invalid      = 1 REMOTE_INVALID_REQUEST_ERROR, 2 flushed, >ERR
                        access       = 1 REMOTE_ACCESS_ERROR, 2 flushed, >ERR
                        operation    = 1 REMOTE_OPERATION_ERROR, 2 flushed, >ERR
                        datagram     = 1 REMOTE_INVALID_RD_REQUEST_ERROR, 2 flushed, >ERR
                        bad          = 1 BAD_RESPONSE_ERROR, 2 flushed, >ERR
                        bad 2        = 1 success, 2 BAD_RESPONSE_ERROR, >ERR
                        invalid 2    = 1 success, 2 REMOTE_INVALID_REQUEST_ERROR, >ERR
                        """);
        return table.compare(Arrays.stream(Answer.values()).map(a -> title(a)).toList(),
                Arrays.stream(Outstanding.values()).map(o -> title(o)).toList(), (row, column) -> {
                    Answer answer = Answer.valueOf(constant(row));
                    Outstanding outstanding = Outstanding.valueOf(constant(column));
                    String inRts = effects(answer, outstanding, QueuePairState.RTS);
                    // In SQD what was begun is brought to its end as ever.
                    assertThat(effects(answer, outstanding, QueuePairState.SQD)).isEqualTo(inRts);
                    return inRts;
                });
    }

    /** An opcode or a kind of syndrome that this table lacks. */
    @Test
    void eachKindOfAnswerIsARow() {
        assertThat(EnumSet.copyOf(Arrays.stream(Answer.values()).map(a -> a.opcode).toList()))
                .containsExactlyElementsOf(Arrays.stream(Opcode.values())
                        .filter(o -> o.service() == Opcode.Service.RC && o.isResponse()).toList());
        assertThat(Arrays.stream(Answer.values()).filter(a -> a.opcode == Opcode.RC_ACKNOWLEDGE)
                .map(a -> Syndrome.kind(a.syndrome)).distinct())
                .containsExactlyInAnyOrder(Syndrome.Kind.values());
    }

    private static String title(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    private static String constant(String title) {
        return title.toUpperCase(Locale.ROOT).replace(' ', '_');
    }

    private static String effects(Answer answer, Outstanding outstanding, QueuePairState state) {
        RcPair.Settings settings = new RcPair.Settings();
        settings.firstPsn = 100;
        RcPair pair = new RcPair(settings);
        pair.b.receive(7, SHORT);
        pair.a.send(0, SHORT);
        pair.settle();
        pair.b.isStopped = true;
        outstanding.post(pair.a);
        pair.run(RcPair.MS / 10);
        if (state == QueuePairState.SQD) {
            pair.a.modify(new QueuePairAttributes().state(QueuePairState.SQD));
        }
        String effects = Effects.of(pair.a, answer.written(pair, outstanding),
                () -> pair.wire.deliver(pair.a, answer.packet(pair, outstanding)));
        boolean waits = pair.a.queuePair.deadlineNs() == pair.wire.nowNs()
                + Syndrome.rnrNs(RNR_TIMER);
        return waits ? "waits" + (effects.equals("-") ? "" : ", " + effects) : effects;
    }
}
