// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Syndrome;
import io.rdma4j.spi.InfinibandTransitions;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.FlushPlacement;
import io.rdma4j.verbs.FlushSelectivity;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

import java.lang.foreign.Arena;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a queue pair does in each state: about packets, about requests, about time, and about a change to another state.
 * The last table shows that no reliable connection comes to SQE. IBTA 10.3.1.
 */
class RcStateTableTest {
    private static final int SHORT = 100;

    /** Those that a reliable connection can be in. */
    private static final List<QueuePairState> STATES = Arrays.stream(QueuePairState.values())
            .filter(state -> state != QueuePairState.SQE).toList();

    private static List<String> names(List<? extends Enum<?>> constants) {
        return constants.stream().map(Enum::name).toList();
    }

    private static RcPair pair(QueuePairState stateOfA, QueuePairState stateOfB) {
        RcPair.Settings settings = new RcPair.Settings();
        settings.firstPsn = 100;
        settings.stateOfA = stateOfA;
        settings.stateOfB = stateOfB;
        return new RcPair(settings);
    }

    // ---------------------------------------------------------------- packets

    /** Where there can be one, a receive is posted. Of responses none was asked for. */
    @TestFactory
    Stream<DynamicTest> eachPacket() {
        Table table = new Table(
                """
                        event                | RESET   | INIT    | RTR           | RTS     | SQD     | ERR
                        SEND_FIRST           | dropped | dropped | first taken   | taken   | taken   | dropped
                        SEND_MIDDLE          | dropped | dropped | first invalid | invalid | invalid | dropped
                        SEND_LAST            | dropped | dropped | first invalid | invalid | invalid | dropped
                        SEND_LAST_IMMEDIATE  | dropped | dropped | first invalid | invalid | invalid | dropped
                        SEND_ONLY            | dropped | dropped | first done    | done    | done    | dropped
                        SEND_ONLY_IMMEDIATE  | dropped | dropped | first done    | done    | done    | dropped
                        WRITE_FIRST          | dropped | dropped | first taken   | taken   | taken   | dropped
                        WRITE_MIDDLE         | dropped | dropped | first invalid | invalid | invalid | dropped
                        WRITE_LAST           | dropped | dropped | first invalid | invalid | invalid | dropped
                        WRITE_LAST_IMMEDIATE | dropped | dropped | first invalid | invalid | invalid | dropped
                        WRITE_ONLY           | dropped | dropped | first taken   | taken   | taken   | dropped
                        WRITE_ONLY_IMMEDIATE | dropped | dropped | first done    | done    | done    | dropped
                        READ_REQUEST         | dropped | dropped | first data    | data    | data    | dropped
                        READ_RESPONSE_FIRST  | dropped | dropped | dropped       | ghost   | ghost   | dropped
                        READ_RESPONSE_MIDDLE | dropped | dropped | dropped       | ghost   | ghost   | dropped
                        READ_RESPONSE_LAST   | dropped | dropped | dropped       | ghost   | ghost   | dropped
                        READ_RESPONSE_ONLY   | dropped | dropped | dropped       | ghost   | ghost   | dropped
                        ACKNOWLEDGE          | dropped | dropped | dropped       | ghost   | ghost   | dropped
                        ATOMIC_ACKNOWLEDGE   | dropped | dropped | dropped       | ghost   | ghost   | dropped
                        COMPARE_SWAP         | dropped | dropped | first atomic  | atomic  | atomic  | dropped
                        FETCH_ADD            | dropped | dropped | first atomic  | atomic  | atomic  | dropped
                        SEND_LAST_INVALIDATE | dropped | dropped | first invalid | invalid | invalid | dropped
                        SEND_ONLY_INVALIDATE | dropped | dropped | first done    | done    | done    | dropped
                        FLUSH                | dropped | dropped | first data    | data    | data    | dropped
                        ATOMIC_WRITE         | dropped | dropped | first written | written | written | dropped
                        """,
                """
                        taken         = writes, ACK 0
                        done          = writes, ACK 0, 7 success
                        invalid       = NAK_INVALID_REQUEST 0, 7 flushed, !REQUEST_ERROR, >ERR
                        data          = READ_RESPONSE_ONLY 0
                        atomic        = writes, ATOMIC_ACKNOWLEDGE 0
                        written       = writes, READ_RESPONSE_ONLY 0
                        first taken   = writes, ACK 0, !COMMUNICATION_ESTABLISHED
                        first done    = writes, ACK 0, 7 success, !COMMUNICATION_ESTABLISHED
                        first invalid = NAK_INVALID_REQUEST 0, 7 flushed, !COMMUNICATION_ESTABLISHED, !REQUEST_ERROR, >ERR
                        first data    = READ_RESPONSE_ONLY 0, !COMMUNICATION_ESTABLISHED
                        first atomic  = writes, ATOMIC_ACKNOWLEDGE 0, !COMMUNICATION_ESTABLISHED
                        first written = writes, READ_RESPONSE_ONLY 0, !COMMUNICATION_ESTABLISHED
                        """);
        List<Opcode> opcodes = Arrays.stream(Opcode.values())
                .filter(o -> o.service() == Opcode.Service.RC).toList();
        return table.compare(
                opcodes.stream().map(o -> o.name().substring("RC_".length())).toList(),
                names(STATES), (row, column) -> effects(Opcode.valueOf("RC_" + row),
                        QueuePairState.valueOf(column)));
    }

