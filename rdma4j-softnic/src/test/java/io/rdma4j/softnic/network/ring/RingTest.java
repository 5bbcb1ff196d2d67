// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.network.PacketPort;
import io.rdma4j.softnic.network.SharedMemory;
import io.rdma4j.verbs.Gid;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Packets from one process to another by a ring in shared memory. */
class RingTest {
    private static final long MS = 1_000_000;

    private final Meeting meeting = new Meeting();
    private final RingPath path = meeting.claim(1);

    private void send(int number, int length) {
        assertThat(path.send(meeting.packet(Meeting.WRITER, number, length), 0))
                .isEqualTo(PacketPort.Sent.SENT);
    }

    // ---------------------------------------------------------------- packets

    @Test
    void packetsArriveWholeAndInOrder() {
        int[] lengths = {0, 1, 63, 64, 511, 512, 4096, RingLayout.MAX_PAYLOAD};
        for (int i = 0; i < lengths.length; i++) {
            send(i, lengths[i]);
        }
        assertThat(meeting.receive(100)).isEqualTo(lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            assertThat(meeting.received.get(i)).isEqualTo(i);
            assertThat(meeting.payloads.get(i)).isEqualTo(Meeting.bytes(i, lengths[i]));
            assertThat(meeting.sources.get(i)).isEqualTo(Meeting.WRITER);
        }
        assertThat(meeting.receive(100)).isZero();
    }

    @Test
    void itGoesRoundManyTimes() {
        Random random = new Random(5);
        int next = 0;
        for (int number = 0; number < 3_000; number++) {
            int length = random.nextBoolean() ? random.nextInt(200) : random.nextInt(60_000);
            while (!path.hasRoom(0)) {
                meeting.receive(1);
            }
            send(number, length);
            if (random.nextInt(4) == 0) {
                meeting.receive(1 + random.nextInt(8));
            }
            for (; next < meeting.received.size(); next++) {
                assertThat(meeting.received.get(next)).isEqualTo(next);
            }
            meeting.payloads.clear();
        }
        meeting.receive(10_000);
        assertThat(meeting.received).hasSize(3_000);
        assertThat(meeting.nonsense).isZero();
    }

    @Test
    void severalPacketsGoAsOne() {
        path.send(meeting.packet(Meeting.WRITER, 1, 8192, 2), 0);
        meeting.receive(1);
        assertThat(meeting.spans).containsExactly(2);
        assertThat(meeting.payloads.getFirst()).hasSize(8192);
    }

    @Test
    void addressesAreToldWhenTheyChange() {
        send(1, 10);
        path.send(meeting.packet(Meeting.OTHER_WRITER, 2, 10), 0);
        path.send(meeting.packet(Meeting.OTHER_WRITER, 3, 10), 0);
        send(4, 10);
        meeting.receive(10);
        assertThat(meeting.sources).containsExactly(Meeting.WRITER, Meeting.OTHER_WRITER,
                Meeting.OTHER_WRITER, Meeting.WRITER);
    }

    @Test
    void packetsMayCarryAcknowledgements() {
        OutgoingPacket first = meeting.packet(Meeting.WRITER, 1, 700).piggyback(5, 3, 9);
        path.send(first, 0);
        send(2, 36);
        path.send(meeting.packet(Meeting.WRITER, 3, 36).piggyback(6, 4, 10), 0);
        path.send(meeting.packet(Meeting.OTHER_WRITER, 4, 0).piggyback(7, 5, 11), 0);
        assertThat(meeting.receive(10)).isEqualTo(4);
        assertThat(meeting.piggybacks).containsExactly(first.piggyback(), -1L,
                0x0a_0400_0006L, 0x0b_0500_0007L);
        assertThat(meeting.received).containsExactly(1, 2, 3, 4);
        assertThat(meeting.payloads.get(0)).isEqualTo(Meeting.bytes(1, 700));
        assertThat(meeting.payloads.get(2)).isEqualTo(Meeting.bytes(3, 36));
        assertThat(meeting.sources.get(3)).isEqualTo(Meeting.OTHER_WRITER);
    }

