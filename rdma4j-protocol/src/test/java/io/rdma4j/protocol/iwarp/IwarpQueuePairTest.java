// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.iwarp;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.iwarp.StreamPair.Settings;
import io.rdma4j.protocol.iwarp.wire.OutgoingFpdu;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendOpcode;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

/** What a queue pair does with requests and units, one behaviour a test. */
class IwarpQueuePairTest {
    private final StreamPair pair = new StreamPair();
    private final StreamEnd a = pair.initiator;
    private final StreamEnd b = pair.responder;

    // [RFC 5040 5.3-1] [RFC 5040 5.5-3] [RFC 5041 4.1-2] [RFC 5041 5.2-1] [RFC 5041 5.2-2]
    // [RFC 5041 5.4-1] [RFC 5044 4.3-2]
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4123, 4124, 4125, 100_000})
    void sendFillsAReceive(int length) {
        b.receive(10, StreamEnd.UPPER);
        a.send(1, length);
        pair.settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(b.completions).singleElement().satisfies(c -> {
            assertThat(c.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE);
            assertThat(c.byteLength()).isEqualTo(length);
        });
        assertThat(b.hasBytesOf(a, length)).isTrue();
    }

    // [RFC 5040 5.1-1] [RFC 5041 5.2-3]
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4128, 4129, 100_000})
    void writeReachesMemoryAndNobodyIsTold(int length) {
        a.write(1, length, b);
        pair.settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(b.completions).isEmpty();
        assertThat(b.hasBytesOf(a, length)).isTrue();
    }

    // [RFC 5040 4.4-1] [RFC 5040 5.5-2]
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 4128, 4129, 100_000})
    void readBringsThePeersMemory(int length) {
        a.read(1, length, b);
        pair.settle();
        assertThat(a.completions).singleElement()
                .satisfies(c -> assertThat(c.byteLength()).isEqualTo(length));
        a.assertCompleted("1 SUCCESS");
        assertThat(a.hasBytesOf(b, length)).isTrue();
    }

    // [RFC 5040 5.2.1-1]
    @Test
    void readIntoSeveralElementsIsAskedForPieceByPiece() {
        long to = a.address + StreamEnd.UPPER;
        a.post(StreamEnd.request(1).read(b.address, b.key).add(to, 5000, a.key)
                .add(to + 5000, 0, a.key).add(to + 5000, 7, a.key).add(to + 5007, 20_000, a.key));
        pair.settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(a.hasBytesOf(b, 25_007)).isTrue();
    }

    // [RFC 5040 5.2.1-2] [RFC 5040 5.2.2-2] [RFC 5040 5.5-1]
    @Test
    void requestsCompleteInOrderThoughAnswersTakeLonger() {
        b.receive(10, 100);
        for (int i = 0; i < 9; i++) {
            a.read(i, 20_000, b);
        }
        a.send(9, 10);
        pair.settle();
        assertThat(a.completions).extracting(StreamEnd.Completion::id).containsExactly(0L, 1L, 2L,
                3L, 4L, 5L, 6L, 7L, 8L, 9L);
    }

    @Test
    void fenceWaitsForEarlierReads() {
        b.receive(10, 100);
        // The SEND carries what the READ has brought.
        a.read(1, 50, b);
        a.post(StreamEnd.request(2).send().add(a.address + StreamEnd.UPPER, 50, a.key)
                .set(SendFlag.FENCE));
        pair.settle();
        a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(MemorySegment.mismatch(b.memory, StreamEnd.UPPER, StreamEnd.UPPER + 50,
                b.memory, 0, 50)).isEqualTo(-1);
    }

    // [RFC 5040 5.3-3]
    @Test
    void solicitedSendSaysSoAndInvalidationNamesTheKey() {
        b.receive(10, 100);
        b.receive(11, 100);
        b.regions.windowKeys.add(0x777);
        a.post(StreamEnd.request(1).send().add(a.address, 5, a.key).set(SendFlag.SOLICITED));
        a.post(StreamEnd.request(2).sendWithInvalidate(0x777).add(a.address, 5, a.key));
        pair.settle();
        assertThat(b.completions).extracting(StreamEnd.Completion::isSolicited)
                .containsExactly(true, false);
        assertThat(b.completions).extracting(StreamEnd.Completion::invalidated)
                .containsExactly(null, 0x777);
        assertThat(b.regions.windowKeys).isEmpty();
    }

    @Test
    void localRequestsTakeTheirTurnAndNoUnit() {
        a.write(1, 10, b);
        a.post(StreamEnd.request(2).localInvalidate(0x888));
        a.write(3, 10, b);
        pair.settle();
        a.assertCompleted("1 SUCCESS", "2 SUCCESS", "3 SUCCESS");
        assertThat(a.regions.carriedOut).containsExactly(2L);
    }

    /** So that a host can send a message's last bytes together with those before. */
    // [RFC 5041 4.1-1]
    @Test
    void aMessageGoesOnUntilItsLastUnit() {
        Settings settings = new Settings();
        settings.longestUnit = 64;
        StreamPair other = new StreamPair(settings);
        other.work();
        other.initiator.write(1, 100, other.responder);
        IwarpQueuePair sender = other.initiator.queuePair;
        OutgoingFpdu unit = new OutgoingFpdu();
        List<Boolean> goesOn = new ArrayList<>();
        while (sender.pollTransmit(unit, 0) != null) {
            goesOn.add(sender.isWithinMessage());
        }
        assertThat(goesOn).containsExactly(true, true, false);
    }

    // [RFC 5041 4.1-1]
    @Test
    void anAnswerGoesOnUntilItsLastUnit() {
        Settings settings = new Settings();
        settings.longestUnit = 64;
        StreamPair other = new StreamPair(settings);
        other.work();
        other.initiator.read(1, 100, other.responder);
        other.initiator.work(0);
        IwarpQueuePair answerer = other.responder.queuePair;
        OutgoingFpdu unit = new OutgoingFpdu();
        List<Boolean> goesOn = new ArrayList<>();
        other.responder.takeAll();
        while (answerer.pollTransmit(unit, 0) != null) {
            goesOn.add(answerer.isWithinMessage());
        }
        assertThat(goesOn).containsExactly(true, true, false);
    }

    // ---------------------------------------------------------------- who may send first

    // [RFC 5044 7.1.2-3] [RFC 6581 5-1]
    @ParameterizedTest
    @EnumSource(value = ReadyToReceive.class, names = {"WRITE", "READ"})
    void responderSendsOnceTheInitiatorHasSaidThatItListens(ReadyToReceive first) {
        Settings settings = new Settings();
        settings.first = first;
        StreamPair other = new StreamPair(settings);
        other.initiator.receive(10, 100);
        other.responder.send(1, 50);
        other.responder.work(0);
        assertThat(other.responder.out.record()).isEmpty();
        other.work();
        other.responder.assertCompleted("1 SUCCESS");
        other.initiator.assertCompleted("10 SUCCESS");
        assertThat(other.responder.hasReceived).isTrue();
    }

    @Test
    void eachUnitOfThePeerIsCounted() {
        Settings settings = new Settings();
        settings.longestUnit = 64;
        StreamPair other = new StreamPair(settings);
        other.responder.receive(10, 100);
        other.initiator.send(1, 100);
        other.work();
        // The one that the responder waits for, and three of the message.
        assertThat(other.responder.counted).containsExactly(entry(Counter.RCVD_PKTS, 4L));
    }

    // [RFC 5044 7.1.2-3]
    @Test
    void responderThatHearsNothingHoldsItsSendsForAWhile() {
        Settings settings = new Settings();
        settings.first = ReadyToReceive.NONE;
        StreamPair other = new StreamPair(settings);
        other.initiator.receive(10, 100);
        other.responder.send(1, 50);
        other.work();
        assertThat(other.responder.out.record()).isEmpty();
        assertThat(other.responder.queuePair.deadlineNs()).isEqualTo(StreamPair.HOLD_NS);
        other.settle();
        other.initiator.assertCompleted("10 SUCCESS");
    }

    /** What is sent now would come to siw together with the reply, and break it. */
    @Test
    void responderWhoseReplyIsLostHoldsItsSendsUntilAWhileAfterItHasArrived() {
        Settings settings = new Settings();
        settings.first = ReadyToReceive.NONE;
        StreamPair other = new StreamPair(settings);
        StreamEnd responder = other.responder;
        other.initiator.receive(10, 100);
        responder.send(1, 50);
        responder.isAcknowledged = false;
        other.settle();
        assertThat(responder.out.record()).isEmpty();
        responder.isAcknowledged = true;
        long arrivedNs = responder.queuePair.deadlineNs();
        responder.work(arrivedNs);
        assertThat(responder.out.record()).isEmpty();
        assertThat(responder.queuePair.deadlineNs()).isEqualTo(arrivedNs + StreamPair.HOLD_NS);
        other.settle();
        other.initiator.assertCompleted("10 SUCCESS");
    }

    @Test
    void responderWhosePeerHasVanishedAsksMoreAndMoreRarelyWhetherItsReplyHasArrived() {
        Settings settings = new Settings();
        settings.first = ReadyToReceive.NONE;
        StreamEnd responder = new StreamPair(settings).responder;
        responder.send(1, 50);
        responder.isAcknowledged = false;
        long nowNs = responder.queuePair.deadlineNs();
        for (long intervalNs : new long[]{10_000_000, 20_000_000, 40_000_000, 80_000_000,
            160_000_000, 320_000_000, 640_000_000, 1_000_000_000, 1_000_000_000}) {
            responder.work(nowNs);
            assertThat(responder.queuePair.deadlineNs() - nowNs).isEqualTo(intervalNs);
            nowNs += intervalNs;
        }
        assertThat(responder.out.record()).isEmpty();
    }

    /** Linux's siw overlooks what arrives while it still accepts, until more arrives. */
    @Test
    void initiatorThatHearsNothingSaysAFewTimesMoreThatItIsThere() {
        StreamPair other = new StreamPair();
        other.initiator.work(0);
        int once = other.initiator.out.record().length;
        assertThat(once).isPositive();
        long[] times = {100_000_000, 300_000_000, 700_000_000, 1_500_000_000L, 3_100_000_000L};
        for (int i = 0; i < times.length; i++) {
            assertThat(other.initiator.queuePair.deadlineNs()).isEqualTo(times[i]);
            other.initiator.work(times[i] - 1);
            assertThat(other.initiator.out.record()).hasSize(once * (i + 1));
            other.initiator.work(times[i]);
            assertThat(other.initiator.out.record()).hasSize(once * (i + 2));
        }
        assertThat(other.initiator.queuePair.deadlineNs()).isEqualTo(Long.MAX_VALUE);
        other.initiator.receive(10, 100);
        other.responder.send(1, 50);
        other.work();
        other.initiator.assertCompleted("10 SUCCESS");
    }

    @Test
    void initiatorThatHasHeardThePeerSaysNothingOfItself() {
        StreamPair other = new StreamPair();
        other.initiator.receive(10, 100);
        other.responder.send(1, 50);
        other.work();
        int sent = other.initiator.out.record().length;
        assertThat(other.initiator.queuePair.deadlineNs()).isEqualTo(Long.MAX_VALUE);
        other.settle();
        assertThat(other.initiator.out.record()).hasSize(sent);
    }

    @Test
    void responderAnswersAReadThoughItHoldsItsSends() {
        Settings settings = new Settings();
        settings.first = ReadyToReceive.NONE;
        StreamPair other = new StreamPair(settings);
        other.initiator.read(1, 50, other.responder);
        other.work();
        other.initiator.assertCompleted("1 SUCCESS");
    }

    // ---------------------------------------------------------------- no way to get stuck

    /** Both sides READ more than fits into the stream, and neither reads it before it has written. */
    @Test
    void readsInBothDirectionsDoNotWaitForEachOther() {
        Settings settings = new Settings();
        settings.room = 64;
        StreamPair tiny = new StreamPair(settings);
        for (int i = 0; i < 20; i++) {
            tiny.initiator.read(i, StreamEnd.UPPER, tiny.responder);
            tiny.responder.read(i, StreamEnd.UPPER, tiny.initiator);
        }
        tiny.settle();
        assertThat(tiny.initiator.completions).hasSize(20);
        assertThat(tiny.responder.completions).hasSize(20);
        assertThat(tiny.initiator.hasBytesOf(tiny.responder, StreamEnd.UPPER)).isTrue();
        assertThat(tiny.responder.hasBytesOf(tiny.initiator, StreamEnd.UPPER)).isTrue();
    }

    @Test
    void answersAndRequestsTakeTurns() {
        b.receive(10, StreamEnd.UPPER);
        a.read(1, 100_000, b);
        b.write(2, 100_000, a);
        a.send(3, 100_000);
        pair.settle();
        a.assertCompleted("1 SUCCESS", "3 SUCCESS");
        b.assertCompleted("2 SUCCESS", "10 SUCCESS");
    }

    // ---------------------------------------------------------------- failures of this side

    // [RFC 5040 7.1-2]
    @Test
    void requestWithAForeignKeyFailsAndEndsTheStream() {
        b.receive(10, 100);
        a.send(1, 10);
        a.post(StreamEnd.request(2).send().add(a.address, 10, 0x1234));
        a.send(3, 10);
        pair.settle();
        a.assertCompleted("1 SUCCESS", "2 LOCAL_PROTECTION_ERROR", "3 WORK_REQUEST_FLUSHED");
        // The completion says more than the Terminate.
        assertThat(a.terminations).isEmpty();
        assertThat(b.terminations).containsExactly("hears: local catastrophic error");
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    @Test
    void readWhoseOwnMemoryMayNotBeWrittenFails() {
        a.regions.register(0x99, 0x5000, a.memory, Set.of());
        a.post(StreamEnd.request(1).read(b.address, b.key).add(0x5000, 10, 0x99));
        pair.settle();
        a.assertCompleted("1 LOCAL_PROTECTION_ERROR");
    }

    @Test
    void readThatWasNotAgreedOnFailsInsteadOfWaiting() {
        Settings settings = new Settings();
        settings.reads = 0;
        StreamPair other = new StreamPair(settings);
        other.initiator.read(1, 10, other.responder);
        other.settle();
        other.initiator.assertCompleted("1 LOCAL_QP_OPERATION_ERROR");
    }

    @Test
    void memoryThatIsGoneWhenItIsCopiedFailsItsRequest() {
        try (Arena arena = Arena.ofShared()) {
            a.regions.register(0x99, 0x5000, arena.allocate(100), Set.of());
        }
        a.post(StreamEnd.request(1).send().add(0x5000, 10, 0x99));
        a.send(2, 10);
        pair.settle();
        a.assertCompleted("1 LOCAL_PROTECTION_ERROR", "2 WORK_REQUEST_FLUSHED");
        assertThat(b.terminations).containsExactly("hears: local catastrophic error");
    }

    // [RFC 5040 7.1-2]
    @Test
    void memoryThatIsGoneWhenAReadIsAnsweredEndsTheStream() {
        try (Arena arena = Arena.ofShared()) {
            b.regions.register(0x99, 0x5000, arena.allocate(100), Set.of(AccessFlag.REMOTE_READ));
        }
        a.post(StreamEnd.request(1).read(0x5000, 0x99).add(a.address + StreamEnd.UPPER, 10,
                a.key));
        pair.settle();
        a.assertCompleted("1 WORK_REQUEST_FLUSHED");
        assertThat(b.events).containsExactly(AsyncEventType.QP_ACCESS_ERROR);
        assertThat(a.terminations).containsExactly("hears: local catastrophic error");
    }

    // ---------------------------------------------------------------- whose turn

    private static List<String> unitsOf(StreamEnd end) {
        OutgoingFpdu unit = new OutgoingFpdu();
        List<String> units = new ArrayList<>();
        while (end.queuePair.pollTransmit(unit, 0) != null) {
            units.add(unit.opcode().name());
        }
        return units;
    }

    private static StreamPair withUnitsOf64Bytes() {
        Settings settings = new Settings();
        settings.longestUnit = 64;
        StreamPair other = new StreamPair(settings);
        other.work();
        return other;
    }

    @Test
    void messagesAndAnswersTakeTurnsAndNeverMix() {
        StreamPair other = withUnitsOf64Bytes();
        other.initiator.read(1, 80, other.responder);
        other.initiator.read(2, 10, other.responder);
        other.initiator.work(0);
        other.responder.takeAll();
        for (int id = 3; id < 6; id++) {
            other.responder.write(id, 80, other.initiator);
        }
        assertThat(unitsOf(other.responder)).containsExactly("WRITE", "WRITE", "READ_RESPONSE",
                "READ_RESPONSE", "WRITE", "WRITE", "READ_RESPONSE", "WRITE", "WRITE");
    }

    @Test
    void fencedReadAsksForAllItsElementsAtOnce() {
        long to = a.address + StreamEnd.UPPER;
        a.work(0);
        a.post(StreamEnd.request(1).read(b.address, b.key).add(to, 10, a.key)
                .add(to + 10, 10, a.key).set(SendFlag.FENCE));
        assertThat(unitsOf(a)).containsExactly("READ_REQUEST", "READ_REQUEST");
        a.post(StreamEnd.request(2).read(b.address, b.key).add(to, 10, a.key)
                .set(SendFlag.FENCE));
        assertThat(unitsOf(a)).isEmpty();
    }

    // [RFC 5040 4.4-1] [RFC 5040 5.2.1-4]
    @Test
    void readOfNothingNamesNoMemory() {
        a.post(StreamEnd.request(1).read(b.address, b.key).add(0, 0, 0x1234));
        a.post(StreamEnd.request(2).read(b.address, b.key)
                .add(a.address + StreamEnd.UPPER, 0, a.key)
                .add(a.address + StreamEnd.UPPER, 7, a.key));
        pair.settle();
        a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(a.hasBytesOf(b, 7)).isTrue();
    }

    // [RFC 5041 5.2-4]
    @Test
    void writeOfNothingNamesNoMemory() {
        a.post(StreamEnd.request(1).write(b.address - 1, 0x4444).add(a.address, 0, a.key));
        pair.settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    // [RFC 5040 6.1-2]
    @Test
    void noMoreReadsAreUnderWayThanAgreed() {
        Settings settings = new Settings();
        settings.first = ReadyToReceive.NONE;
        settings.reads = 3;
        StreamPair other = new StreamPair(settings);
        for (int i = 0; i < 7; i++) {
            other.initiator.read(i, 10, other.responder);
        }
        assertThat(unitsOf(other.initiator)).containsExactly("READ_REQUEST", "READ_REQUEST",
                "READ_REQUEST");
    }

    /** A length could name 767 bytes more. RFC 5044 3. */
    // [RFC 5041 5.2-1] [RFC 5044 3-1]
    @Test
    void unitIsNoLongerThanTheStandardAllows() {
        Settings settings = new Settings();
        settings.longestUnit = 1 << 17;
        settings.room = 1 << 18;
        StreamPair other = new StreamPair(settings);
        other.work();
        other.initiator.write(1, 100_000, other.responder);
        OutgoingFpdu unit = other.initiator.queuePair.pollTransmit(new OutgoingFpdu(), 0);
        assertThat(unit).isNotNull();
        // The length, what it counts, and the CRC.
        assertThat(unit.length()).isLessThanOrEqualTo(2 + 64_768 + 4).isGreaterThan(64_700);
    }

    // [RFC 5040 5.3-3]
    @Test
    void solicitedSendMayInvalidateAKeyAsWell() {
        b.receive(10, 100);
        b.regions.windowKeys.add(0x777);
        a.post(StreamEnd.request(1).sendWithInvalidate(0x777).add(a.address, 5, a.key)
                .set(SendFlag.SOLICITED));
        pair.settle();
        assertThat(b.completions).singleElement().satisfies(c -> {
            assertThat(c.isSolicited()).isTrue();
            assertThat(c.invalidated()).isEqualTo(0x777);
        });
    }

    /** A message of less than 2^32 bytes has its place in 32 bits; here the receive is as long as the message. */
    @Test
    void receiveThatTakesJustTheMessageTakesIt() {
        b.receive(10, 100_000);
        a.send(1, 100_000);
        pair.settle();
        b.assertCompleted("10 SUCCESS");
    }

    // ---------------------------------------------------------------- what the host asks

    @Test
    void numbersOfReadsAreKnownWhileItIsConnected() {
        Settings settings = new Settings();
        settings.reads = 3;
        StreamPair other = new StreamPair(settings);
        QueuePairAttributes attributes = new QueuePairAttributes();
        other.initiator.queuePair.query(attributes);
        assertThat(attributes.maxReadAtomic()).isEqualTo(3);
        assertThat(attributes.maxDestinationReadAtomic()).isEqualTo(3);
        other.initiator.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        QueuePairAttributes none = new QueuePairAttributes();
        other.initiator.queuePair.query(none);
        assertThat(none.isSet(QueuePairAttribute.MAX_READ_ATOMIC)).isFalse();
    }

    @Test
    void receivesAreLookedAtWhenTheyArriveOnlyInTheErrorState() {
        assertThat(a.queuePair.wantsReceiveDoorbell()).isFalse();
        a.receive(10, 100);
        a.queuePair.onReceivePosted(0);
        assertThat(a.receives.available()).isOne();
        a.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        assertThat(a.queuePair.wantsReceiveDoorbell()).isTrue();
    }

    @Test
    void responderThatHoldsNothingBackHasNoDeadline() {
        Settings settings = new Settings();
        settings.first = ReadyToReceive.NONE;
        StreamPair other = new StreamPair(settings);
        IwarpQueuePair responder = other.responder.queuePair;
        assertThat(responder.deadlineNs()).isEqualTo(Long.MAX_VALUE);
        other.responder.send(1, 10);
        assertThat(responder.deadlineNs()).isEqualTo(StreamPair.HOLD_NS);
        // A host may call too early.
        responder.onDeadline(StreamPair.HOLD_NS - 1);
        assertThat(responder.deadlineNs()).isEqualTo(StreamPair.HOLD_NS);
        assertThat(unitsOf(other.responder)).isEmpty();
        responder.onDeadline(StreamPair.HOLD_NS);
        assertThat(unitsOf(other.responder)).containsExactly("SEND");
        other.responder.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        assertThat(responder.deadlineNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void initiatorThatIsAskedTooEarlyRepeatsNothing() {
        a.work(0);
        a.queuePair.onDeadline(1);
        assertThat(unitsOf(a)).isEmpty();
    }

    // [RFC 5040 5.5-4] [RFC 5041 3-1] [RFC 5044 3-2] [RFC 5044 5.1-1] [RFC 5044 5.2-1]
    @Test
    void bytesAreUsedByWholeUnitsFromAnyOffset() {
        a.work(0);
        a.write(1, 20, b);
        a.write(2, 20, b);
        a.work(0);
        byte[] sent = a.out.record();
        MemorySegment bytes = MemorySegment.ofArray(new byte[sent.length + 7]);
        MemorySegment.copy(MemorySegment.ofArray(sent), 0, bytes, 7, sent.length);
        long used = b.queuePair.onBytes(bytes, 7, sent.length - 1, 0);
        assertThat(used).isPositive().isLessThan(sent.length - 1);
        assertThat(b.queuePair.onBytes(bytes, 7 + used, sent.length - used, 0))
                .isEqualTo(sent.length - used);
        assertThat(b.hasBytesOf(a, 20)).isTrue();
    }

    // [RFC 5040 7.1-3] [RFC 5041 7.1-3] [RFC 5044 8-2]
    @Test
    void bytesBehindTheEndAreIgnored() {
        b.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        assertThat(b.queuePair.onBytes(MemorySegment.ofArray(new byte[100]), 0, 100, 0))
                .isEqualTo(100);
        assertThat(b.events).isEmpty();
        assertThat(b.terminations).isEmpty();
    }

    @Test
    void streamThatEndsBeforeItIsConnectedChangesNothing() {
        a.modify(new QueuePairAttributes().state(QueuePairState.RESET));
        a.modify(new QueuePairAttributes().state(QueuePairState.INIT));
        a.receive(10, 100);
        a.queuePair.onStreamEnd();
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.INIT);
        assertThat(a.completions).isEmpty();
    }

    // [RFC 5041 6.2.2-1]
    @Test
    void changeOfStateIsToldOnce() {
        pair.work();
        a.out.cut();
        b.out.cut();
        pair.settle();
        assertThat(a.states).containsExactly(QueuePairState.ERR);
        assertThat(b.states).containsExactly(QueuePairState.ERR);
    }

    @Test
    void peerWhoseFirstWordIsItsLastIsNotReady() {
        b.post(StreamEnd.request(1).send().add(b.address, 10, 0x1234));
        pair.settle();
        assertThat(a.terminations).containsExactly("hears: local catastrophic error");
        assertThat(a.hasReceived).isFalse();
    }

    @Test
    void disconnectingAnswersFirstWhatWasAsked() {
        StreamPair other = withUnitsOf64Bytes();
        other.initiator.read(1, 80, other.responder);
        other.initiator.work(0);
        other.responder.takeAll();
        other.responder.queuePair.disconnect();
        assertThat(other.responder.queuePair.isOver()).isFalse();
        other.settle();
        other.initiator.assertCompleted("1 SUCCESS");
        assertThat(other.responder.queuePair.isOver()).isTrue();
    }

    // ---------------------------------------------------------------- memory that goes meanwhile

    // [RFC 5040 8.1.1-2]
    @Test
    void writeIntoMemoryWhoseArenaIsClosedEndsTheStream() {
        try (Arena arena = Arena.ofShared()) {
            b.regions.register(0x99, 0x5000, arena.allocate(100), Set.of(AccessFlag.REMOTE_WRITE));
        }
        a.post(StreamEnd.request(1).write(0x5000, 0x99).add(a.address, 10, a.key));
        pair.settle();
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(b.events).containsExactly(AsyncEventType.QP_ACCESS_ERROR);
        assertThat(b.terminations).containsExactly("says: invalid STag");
        assertThat(a.terminations).containsExactly("hears: invalid STag");
    }

    // [RFC 5040 8.1.1-2]
    @Test
    void readWhoseMemoryIsDeregisteredBeforeItsAnswerEndsTheStream() {
        a.read(1, 10, b);
        a.work(0);
        b.takeAll();
        b.regions.close(b.key);
        pair.settle();
        assertThat(b.events).containsExactly(AsyncEventType.QP_ACCESS_ERROR);
        a.assertCompleted("1 WORK_REQUEST_FLUSHED");
        assertThat(a.terminations).containsExactly("hears: local catastrophic error");
    }

    @Test
    void bindThatFailsEndsTheStream() {
        a.regions.localOutcome = WorkCompletionStatus.MEMORY_WINDOW_BIND_ERROR;
        a.send(1, 0);
        a.post(StreamEnd.request(2).opcode(SendOpcode.BIND_MEMORY_WINDOW));
        a.send(3, 0);
        b.receive(10, 0);
        b.receive(11, 0);
        pair.settle();
        a.assertCompleted("1 SUCCESS", "2 MEMORY_WINDOW_BIND_ERROR", "3 WORK_REQUEST_FLUSHED");
        assertThat(b.terminations).containsExactly("hears: local catastrophic error");
    }

    /** Its bytes have all been copied into the stream; only nobody has asked for more since. */
    // [RFC 5040 5.5-1]
    @Test
    void requestThatWasSentSucceedsThoughTheStreamEnds() {
        OutgoingFpdu unit = new OutgoingFpdu();
        a.work(0);
        a.write(1, 10, b);
        a.write(2, 10, b);
        assertThat(a.queuePair.pollTransmit(unit, 0)).isNotNull();
        a.modify(new QueuePairAttributes().state(QueuePairState.ERR));
        a.assertCompleted("1 SUCCESS", "2 WORK_REQUEST_FLUSHED");
    }

    // ---------------------------------------------------------------- the end

    // [RFC 5041 6.2.1-1]
    @Test
    void disconnectingSendsFirstWhatWasPosted() {
        b.receive(10, StreamEnd.UPPER);
        b.receive(11, 100);
        a.send(1, 100_000);
        a.queuePair.disconnect();
        assertThat(a.queuePair.isOver()).isFalse();
        pair.settle();
        a.assertCompleted("1 SUCCESS");
        b.assertCompleted("10 SUCCESS", "11 WORK_REQUEST_FLUSHED");
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(b.terminations).isEmpty();
    }

    // [RFC 5041 6.2.2-1]
    @Test
    void endOfTheStreamFlushesEverything() {
        a.receive(10, 100);
        pair.work();
        a.read(1, 100, b);
        b.out.cut();
        a.work(0);
        a.work(0);
        a.assertCompleted("1 WORK_REQUEST_FLUSHED", "10 WORK_REQUEST_FLUSHED");
        a.send(2, 10);
        a.receive(11, 10);
        a.assertCompleted("2 WORK_REQUEST_FLUSHED", "11 WORK_REQUEST_FLUSHED");
    }

    // [RFC 5041 6.2.1-1]
    @Test
    void errorStateEndsTheStreamWithoutAWord() {
        a.receive(10, 100);
        pair.work();
        a.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERR), QueuePairState.ERR,
                0);
        a.assertCompleted("10 WORK_REQUEST_FLUSHED");
        assertThat(a.queuePair.isOver()).isTrue();
        pair.settle();
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
        assertThat(b.terminations).isEmpty();
    }

    @Test
    void peerThatNamesTheReadItCannotAnswerFailsThatRead() {
        b.receive(10, 100);
        a.read(1, 10, b);
        a.post(StreamEnd.request(2).read(b.address, 0x4321).add(a.address + StreamEnd.UPPER, 10,
                a.key));
        a.send(3, 10);
        pair.settle();
        a.assertCompleted("1 SUCCESS", "2 REMOTE_ACCESS_ERROR", "3 WORK_REQUEST_FLUSHED");
        assertThat(b.terminations).containsExactly("says: invalid STag");
    }
}