    private static String effects(Opcode opcode, QueuePairState state) {
        RcPair pair = pair(QueuePairState.RTS, state);
        if (state != QueuePairState.RESET) {
            pair.b.receive(7, 2000);
        }
        pair.a.isStopped = true;
        return Effects.of(pair.b, () -> pair.wire.deliver(pair.b, packet(pair, opcode)));
    }

    private static OutgoingPacket packet(RcPair pair, Opcode opcode) {
        OutgoingPacket packet = pair.a.forge(opcode, 0);
        int length = opcode.isEnd() ? SHORT : pair.settings.mtu.bytes();
        if (opcode.hasFlush()) {
            packet.flush(FlushPlacement.GLOBAL.bit() | FlushSelectivity.RANGE.code() << 4);
        }
        if (opcode.hasRdma()) {
            packet.rdma(pair.b.address + RcEnd.UPPER, pair.b.key,
                    opcode.kind() == Opcode.Kind.ATOMIC_WRITE ? Long.BYTES
                            : opcode.isEnd() ? SHORT : 2 * length);
        }
        if (opcode.hasAtomic()) {
            packet.atomic(pair.b.address + RcEnd.UPPER, pair.b.key, 1, 0);
        }
        if (opcode.hasAcknowledgement()) {
            packet.acknowledgement(Syndrome.ackUnlimited(), 1);
        }
        if (opcode.hasInvalidate()) {
            pair.b.regions.windowKeys.add(9);
            packet.invalidate(9);
        }
        if (opcode.hasPayload()) {
            packet.addPayload(pair.a.memory, 0,
                    opcode.kind() == Opcode.Kind.ATOMIC_WRITE ? Long.BYTES : length);
        }
        return packet;
    }

    // ---------------------------------------------------------------- requests