    /** The record is whole, and its headers are not: only it is lost. */
    @Test
    void whatIsNoPacketIsSaidAndTheNextArrives() {
        HostileRing hostile = Objects.requireNonNull(HostileRing.take(meeting.memory));
        byte[] noOpcode = new byte[20];
        noOpcode[0] = (byte) 0xff;
        hostile.write(Meeting.WRITER, Meeting.READER, noOpcode, 12, 8, 1, true);
        byte[] acknowledge = new byte[20];
        acknowledge[0] = (byte) Opcode.RC_ACKNOWLEDGE.code();
        hostile.acknowledge(5).write(Meeting.WRITER, Meeting.READER, acknowledge, 16, 4, 1, false);
        acknowledge[11] = 77;
        hostile.write(Meeting.WRITER, Meeting.READER, acknowledge, 16, 0, 1, false);
        assertThat(meeting.receive(10)).isEqualTo(3);
        assertThat(meeting.malformed).isEqualTo(2);
        assertThat(meeting.received).containsExactly(77);
        assertThat(meeting.piggybacks).containsExactly(-1L);
    }

    @Test
    void aPacketWhosePayloadIsGoneIsNotSeen() {
        OutgoingPacket packet = new OutgoingPacket()
                .begin(Opcode.RC_WRITE_MIDDLE, Path.between(Meeting.WRITER, Meeting.READER), 7, 1,
                        false, false);
        Arena closed = Arena.ofConfined();
        MemorySegment payload = closed.allocate(100);
        packet.addPayload(payload, 0, 100);
        closed.close();
        assertThat(path.send(packet, 0)).isEqualTo(PacketPort.Sent.PAYLOAD_GONE);
        send(2, 10);
        meeting.receive(10);
        assertThat(meeting.received).containsExactly(2);
    }

