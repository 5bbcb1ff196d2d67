// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.unreliable;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Messages without acknowledgements: what arrives whole counts, and everything else is dropped. IBTA 9.8.2. */
class UcQueuePairTest {
    private static final int MTU = 1024;
    private static final int THREE_PACKETS = 2500;
    private static final int KEY = 5;

    private final UnreliablePair.Settings settings = new UnreliablePair.Settings();
    private UnreliablePair pair = new UnreliablePair();
    private UnreliableEnd a = pair.a;
    private UnreliableEnd b = pair.b;

    private void begin() {
        pair = new UnreliablePair(settings);
        a = pair.a;
        b = pair.b;
    }

    private OutgoingPacket write(Opcode opcode, int index, int payload, long announced) {
        OutgoingPacket packet = a.forge(opcode, index, payload);
        return opcode.hasRdma()
                ? packet.rdma(b.address + UnreliableEnd.UPPER, b.key, announced)
                : packet;
    }

    private void assertDropped(long messages) {
        assertThat(b.counted(Counter.DROPPED_MESSAGE)).isEqualTo(messages);
    }

    private void assertUntouched() {
        assertThat(b.hasPeersBytes(0, 0)).isTrue();
        assertThat(b.completions).isEmpty();
    }

    // ---------------------------------------------------------------- messages

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "0    | SEND_ONLY 0", "1    | SEND_ONLY 0", "1024 | SEND_ONLY 0",
        "1025 | SEND_FIRST 0, SEND_LAST 1", "2048 | SEND_FIRST 0, SEND_LAST 1",
        "2049 | SEND_FIRST 0, SEND_MIDDLE 1, SEND_LAST 2"})
    void sendIsCutByThePathMtuAndFillsAReceive(int length, String packets) {
        b.receive(7, THREE_PACKETS);
        a.send(1, length);
        pair.settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(b.completions).containsExactly(new UnreliableEnd.Completion(7,
                WorkCompletionStatus.SUCCESS, WorkCompletionOpcode.RECEIVE, length,
                null, false, null, false));
        assertThat(b.hasPeersBytes(0, length)).isTrue();
        assertThat(String.join(", ", pair.trace).replace("a>b ", "")).isEqualTo(packets);
        assertThat(b.timesReady).isOne();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "0    | WRITE_ONLY 0", "1024 | WRITE_ONLY 0", "1025 | WRITE_FIRST 0, WRITE_LAST 1",
        "2049 | WRITE_FIRST 0, WRITE_MIDDLE 1, WRITE_LAST 2"})
    void writeReachesMemoryAndNobodyIsTold(int length, String packets) {
        b.receive(7, 100);
        a.write(1, length);
        pair.settle();
        a.assertCompleted("1 SUCCESS");
        assertThat(b.completions).isEmpty();
        assertThat(b.hasPeersBytes(0, length)).isTrue();
        assertThat(b.receives.available()).isOne();
        assertThat(String.join(", ", pair.trace).replace("a>b ", "")).isEqualTo(packets);
        assertDropped(0);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"100  | SEND_ONLY_IMMEDIATE 0",
        "2500 | SEND_FIRST 0, SEND_MIDDLE 1, SEND_LAST_IMMEDIATE 2"})
    void immediateOfASendComesWithIt(int length, String packets) {
        b.receive(7, THREE_PACKETS);
        b.receive(8, THREE_PACKETS);
        a.post(a.request(1).sendWithImmediate(0x1234).add(a.address, length, a.key));
        a.send(2, 10);
        pair.settle();
        assertThat(b.completions).extracting(UnreliableEnd.Completion::immediate)
                .containsExactly(0x1234, null);
        assertThat(String.join(", ", pair.trace).replace("a>b ", "")).startsWith(packets);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {"100  | WRITE_ONLY_IMMEDIATE 0",
        "2500 | WRITE_FIRST 0, WRITE_MIDDLE 1, WRITE_LAST_IMMEDIATE 2"})
    void immediateOfAWriteTakesAReceiveAndReportsTheLength(int length, String packets) {
        b.receive(7, 0);
        a.post(a.request(1).writeWithImmediate(b.address + UnreliableEnd.UPPER, b.key, 0x5678)
                .add(a.address, length, a.key));
        pair.settle();
        assertThat(b.completions).singleElement().satisfies(c -> {
            assertThat(c.opcode()).isEqualTo(WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE);
            assertThat(c.immediate()).isEqualTo(0x5678);
            assertThat(c.byteLength()).isEqualTo(length);
        });
        assertThat(b.hasPeersBytes(0, length)).isTrue();
        assertThat(String.join(", ", pair.trace).replace("a>b ", "")).isEqualTo(packets);
    }

    @Test
    void immediateOfAWriteWithoutAReceiveIsLostAndItsBytesAreNot() {
        a.post(a.request(1).writeWithImmediate(b.address + UnreliableEnd.UPPER, b.key, 0x5678)
                .add(a.address, 100, a.key));
        pair.settle();
        assertThat(b.completions).isEmpty();
        assertThat(b.hasPeersBytes(0, 100)).isTrue();
        assertDropped(1);
    }

    @Test
    void solicitationIsInTheLastPacketAndInTheCompletion() {
        List<Boolean> solicited = new ArrayList<>();
        pair.loseIf(packet -> {
            solicited.add(packet.isSolicited());
            return false;
        });
        b.receive(7, THREE_PACKETS);
        b.receive(8, THREE_PACKETS);
        a.post(a.sendRequest(1, THREE_PACKETS).set(SendFlag.SOLICITED));
        a.send(2, 10);
        pair.settle();
        assertThat(solicited).containsExactly(false, false, true, false);
        assertThat(b.completions).extracting(UnreliableEnd.Completion::isSolicited)
                .containsExactly(true, false);
    }

    @Test
    void messageIsGatheredFromElementsAndScatteredIntoOthers() {
        long to = b.address + UnreliableEnd.UPPER;
        b.post(new ReceiveWorkRequest().id(7).add(to, 1000, b.key).add(to + 1000, 1500, b.key));
        a.post(a.request(1).send().add(a.address, 1500, a.key).add(a.address + 1500, 1000, a.key));
        pair.settle();
        assertThat(b.hasPeersBytes(0, THREE_PACKETS)).isTrue();
    }

    // ---------------------------------------------------------------- losses

    // [IBTA 9.8.2-1]
    @ParameterizedTest
    @ValueSource(strings = {"FIRST", "MIDDLE", "LAST"})
    void lossOfAPacketDropsItsMessageAloneAndKeepsTheReceive(String position) {
        b.receive(7, THREE_PACKETS);
        b.receive(8, THREE_PACKETS);
        pair.loseFirst(packet -> packet.opcode().name().endsWith(position));
        a.send(1, THREE_PACKETS);
        a.send(2, 2000);
        pair.settle();
        a.assertCompleted("1 SUCCESS", "2 SUCCESS");
        assertThat(b.completions).singleElement().satisfies(c -> {
            assertThat(c.id()).isEqualTo(7);
            assertThat(c.byteLength()).isEqualTo(2000);
        });
        assertThat(b.receives.available()).isOne();
        assertDropped(position.equals("FIRST") ? 0 : 1);
        assertThat(b.counted(Counter.OUT_OF_SEQ_REQUEST)).isOne();
    }

    @Test
    void packetThatComesTwiceMakesNoSecondMessage() {
        b.receive(7, THREE_PACKETS);
        b.receive(8, THREE_PACKETS);
        pair.repeatIf(packet -> true);
        a.send(1, THREE_PACKETS);
        pair.settle();
        b.assertCompleted("7 SUCCESS");
        assertThat(b.hasPeersBytes(0, THREE_PACKETS)).isTrue();
        assertThat(b.counted(Counter.DUPLICATE_REQUEST)).isEqualTo(3);
        assertDropped(0);
    }

    @Test
    void packetThatIsOvertakenIsLost() {
        b.receive(7, THREE_PACKETS);
        b.receive(8, THREE_PACKETS);
        pair.holdBackFirst(packet -> packet.opcode() == Opcode.UC_SEND_MIDDLE);
        a.send(1, THREE_PACKETS);
        a.send(2, 100);
        pair.settle();
        assertThat(b.completions).singleElement()
                .satisfies(c -> assertThat(c.byteLength()).isEqualTo(100));
        assertThat(b.counted(Counter.DUPLICATE_REQUEST)).isOne();
        assertDropped(1);
    }

    @Test
    void numberFarOffIsCountedAndHarmsNoMessageUnderWay() {
        b.receive(7, THREE_PACKETS);
        pair.deliver(b, a.forge(Opcode.UC_SEND_FIRST, 0, MTU));
        pair.deliver(b, a.forge(Opcode.UC_SEND_ONLY, 100_000, 10));
        pair.deliver(b, a.forge(Opcode.UC_SEND_LAST, 1, 10));
        b.assertCompleted("7 SUCCESS");
        assertThat(b.counted(Counter.OUT_OF_SEQ_REQUEST)).isOne();
    }

    // ---------------------------------------------------------------- receives

    // [IBTA 9.8.2-3]
    @ParameterizedTest
    @ValueSource(ints = {100, THREE_PACKETS})
    void messageWithoutAReceiveIsDropped(int length) {
        a.send(1, length);
        pair.settle();
        assertUntouched();
        assertDropped(1);
        b.receive(7, 100);
        a.send(2, 50);
        pair.settle();
        b.assertCompleted("7 SUCCESS");
    }

    // [IBTA 9.8.2-3]
    @ParameterizedTest
    @CsvSource({"100, 99", "2500, 2499", "2500, 1023"})
    void messageLongerThanItsReceiveIsDroppedAndTheReceiveWaits(int length, int room) {
        b.receive(7, room);
        a.send(1, length);
        a.send(2, room);
        pair.settle();
        assertThat(b.completions).singleElement().satisfies(c -> {
            assertThat(c.id()).isEqualTo(7);
            assertThat(c.byteLength()).isEqualTo(room);
        });
        assertDropped(1);
    }

    @Test
    void receiveThatTakesJustTheMessageTakesIt() {
        b.receive(7, THREE_PACKETS);
        a.send(1, THREE_PACKETS);
        pair.settle();
        b.assertCompleted("7 SUCCESS");
    }

    /** An error of the receiver, which the sender cannot notice. */
    @Test
    void receiveIntoMemoryThatMayNotBeWrittenFailsTheQueuePair() {
        b.post(new ReceiveWorkRequest().id(7).add(b.address, 100, KEY));
        b.receive(8, 100);
        a.send(1, 50);
        pair.settle();
        a.assertCompleted("1 SUCCESS");
        b.assertCompleted("7 LOCAL_PROTECTION_ERROR", "8 WORK_REQUEST_FLUSHED");
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.ERR);
    }

    // ---------------------------------------------------------------- WRITEs that are not allowed

    @Test
    void writeNeedsTheRightOfTheQueuePair() {
        settings.access = EnumSet.complementOf(EnumSet.of(AccessFlag.REMOTE_WRITE));
        begin();
        a.write(1, 100);
        a.write(2, THREE_PACKETS);
        pair.settle();
        assertUntouched();
        assertDropped(2);
    }

    @Test
    void writeOfNoBytesNeedsTheRightOfTheQueuePairAlone() {
        b.receive(7, 0);
        a.post(a.request(1).writeWithImmediate(0, 0, 1));
        pair.settle();
        b.assertCompleted("7 SUCCESS");

        settings.access = EnumSet.noneOf(AccessFlag.class);
        begin();
        b.receive(7, 0);
        a.post(a.request(1).writeWithImmediate(0, 0, 1));
        pair.settle();
        assertUntouched();
        assertDropped(1);
    }

    @Test
    void writeNeedsTheRightOfTheMemory() {
        b.regions.register(b.key, b.address, b.memory,
                EnumSet.complementOf(EnumSet.of(AccessFlag.REMOTE_WRITE)));
        a.write(1, 100);
        pair.settle();
        assertUntouched();
        assertDropped(1);
    }

    @ParameterizedTest
    @CsvSource({"0, 1, 100", "1, 0, 32769", "-33000, 0, 100"})
    void writeStaysWithinTheMemoryOfItsKey(int offset, int wrongKey, int length) {
        a.post(a.request(1).write(b.address + UnreliableEnd.UPPER + offset, b.key + wrongKey)
                .add(a.address, Math.min(length, UnreliableEnd.MEMORY), a.key));
        pair.settle();
        assertUntouched();
        assertDropped(1);
    }

    @Test
    void writeStopsWhereItsMemoryGoes() {
        pair.deliver(b, write(Opcode.UC_WRITE_FIRST, 0, MTU, MTU + 100));
        b.regions.close(b.key);
        pair.deliver(b, write(Opcode.UC_WRITE_LAST, 1, 100, 0));
        assertThat(b.hasPeersBytes(0, MTU)).isTrue();
        assertDropped(1);
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    // ---------------------------------------------------------------- packets out of place

    // [IBTA 9.8.2-1]
    @ParameterizedTest
    @EnumSource(value = Opcode.class, names = {"UC_SEND_MIDDLE", "UC_SEND_LAST",
        "UC_SEND_LAST_IMMEDIATE", "UC_WRITE_MIDDLE", "UC_WRITE_LAST", "UC_WRITE_LAST_IMMEDIATE"})
    void packetThatContinuesNothingIsIgnored(Opcode opcode) {
        b.receive(7, THREE_PACKETS);
        pair.deliver(b, a.forge(opcode, 0, MTU));
        assertUntouched();
        assertDropped(0);
        pair.deliver(b, a.forge(Opcode.UC_SEND_ONLY, 1, 10));
        b.assertCompleted("7 SUCCESS");
    }

    // [IBTA 9.8.2-1]
    @Test
    void messageThatBeginsWithinAnotherDropsThat() {
        b.receive(7, THREE_PACKETS);
        pair.deliver(b, a.forge(Opcode.UC_SEND_FIRST, 0, MTU));
        pair.deliver(b, write(Opcode.UC_WRITE_ONLY, 1, 10, 10));
        pair.deliver(b, a.forge(Opcode.UC_SEND_LAST, 2, 10));
        assertDropped(1);
        assertThat(b.completions).isEmpty();
        pair.deliver(b, a.forge(Opcode.UC_SEND_ONLY, 3, 10));
        assertThat(b.completions).singleElement()
                .satisfies(c -> assertThat(c.byteLength()).isEqualTo(10));
    }

    @ParameterizedTest
    @CsvSource({"UC_SEND_FIRST, UC_WRITE_LAST", "UC_WRITE_FIRST, UC_SEND_LAST"})
    void messageIsNotContinuedByOneOfTheOtherKind(Opcode first, Opcode last) {
        b.receive(7, THREE_PACKETS);
        pair.deliver(b, write(first, 0, MTU, MTU + 10));
        pair.deliver(b, a.forge(last, 1, 10));
        assertDropped(1);
        assertThat(b.completions).isEmpty();
    }

    // ---------------------------------------------------------------- lengths

    @ParameterizedTest
    @CsvSource({"UC_SEND_FIRST, 1023", "UC_SEND_FIRST, 1025", "UC_SEND_FIRST, 0",
        "UC_SEND_ONLY, 1025", "UC_SEND_ONLY_IMMEDIATE, 1025", "UC_WRITE_FIRST, 1023",
        "UC_WRITE_FIRST, 1025", "UC_WRITE_ONLY, 1025"})
    void packetWhoseLengthIsNotThatOfItsPlaceDropsItsMessage(Opcode opcode, int length) {
        b.receive(7, 2 * THREE_PACKETS);
        pair.deliver(b, write(opcode, 0, length, opcode.isEnd() ? length : 5000));
        assertUntouched();
        assertDropped(1);
    }

    @ParameterizedTest
    @CsvSource({"UC_SEND_MIDDLE, 1023", "UC_SEND_LAST, 1025"})
    void laterPacketWhoseLengthIsNotThatOfItsPlaceDropsItsMessage(Opcode opcode, int length) {
        b.receive(7, 2 * THREE_PACKETS);
        pair.deliver(b, a.forge(Opcode.UC_SEND_FIRST, 0, MTU));
        pair.deliver(b, a.forge(opcode, 1, length));
        assertThat(b.completions).isEmpty();
        assertDropped(1);
    }

    @ParameterizedTest
    @CsvSource({
        // first or only packet, its bytes, what was announced
        "UC_WRITE_ONLY, 10, 11", "UC_WRITE_ONLY, 10, 9", "UC_WRITE_ONLY, 0, 1",
        // Something has to be left for the packets behind it.
        "UC_WRITE_FIRST, 1024, 1024", "UC_WRITE_FIRST, 1024, 1023"})
    void writeThatBringsOtherThanItAnnouncedIsDropped(Opcode opcode, int length, int announced) {
        pair.deliver(b, write(opcode, 0, length, announced));
        assertUntouched();
        assertDropped(1);
    }

    @ParameterizedTest
    @CsvSource({"UC_WRITE_LAST, 11", "UC_WRITE_LAST, 9", "UC_WRITE_MIDDLE, 1024"})
    void writeThatEndsOtherThanItAnnouncedIsDropped(Opcode opcode, int length) {
        pair.deliver(b, write(Opcode.UC_WRITE_FIRST, 0, MTU, MTU + 10));
        pair.deliver(b, a.forge(opcode, 1, length));
        assertDropped(1);
        assertThat(b.hasPeersBytes(0, MTU)).isTrue();
    }

    // ---------------------------------------------------------------- memory that goes

    /** The sender's memory goes while the packet is in memory that both share: as if it had not arrived. */
    @ParameterizedTest
    @EnumSource(value = Opcode.class, names = {"UC_SEND_ONLY", "UC_WRITE_ONLY"})
    void packetWhoseSourceIsGoneIsLost(Opcode opcode) {
        b.receive(7, 100);
        Arena arena = Arena.ofConfined();
        MemorySegment payload = arena.allocate(40);
        arena.close();
        PacketView packet = pair.deliverFromMemory(b, write(opcode, 0, 0, 40), payload);
        assertThat(packet.isPayloadGone()).isTrue();
        assertUntouched();
        assertDropped(1);
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.RTS);
        pair.deliver(b, a.forge(Opcode.UC_SEND_ONLY, 1, 10));
        b.assertCompleted("7 SUCCESS");
    }

    @Test
    void writeIntoMemoryWhoseArenaIsClosedIsDropped() {
        Arena arena = Arena.ofConfined();
        b.regions.register(KEY, 0, arena.allocate(64), EnumSet.allOf(AccessFlag.class));
        arena.close();
        pair.deliver(b, a.forge(Opcode.UC_WRITE_ONLY, 0, 10).rdma(0, KEY, 10));
        assertDropped(1);
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.RTS);
    }

    // ---------------------------------------------------------------- attributes

    @Test
    void queryTellsTheNextNumbersOfBothDirections() {
        assertThat(numbers(a)).containsExactly(0xfffffe, 0xfffffe);
        b.receive(7, THREE_PACKETS);
        a.send(1, THREE_PACKETS);
        pair.settle();
        assertThat(numbers(a)).containsExactly(1, 0xfffffe);
        assertThat(numbers(b)).containsExactly(0xfffffe, 1);
    }

    private static List<Integer> numbers(UnreliableEnd end) {
        QueuePairAttributes attributes = new QueuePairAttributes();
        end.queuePair.query(attributes);
        return List.of(attributes.sendPsn(), attributes.receivePsn());
    }

    @Test
    void packetsGoToThePeersQueuePairOnTheWayThatWasSet() {
        OutgoingPacket packet = new OutgoingPacket();
        a.send(1, 10);
        assertThat(a.queuePair.pollTransmit(packet, 0)).isTrue();
        assertThat(packet.destinationQueuePairNumber()).isEqualTo(b.number);
        assertThat(packet.path()).isEqualTo(a.way());
    }

    @Test
    void rightToWriteMayBeTakenLater() {
        b.modify(new QueuePairAttributes().state(QueuePairState.RTS)
                .accessFlags(EnumSet.noneOf(AccessFlag.class)));
        a.write(1, 100);
        pair.settle();
        assertUntouched();
        assertDropped(1);
    }
}