    /** Devices refuse requests in states in which there can be none; here they only wait. */
    @TestFactory
    Stream<DynamicTest> eachSendRequest() {
        Table table = new Table(
                """
                        event                     | RESET | INIT | RTR | RTS                              | SQD | ERR
                        RDMA_WRITE                | -     | -    | -   | WRITE_ONLY 0                     | -   | 1 flushed
                        RDMA_WRITE_WITH_IMMEDIATE | -     | -    | -   | WRITE_ONLY_IMMEDIATE 0           | -   | 1 flushed
                        SEND                      | -     | -    | -   | SEND_ONLY 0                      | -   | 1 flushed
                        SEND_WITH_IMMEDIATE       | -     | -    | -   | SEND_ONLY_IMMEDIATE 0            | -   | 1 flushed
                        RDMA_READ                 | -     | -    | -   | READ_REQUEST 0                   | -   | 1 flushed
                        ATOMIC_COMPARE_AND_SWAP   | -     | -    | -   | COMPARE_SWAP 0                   | -   | 1 flushed
                        ATOMIC_FETCH_AND_ADD      | -     | -    | -   | FETCH_ADD 0                      | -   | 1 flushed
                        LOCAL_INVALIDATE          | -     | -    | -   | 1 success                        | -   | 1 flushed
                        BIND_MEMORY_WINDOW        | -     | -    | -   | 1 success                        | -   | 1 flushed
                        SEND_WITH_INVALIDATE      | -     | -    | -   | SEND_ONLY_INVALIDATE 0           | -   | 1 flushed
                        FLUSH                     | -     | -    | -   | FLUSH 0                          | -   | 1 flushed
                        ATOMIC_WRITE              | -     | -    | -   | ATOMIC_WRITE 0                   | -   | 1 flushed
                        """,
                "");
        return table.compare(names(List.of(SendOpcode.values())), names(STATES),
                (row, column) -> {
                    RcPair pair = pair(QueuePairState.valueOf(column), QueuePairState.RTS);
                    pair.b.isStopped = true;
                    return Effects.of(pair.a,
                            () -> pair.a.post(request(pair, SendOpcode.valueOf(row))));
                });
    }

    private static SendWorkRequest request(RcPair pair, SendOpcode opcode) {
        SendWorkRequest request = pair.a.request(1).opcode(opcode).remote(pair.b.address,
                pair.b.key);
        return switch (opcode) {
            case FLUSH -> request.flush(pair.b.address, pair.b.key, SHORT,
                    Set.of(FlushPlacement.GLOBAL), FlushSelectivity.RANGE);
            case LOCAL_INVALIDATE, BIND_MEMORY_WINDOW -> request;
            case ATOMIC_COMPARE_AND_SWAP, ATOMIC_FETCH_AND_ADD, ATOMIC_WRITE -> request
                    .add(pair.a.address, Long.BYTES, pair.a.key);
            case SEND, SEND_WITH_IMMEDIATE, SEND_WITH_INVALIDATE, RDMA_WRITE,
                    RDMA_WRITE_WITH_IMMEDIATE, RDMA_READ ->
                request.add(pair.a.address, SHORT, pair.a.key);
        };
    }

    // ---------------------------------------------------------------- time

    /** Something that happens on this side alone. */
    private enum Moment {
        /** A WRITE was not answered in the time that answers take. */
        ANSWER_IS_OVERDUE,
        /** A WRITE was not answered in the time of the queue pair. */
        TIME_OUT,
        /** The same, and no retry is left. */
        LAST_TIME_OUT,
        /** The peer had no receive, and its timer has passed. */
        RECEIVER_WAIT_IS_OVER,
        /** The memory of a WRITE goes, and then its answer is overdue. */
        MEMORY_IS_GONE,
        /** A bind behind a WRITE cannot be carried out. */
        BIND_FAILS,
        /** A receive is posted, and no message was refused for want of one. */
        RECEIVE_POSTED,
        /** A receive is posted, and a message was refused for want of one. */
        MISSED_RECEIVE_POSTED
    }