    @Test
    void aPacketWhoseHandlerThrowsIsNotReceivedAgain() {
        for (int number = 1; number <= 3; number++) {
            send(number, 10);
        }
        SharedMemory.Handler throwing = new SharedMemory.Handler() {
            @Override
            public void onPacket(PacketView packet) {
                meeting.onPacket(packet);
                if (meeting.received.size() == 1) {
                    throw new AssertionError("a defect");
                }
            }

            @Override
            public void onMalformed(Gid source) {
                meeting.onMalformed(source);
            }

            @Override
            public void onNonsense() {
                meeting.onNonsense();
            }
        };
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> meeting.mailbox.receive(throwing, 10));
        meeting.mailbox.receive(throwing, 10);
        assertThat(meeting.received).containsExactly(1, 2, 3);
        assertThat(meeting.nonsense).isZero();
        assertThat(meeting.mailbox.beginSleep()).isTrue();
    }

    @Test
    void writersTakeTurns() {
        RingPath other = meeting.claim(2);
        for (int i = 0; i < 10; i++) {
            send(i, 10);
            other.send(meeting.packet(Meeting.OTHER_WRITER, 100 + i, 10), 0);
        }
        meeting.receive(4);
        meeting.receive(4);
        assertThat(meeting.received).contains(0, 100);
        meeting.receive(100);
        assertThat(meeting.received).hasSize(20);
    }

    // ---------------------------------------------------------------- room

    private int fill() {
        int sent = 0;
        while (path.hasRoom(0)) {
            send(sent++, 4096);
        }
        return sent;
    }

    @Test
    void aRingIsBounded() {
        int sent = fill();
        assertThat(sent).isBetween(60, RingLayout.CAPACITY / 4096);
        meeting.receive(1);
        assertThat(path.hasRoom(0)).isFalse();
        meeting.receive(40);
        assertThat(path.hasRoom(0)).isTrue();
    }

    @Test
    void aReaderThatStandsStillNeedNotBeWaitedFor() {
        fill();
        assertThat(path.hasRoom(50 * MS)).isFalse();
        assertThat(path.isStandingStill()).isFalse();
        assertThat(path.hasRoom(101 * MS)).isFalse();
        assertThat(path.isStandingStill()).isTrue();
        int lost = 0;
        while (path.send(meeting.packet(Meeting.WRITER, 9, 4096), 0) != PacketPort.Sent.REFUSED) {
            lost++;
        }
        assertThat(lost).isLessThan(40);
        assertThat(path.isOpen()).isTrue();
        meeting.receive(1000);
        assertThat(path.hasRoom(200 * MS)).isTrue();
        assertThat(path.isStandingStill()).isFalse();
        assertThat(path.send(meeting.packet(Meeting.WRITER, 10, 4096), 0))
                .isEqualTo(PacketPort.Sent.SENT);
    }

    @Test
    void aReaderThatIsSlowIsWaitedFor() {
        fill();
        PacketPort.Sent last = PacketPort.Sent.SENT;
        while (last == PacketPort.Sent.SENT) {
            last = path.send(meeting.packet(Meeting.WRITER, 9, 4096), 0);
        }
        for (int ms = 0; ms < 500; ms += 10) {
            assertThat(path.hasRoom(ms * MS)).isFalse();
            assertThat(path.isStandingStill()).isFalse();
            if (ms % 50 == 0) {
                meeting.receive(1);
            }
        }
    }

    @Test
    void aReaderThatHasDiedIsGivenUp() {
        fill();
        meeting.reader.isAlive = false;
        assertThat(path.hasRoom(0)).isFalse();
        assertThat(path.hasRoom(101 * MS)).isTrue();
        assertThat(path.isOpen()).isFalse();
        assertThat(path.send(meeting.packet(Meeting.WRITER, 9, 1), 0))
                .isEqualTo(PacketPort.Sent.REFUSED);
        assertThat(meeting.reader.closed).isOne();
    }

    @Test
    void whoSleepsUntilThereIsRoomIsWoken() {
        fill();
        assertThat(meeting.own.beginSleep()).isTrue();
        assertThat(path.sleeps()).isTrue();
        meeting.receive(1000);
        assertThat(meeting.wokenWriters).isOne();
        meeting.receive(1000);
        assertThat(meeting.wokenWriters).isOne();
    }

    @Test
    void whoIsAsleepAlreadyWhenTheRingBecomesFullIsWokenToo() {
        assertThat(meeting.own.beginSleep()).isTrue();
        fill();
        meeting.receive(1000);
        assertThat(meeting.wokenWriters).isOne();
    }

    @Test
    void whoDoesNotSleepIsNotWoken() {
        fill();
        meeting.receive(1000);
        assertThat(meeting.wokenWriters).isZero();
    }

    @Test
    void whoHasLeftIsNotWoken() {
        fill();
        assertThat(path.sleeps()).isTrue();
        path.close();
        meeting.receive(1000);
        assertThat(meeting.wokenWriters).isZero();
    }

    /** Nobody may ask for room again: whoever waited for it may have been closed, or sends elsewhere now. */
    @Test
    void whoHasRoomMustNotSleepOnce() {
        fill();
        meeting.receive(1000);
        assertThat(path.sleeps()).isFalse();
        assertThat(path.sleeps()).isTrue();
    }

    @Test
    void whoWaitsOnAfterAVainAttemptToSleepIsWoken() {
        int sent = fill();
        meeting.receive(1000);
        assertThat(path.sleeps()).isFalse();
        while (path.hasRoom(0)) {
            send(sent++, 4096);
        }
        assertThat(path.sleeps()).isTrue();
        assertThat(meeting.own.beginSleep()).isTrue();
        meeting.receive(1000);
        assertThat(meeting.wokenWriters).isOne();
    }

    @Test
    void aReaderThatReadsAgainStandsStillNoLongerThoughAThreadTriedToSleep() {
        fill();
        assertThat(path.hasRoom(101 * MS)).isFalse();
        assertThat(path.isStandingStill()).isTrue();
        meeting.receive(1000);
        assertThat(path.sleeps()).isFalse();
        assertThat(path.hasRoom(102 * MS)).isTrue();
        assertThat(path.isStandingStill()).isFalse();
    }

    /** The reader has looked whether the writer waits just before that said so. */
    @Test
    void roomThatComesWhileItIsAskedForIsSeen() {
        RingPath slow = meeting.claim(2, () -> {
            meeting.receive(1000);
            return true;
        });
        int sent = 0;
        while (meeting.received.isEmpty() && sent < 1000) {
            assertThat(slow.hasRoom(0)).isTrue();
            slow.send(meeting.packet(Meeting.WRITER, sent++, 4096), 0);
        }
        assertThat(meeting.received).hasSize(sent - 1);
        assertThat(meeting.wokenWriters).isZero();
    }

    // ---------------------------------------------------------------- sleeping

    @Test
    void aReaderThatSleepsIsWokenOnce() {
        assertThat(meeting.mailbox.beginSleep()).isTrue();
        send(1, 10);
        send(2, 10);
        assertThat(meeting.unannounced).containsExactly(path);
        path.announce();
        assertThat(meeting.reader.woken).isOne();
        path.announce();
        assertThat(meeting.reader.woken).isOne();
    }

    @Test
    void aReaderThatHasSomethingMustNotSleep() {
        send(1, 10);
        meeting.receive(0);
        assertThat(meeting.mailbox.beginSleep()).isFalse();
        path.announce();
        assertThat(meeting.reader.woken).isZero();
        meeting.receive(10);
        assertThat(meeting.mailbox.beginSleep()).isTrue();
    }

    @Test
    void aWriterThatDiesBeforeItWakesTheReaderLeavesThatToOthers() {
        RingPath other = meeting.claim(2);
        assertThat(meeting.mailbox.beginSleep()).isTrue();
        meeting.reader.whileWoken = () -> {
            throw new Killed();
        };
        send(1, 10);
        assertThatExceptionOfType(Killed.class).isThrownBy(path::announce);
        meeting.reader.whileWoken = () -> {};
        other.send(meeting.packet(Meeting.OTHER_WRITER, 2, 10), 0);
        other.announce();
        assertThat(meeting.reader.woken).isOne();
    }

    /** What a process does ends here. */
    private static final class Killed extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    @Test
    void whoHasEndedASleepDoesNotHideTheNextOne() {
        RingPath other = meeting.claim(2);
        assertThat(meeting.mailbox.beginSleep()).isTrue();
        send(1, 10);
        meeting.reader.whileWoken = () -> {
            // The reader is faster than who wakes it.
            meeting.mailbox.endSleep();
            meeting.receive(10);
            assertThat(meeting.mailbox.beginSleep()).isTrue();
        };
        path.announce();
        meeting.reader.whileWoken = () -> {};
        other.send(meeting.packet(Meeting.OTHER_WRITER, 2, 10), 0);
        other.announce();
        assertThat(meeting.reader.woken).isEqualTo(2);
    }

    @Test
    void aReaderThatCannotBeWokenHasDied() {
        meeting.mailbox.receive(meeting, 1);
        meeting.mailbox.beginSleep();
        send(1, 10);
        meeting.reader.isAlive = false;
        path.announce();
        assertThat(path.isOpen()).isFalse();
    }

    // ---------------------------------------------------------------- resting

    @Test
    void whatIsNotUsedGivesItsMemoryBack() {
        send(1, 10);
        meeting.receive(10);
        assertThat(path.restDueNs()).isEqualTo(RingPath.REST_NS);
        path.restIfDue(RingPath.REST_NS - 1);
        assertThat(meeting.released).isZero();
        path.restIfDue(RingPath.REST_NS);
        assertThat(meeting.released).isOne();
        assertThat(path.restDueNs()).isEqualTo(Long.MAX_VALUE);
        meeting.receive(10);
        assertThat(meeting.mailbox.sweepDueNs(0)).isEqualTo(Long.MAX_VALUE);
        send(2, 60_000);
        meeting.receive(10);
        assertThat(meeting.received).containsExactly(1, 2);
    }

    @Test
    void whatIsNotReadIsKept() {
        send(1, 10);
        path.restIfDue(RingPath.REST_NS);
        assertThat(meeting.released).isZero();
        assertThat(path.restDueNs()).isGreaterThan(2 * RingPath.REST_NS);
        meeting.receive(10);
        assertThat(meeting.received).containsExactly(1);
    }

    // ---------------------------------------------------------------- writers that come and go

    @Test
    void aRingIsOneWriters() {
        meeting.claim(2);
        meeting.claim(3);
        meeting.claim(4);
        assertThat(meeting.tryClaim(5)).isNull();
        path.close();
        assertThat(meeting.tryClaim(5)).isNotNull();
    }

    @Test
    void theRingOfADeadWriterIsTaken() {
        send(1, 10);
        meeting.claim(2);
        meeting.claim(3);
        meeting.claim(4);
        meeting.dead.add(1);
        RingPath next = meeting.claim(5);
        next.send(meeting.packet(Meeting.OTHER_WRITER, 2, 10), 0);
        meeting.receive(10);
        assertThat(meeting.received).containsExactly(1, 2);
        assertThat(meeting.sources).containsExactly(Meeting.WRITER, Meeting.OTHER_WRITER);
    }

    @Test
    void whatAWriterHasLeftIsReadAndItsMemoryGivenBack() {
        send(1, 10);
        path.close();
        meeting.receive(0);
        long dueNs = meeting.mailbox.sweepDueNs(0);
        meeting.receive(10);
        assertThat(meeting.received).containsExactly(1);
        meeting.mailbox.sweepIfDue(dueNs);
        assertThat(meeting.released).isOne();
        meeting.receive(10);
        assertThat(meeting.mailbox.sweepDueNs(dueNs)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theMemoryOfADeadWriterIsGivenBack() {
        send(1, 10);
        meeting.receive(10);
        long dueNs = meeting.mailbox.sweepDueNs(0);
        meeting.mailbox.sweepIfDue(dueNs);
        assertThat(meeting.released).isZero();
        meeting.dead.add(1);
        meeting.mailbox.sweepIfDue(meeting.mailbox.sweepDueNs(dueNs));
        assertThat(meeting.released).isOne();
        assertThat(meeting.claim(9).send(meeting.packet(Meeting.WRITER, 3, 9), 0))
                .isEqualTo(PacketPort.Sent.SENT);
        meeting.receive(10);
        assertThat(meeting.received).containsExactly(1, 3);
    }

    private void dieWhileMemoryIsGivenBack(ThrowingCallable action) {
        meeting.whileReleased = () -> {
            throw new Killed();
        };
        assertThatExceptionOfType(Killed.class).isThrownBy(action);
        meeting.whileReleased = () -> {};
        assertThat(meeting.released).isZero();
        // Another writer comes: the reader looks at all rings anew.
        RingLayout.increment(meeting.memory, RingLayout.CHANGES_AT);
        meeting.receive(10);
        meeting.dead.add(1);
        meeting.mailbox.sweepIfDue(meeting.mailbox.sweepDueNs(0));
        assertThat(meeting.released).isOne();
        meeting.receive(10);
        assertThat(meeting.mailbox.sweepDueNs(0)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theMemoryOfAWriterThatDiesWhileItGoesToRestIsGivenBack() {
        send(1, 10);
        meeting.receive(10);
        dieWhileMemoryIsGivenBack(() -> path.restIfDue(RingPath.REST_NS));
    }

    @Test
    void theMemoryOfAWriterThatDiesWhileItLeavesIsGivenBack() {
        send(1, 10);
        meeting.receive(10);
        dieWhileMemoryIsGivenBack(path::close);
    }

    /** Who polls without a pause asks for no deadline. */
    @Test
    void theMemoryOfADeadWriterIsGivenBackThoughNobodyAsksWhen() {
        send(1, 10);
        meeting.receive(10);
        meeting.mailbox.sweepIfDue(0);
        meeting.dead.add(1);
        meeting.mailbox.sweepIfDue(Mailbox.SWEEP_NS - 1);
        assertThat(meeting.released).isZero();
        meeting.mailbox.sweepIfDue(Mailbox.SWEEP_NS);
        assertThat(meeting.released).isOne();
    }

    private void takeTheOtherRings() {
        for (int prefix = 2; prefix <= 4; prefix++) {
            meeting.claim(prefix);
        }
    }

    @Test
    void aRingThatIsBeingTakenIsNotGivenBack() {
        takeTheOtherRings();
        send(1, 10);
        meeting.receive(10);
        meeting.dead.add(1);
        meeting.reader.whileMapped = () -> {
            meeting.reader.whileMapped = () -> {};
            // What it says is still the dead one's.
            meeting.mailbox.sweepIfDue(meeting.mailbox.sweepDueNs(0));
            assertThat(meeting.tryClaim(6)).isNull();
        };
        assertThat(meeting.tryClaim(5)).isNotNull();
        assertThat(meeting.released).isZero();
        assertThat(meeting.tryClaim(6)).isNull();
    }

    private void dieWhileTakingARing(int prefix) {
        meeting.reader.whileMapped = () -> {
            throw new Killed();
        };
        assertThatExceptionOfType(Killed.class).isThrownBy(() -> meeting.tryClaim(prefix));
        meeting.reader.whileMapped = () -> {};
    }

    @Test
    void aRingWhoseTakerHasDiedIsTakenByAnother() {
        takeTheOtherRings();
        path.close();
        dieWhileTakingARing(5);
        assertThat(meeting.tryClaim(6)).isNull();
        meeting.dead.add(5);
        assertThat(meeting.tryClaim(6)).isNotNull();
    }

    @Test
    void aRingWhoseTakerHasDiedIsGivenBack() {
        takeTheOtherRings();
        send(1, 10);
        meeting.receive(10);
        meeting.dead.add(1);
        dieWhileTakingARing(5);
        meeting.mailbox.sweepIfDue(meeting.mailbox.sweepDueNs(0));
        assertThat(meeting.released).isZero();
        meeting.dead.add(5);
        meeting.mailbox.sweepIfDue(meeting.mailbox.sweepDueNs(0));
        assertThat(meeting.released).isOne();
        assertThat(meeting.tryClaim(6)).isNotNull();
    }

    @Test
    void aRingThatItsReaderGivesBackIsNotTakenMeanwhile() {
        takeTheOtherRings();
        send(1, 10);
        meeting.receive(10);
        meeting.dead.add(1);
        // No process has this prefix; that does not mean that a process has died.
        meeting.dead.add(RingLayout.READER);
        meeting.whileReleased = () -> assertThat(meeting.tryClaim(6)).isNull();
        meeting.mailbox.sweepIfDue(meeting.mailbox.sweepDueNs(0));
        assertThat(meeting.released).isOne();
    }

    // ---------------------------------------------------------------- nonsense

    @Test
    void nonsenseIsNotReadAndHarmsNoOtherRing() {
        RingPath other = meeting.claim(2);
        send(1, 10);
        meeting.receive(10);
        MemorySegment records = meeting.memory.asSlice(RingLayout.recordsAt(0),
                RingLayout.CAPACITY);
        records.fill((byte) 0x5a);
        other.send(meeting.packet(Meeting.OTHER_WRITER, 2, 10), 0);
        meeting.receive(10);
        meeting.receive(10);
        assertThat(meeting.nonsense).isOne();
        assertThat(meeting.received).containsExactly(1, 2);
        assertThat(meeting.mailbox.beginSleep()).isTrue();
    }

    private void sendNonsense() {
        meeting.receive(1);
        send(1, 10);
        meeting.memory.asSlice(RingLayout.recordsAt(0), 64).fill((byte) 0x5a);
        meeting.receive(10);
        assertThat(meeting.nonsense).isOne();
    }

    @Test
    void theMemoryOfABrokenRingIsGivenBackAndAgainWhenItsWriterLeaves() {
        sendNonsense();
        assertThat(meeting.released).isOne();
        meeting.receive(10);
        assertThat(meeting.released).isOne();
        send(2, 10);
        path.restIfDue(RingPath.REST_NS);
        assertThat(path.isOpen()).isFalse();
        assertThat(meeting.released).isEqualTo(2);
        meeting.receive(10);
        assertThat(meeting.mailbox.sweepDueNs(0)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theMemoryOfABrokenRingIsGivenBackWhenItsWriterHasDied() {
        sendNonsense();
        send(2, 10);
        meeting.dead.add(1);
        meeting.mailbox.sweepIfDue(meeting.mailbox.sweepDueNs(0));
        assertThat(meeting.released).isEqualTo(2);
        assertThat(meeting.mailbox.sweepDueNs(0)).isEqualTo(Long.MAX_VALUE);
    }

    /** A reader that believed it would come round to the same word, and never end. */
    @Test
    void aLapThatIsSkippedAsAWholeIsNonsense() throws Exception {
        HostileRing hostile = Objects.requireNonNull(HostileRing.take(meeting.memory));
        hostile.skip(0);
        assertThat(CompletableFuture.supplyAsync(() -> meeting.receive(10)).get(20,
                TimeUnit.SECONDS)).isZero();
        assertThat(hostile.isBroken()).isTrue();
        assertThat(meeting.nonsense).isOne();
    }

    @Test
    void moreThanARecordIsNotSkipped() {
        int skipped = RingLayout.MAX_RECORD - RingLayout.ALIGNMENT;
        long word = RingLayout.word(RingLayout.SKIP, 0, 0, skipped);
        assertThat(RecordCheck.length(word, RingLayout.CAPACITY - skipped)).isEqualTo(skipped);
        skipped = RingLayout.MAX_RECORD;
        word = RingLayout.word(RingLayout.SKIP, 0, 0, skipped);
        assertThat(RecordCheck.length(word, RingLayout.CAPACITY - skipped)).isEqualTo(-1);
    }

    @Test
    void aBrokenRingIsGivenUpByItsWriterAndTakenByNobody() {
        sendNonsense();
        while (path.hasRoom(0)) {
            path.send(meeting.packet(Meeting.WRITER, 1, 4096), 0);
        }
        assertThat(path.hasRoom(101 * MS)).isTrue();
        assertThat(path.isOpen()).isFalse();
        RingPath next = meeting.claim(7);
        next.send(meeting.packet(Meeting.WRITER, 3, 10), 0);
        meeting.receive(10);
        assertThat(meeting.received).containsExactly(3);
    }
}