    /** What was begun in RTS goes on in SQD. {@code never} means that nothing is due, however long one waits. */
    @TestFactory
    Stream<DynamicTest> eachMoment() {
        Table table = new Table(
                """
                        event                 | RESET | INIT  | RTR    | RTS                                         | SQD                            | ERR
                        answer is overdue     | never | never | never  | WRITE_ONLY 1                                | WRITE_ONLY 1                   | never
                        time out              | never | never | never  | WRITE_ONLY 1                                | WRITE_ONLY 1                   | never
                        last time out         | never | never | never  | 1 RETRY_EXCEEDED_ERROR, >ERR                | 1 RETRY_EXCEEDED_ERROR, >ERR   | never
                        receiver wait is over | never | never | never  | SEND_ONLY 1                                 | SEND_ONLY 1                    | never
                        memory is gone        | never | never | never  | 1 LOCAL_PROTECTION_ERROR, >ERR              | 1 LOCAL_PROTECTION_ERROR, >ERR | never
                        bind fails            | -     | -     | -      | 1 success, 2 MEMORY_WINDOW_BIND_ERROR, >ERR | 1 success                      | dropped, 2 flushed
                        receive posted        | -     | -     | -      | -                                           | -                              | 7 flushed
                        missed receive posted | -     | -     | ACK -1 | ACK -1                                      | ACK -1                         | 7 flushed
                        """,
                "");
        return table.compare(
                Arrays.stream(Moment.values())
                        .map(m -> m.name().toLowerCase(Locale.ROOT).replace('_', ' ')).toList(),
                names(STATES),
                (row, column) -> effects(
                        Moment.valueOf(row.toUpperCase(Locale.ROOT).replace(' ', '_')),
                        QueuePairState.valueOf(column)));
    }

    private static String effects(Moment moment, QueuePairState state) {
        RcPair.Settings settings = new RcPair.Settings();
        settings.firstPsn = 100;
        settings.retryCount = moment == Moment.LAST_TIME_OUT ? 0 : 7;
        boolean canSend = state == QueuePairState.RTS || state == QueuePairState.SQD
                || state == QueuePairState.ERR;
        settings.stateOfA = canSend ? QueuePairState.RTS : state;
        RcPair pair = new RcPair(settings);
        if (canSend) {
            pair.a.write(0, SHORT);
            pair.settle();
        }
        return switch (moment) {
            case RECEIVE_POSTED, MISSED_RECEIVE_POSTED -> {
                boolean canReceive = canSend || state == QueuePairState.RTR;
                if (canReceive && moment == Moment.MISSED_RECEIVE_POSTED) {
                    pair.wire.deliver(pair.a, pair.b.forge(Opcode.RC_SEND_ONLY, 0, SHORT));
                }
                pair.b.isStopped = true;
                leave(pair, state);
                yield Effects.of(pair.a, () -> pair.a.receive(7, SHORT));
            }
            case ANSWER_IS_OVERDUE, TIME_OUT, LAST_TIME_OUT, RECEIVER_WAIT_IS_OVER, MEMORY_IS_GONE,
                    BIND_FAILS -> {
                pair.b.isStopped = moment != Moment.RECEIVER_WAIT_IS_OVER;
                if (canSend) {
                    begin(pair, moment);
                }
                leave(pair, state);
                yield afterDeadline(pair, moment);
            }
        };
    }

    private static void begin(RcPair pair, Moment moment) {
        if (moment == Moment.RECEIVER_WAIT_IS_OVER) {
            pair.a.send(1, SHORT);
        } else if (moment == Moment.MEMORY_IS_GONE) {
            Arena arena = Arena.ofConfined();
            pair.a.regions.register(3, 0, arena.allocate(SHORT),
                    EnumSet.of(AccessFlag.LOCAL_WRITE));
            pair.a.post(pair.a.request(1).write(pair.b.address + RcEnd.UPPER, pair.b.key).add(0,
                    SHORT, 3));
            pair.run(100_000);
            arena.close();
        } else {
            pair.a.write(1, SHORT);
        }
        pair.run(100_000);
    }

    /** Goes from RTS to a state behind it. */
    private static void leave(RcPair pair, QueuePairState state) {
        if (pair.a.queuePair.state() != state) {
            pair.a.modify(pair.a.attributesFor(state));
        }
    }

    private static String afterDeadline(RcPair pair, Moment moment) {
        if (moment == Moment.BIND_FAILS) {
            pair.a.regions.localOutcome = WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR;
            pair.b.isStopped = false;
            return Effects.of(pair.a, () -> {
                pair.a.post(pair.a.request(2).opcode(SendOpcode.BIND_MEMORY_WINDOW));
                pair.run(RcPair.MS);
            });
        }
        long deadlineNs = pair.a.queuePair.deadlineNs();
        if (deadlineNs == Long.MAX_VALUE) {
            return "never";
        }
        if (moment == Moment.TIME_OUT || moment == Moment.LAST_TIME_OUT) {
            long sentNs = pair.wire.nowNs() - 100_000;
            pair.run(sentNs + pair.settings.timeoutNs() - pair.wire.nowNs() - 1);
            return Effects.of(pair.a, () -> pair.run(1));
        }
        pair.b.isStopped = true;
        return Effects.of(pair.a, () -> pair.run(deadlineNs - pair.wire.nowNs()));
    }

    // ---------------------------------------------------------------- questions

    /** The next PSN to send and the next to receive, where the state has them; and when a posted receive is to be told. */
    @TestFactory
    Stream<DynamicTest> eachQuestion() {
        Table table = new Table(
                """
                        event          | RESET | INIT | RTR | RTS | SQD | ERR
                        send PSN       | 0     | 0    | 0   | 102 | 102 | 102
                        receive PSN    | unset | unset | 101 | 101 | 101 | unset
                        wants doorbell | no    | no   | no  | no  | no  | yes
                        deadline       | never | never | never | soon | soon | never
                        """,
                "");
        return table.compare(List.of("send PSN", "receive PSN", "wants doorbell", "deadline"),
                names(STATES), (row, column) -> answer(row, QueuePairState.valueOf(column)));
    }

    private static String answer(String question, QueuePairState state) {
        boolean canSend = state == QueuePairState.RTS || state == QueuePairState.SQD
                || state == QueuePairState.ERR;
        RcPair pair = pair(canSend ? QueuePairState.RTS : state, QueuePairState.RTS);
        if (canSend || state == QueuePairState.RTR) {
            pair.b.write(0, SHORT);
            pair.settle();
        }
        if (canSend) {
            pair.b.isStopped = true;
            pair.a.write(1, SHORT);
            pair.a.write(2, SHORT);
            pair.run(1);
        }
        leave(pair, state);
        QueuePairAttributes attributes = new QueuePairAttributes();
        pair.a.queuePair.query(attributes);
        return switch (question) {
            case "send PSN" -> Integer.toString(attributes.sendPsn());
            case "receive PSN" -> attributes.isSet(QueuePairAttribute.RECEIVE_PSN)
                    ? Integer.toString(attributes.receivePsn())
                    : "unset";
            case "wants doorbell" -> pair.a.queuePair.wantsReceiveDoorbell() ? "yes" : "no";
            default -> pair.a.queuePair.deadlineNs() == Long.MAX_VALUE ? "never" : "soon";
        };
    }

    /** A host may tell of every receive, whether that was asked for or not. */
    @TestFactory
    Stream<DynamicTest> receivesThatAreToldOfThoughNobodyAsked() {
        return STATES.stream().filter(state -> state != QueuePairState.ERR)
                .map(state -> DynamicTest.dynamicTest(state.name(), () -> {
                    RcPair pair = pair(state, QueuePairState.RTS);
                    pair.a.receive(7, SHORT);
                    assertThat(Effects.of(pair.a,
                            () -> pair.a.queuePair.onReceivePosted(pair.wire.nowNs())))
                            .isEqualTo("-");
                    assertThat(pair.a.receives.available()).isOne();
                }));
    }

    @Test
    void queuePairWithASharedQueueWantsNoDoorbell() {
        RcPair.Settings settings = new RcPair.Settings();
        settings.hasSharedReceives = true;
        RcPair pair = new RcPair(settings);
        pair.a.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        assertThat(pair.a.queuePair.wantsReceiveDoorbell()).isFalse();
    }

    @Test
    void drainedQueueIsReportedIfAskedForAndOnlyThen() {
        RcPair pair = pair(QueuePairState.RTS, QueuePairState.RTS);
        for (boolean isReported : new boolean[]{false, true, false}) {
            pair.a.events.clear();
            pair.a.modify(new QueuePairAttributes().state(QueuePairState.SQD)
                    .enableSqdAsyncNotify(isReported));
            assertThat(pair.a.events).hasSize(isReported ? 1 : 0);
            // Within the state nothing more is reported.
            pair.a.modify(new QueuePairAttributes().state(QueuePairState.SQD));
            assertThat(pair.a.events).hasSize(isReported ? 1 : 0);
            pair.a.modify(new QueuePairAttributes().state(QueuePairState.RTS));
        }
    }

    // ---------------------------------------------------------------- transitions

    /**
     * What is under way: a receive (7) from INIT on, a SEND that waits for its acknowledgement (1) from RTS on, one that
     * was posted in SQD (2). {@code refused} means that no transition leads there.
     */
    @TestFactory
    Stream<DynamicTest> eachTransition() {
        Table table = new Table(
                """
                        event    | RESET   | INIT            | RTR             | RTS                        | SQD                                   | ERR
                        to RESET | refused | >RESET          | >RESET          | >RESET                     | >RESET                                | >RESET
                        to INIT  | >INIT   | -               | refused         | refused                    | refused                               | refused
                        to RTR   | refused | >RTR            | refused         | refused                    | refused                               | refused
                        to RTS   | refused | refused         | >RTS            | -                          | SEND_ONLY 1, >RTS                     | refused
                        to SQD   | refused | refused         | refused         | >SQD                       | -                                     | refused
                        to SQE   | refused | refused         | refused         | refused                    | refused                               | refused
                        to ERR   | refused | 7 flushed, >ERR | 7 flushed, >ERR | 1 flushed, 7 flushed, >ERR | 1 flushed, 2 flushed, 7 flushed, >ERR | -
                        """,
                "");
        return table.compare(
                Arrays.stream(QueuePairState.values()).map(state -> "to " + state).toList(),
                names(STATES),
                (row, column) -> transition(QueuePairState.valueOf(column),
                        QueuePairState.valueOf(row.substring("to ".length()))));
    }

    private static String transition(QueuePairState from, QueuePairState to) {
        RcPair pair = pair(QueuePairState.INIT, QueuePairState.RTS);
        pair.b.isStopped = true;
        if (from == QueuePairState.RESET) {
            pair.a.modify(pair.a.attributesFor(QueuePairState.RESET));
        } else {
            pair.a.receive(7, SHORT);
        }
        for (QueuePairState next : List.of(QueuePairState.RTR, QueuePairState.RTS, from)) {
            if (pair.a.queuePair.state() == from || from == QueuePairState.RESET) {
                break;
            }
            pair.a.modify(pair.a.attributesFor(next));
            if (next == QueuePairState.RTS) {
                pair.a.send(1, SHORT);
                pair.run(100_000);
            }
        }
        if (from == QueuePairState.SQD) {
            pair.a.send(2, SHORT);
        }
        QueuePairAttributes attributes = pair.a.attributesFor(to);
        try {
            InfinibandTransitions.INSTANCE.check(QueuePairType.RC, from, attributes);
        } catch (RdmaException refused) {
            return "refused";
        }
        return Effects.of(pair.a, () -> pair.a.modify(attributes));
    }

    @Test
    void drainedSendQueueIsToldWhenItsLastRequestEnds() {
        RcPair pair = pair(QueuePairState.RTS, QueuePairState.RTS);
        pair.a.write(1, SHORT);
        pair.run(1);
        pair.a.modify(new QueuePairAttributes().state(QueuePairState.SQD)
                .enableSqdAsyncNotify(true));
        assertThat(pair.a.events).isEmpty();
        pair.settle();
        pair.a.assertCompleted("1 SUCCESS");
        assertThat(pair.a.events).containsExactly(AsyncEventType.SEND_QUEUE_DRAINED);
    }

    @Test
    void sendQueueThatIsIdleIsDrainedAtOnce() {
        RcPair pair = pair(QueuePairState.RTS, QueuePairState.RTS);
        pair.a.modify(new QueuePairAttributes().state(QueuePairState.SQD)
                .enableSqdAsyncNotify(true));
        assertThat(pair.a.events).containsExactly(AsyncEventType.SEND_QUEUE_DRAINED);
    }
}
