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

    private final TwoProcesses both = new TwoProcesses();
    private final RingPath path = both.claim(1);

    private void send(int number, int length) {
        assertThat(path.send(both.packet(TwoProcesses.WRITER, number, length), 0))
                .isEqualTo(PacketPort.Sent.SENT);
    }

    // ---------------------------------------------------------------- packets

    @Test
    void packetsArriveWholeAndInOrder() {
        int[] lengths = {0, 1, 63, 64, 511, 512, 4096, RingLayout.MAX_PAYLOAD};
        for (int i = 0; i < lengths.length; i++) {
            send(i, lengths[i]);
        }
        assertThat(both.receive(100)).isEqualTo(lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            assertThat(both.received.get(i)).isEqualTo(i);
            assertThat(both.payloads.get(i)).isEqualTo(TwoProcesses.bytes(i, lengths[i]));
            assertThat(both.sources.get(i)).isEqualTo(TwoProcesses.WRITER);
        }
        assertThat(both.receive(100)).isZero();
    }

    @Test
    void itGoesRoundManyTimes() {
        Random random = new Random(5);
        int next = 0;
        for (int number = 0; number < 3_000; number++) {
            int length = random.nextBoolean() ? random.nextInt(200) : random.nextInt(60_000);
            while (!path.hasRoom(0)) {
                both.receive(1);
            }
            send(number, length);
            if (random.nextInt(4) == 0) {
                both.receive(1 + random.nextInt(8));
            }
            for (; next < both.received.size(); next++) {
                assertThat(both.received.get(next)).isEqualTo(next);
            }
            both.payloads.clear();
        }
        both.receive(10_000);
        assertThat(both.received).hasSize(3_000);
        assertThat(both.nonsense).isZero();
    }

    @Test
    void severalPacketsGoAsOne() {
        path.send(both.packet(TwoProcesses.WRITER, 1, 8192, 2), 0);
        both.receive(1);
        assertThat(both.spans).containsExactly(2);
        assertThat(both.payloads.getFirst()).hasSize(8192);
    }

    @Test
    void addressesAreToldWhenTheyChange() {
        send(1, 10);
        path.send(both.packet(TwoProcesses.OTHER_WRITER, 2, 10), 0);
        path.send(both.packet(TwoProcesses.OTHER_WRITER, 3, 10), 0);
        send(4, 10);
        both.receive(10);
        assertThat(both.sources).containsExactly(TwoProcesses.WRITER, TwoProcesses.OTHER_WRITER,
                TwoProcesses.OTHER_WRITER, TwoProcesses.WRITER);
    }

    @Test
    void packetsMayCarryAcknowledgements() {
        OutgoingPacket first = both.packet(TwoProcesses.WRITER, 1, 700).piggyback(5, 3, 9);
        path.send(first, 0);
        send(2, 36);
        path.send(both.packet(TwoProcesses.WRITER, 3, 36).piggyback(6, 4, 10), 0);
        path.send(both.packet(TwoProcesses.OTHER_WRITER, 4, 0).piggyback(7, 5, 11), 0);
        assertThat(both.receive(10)).isEqualTo(4);
        assertThat(both.piggybacks).containsExactly(first.piggyback(), -1L,
                0x0a_0400_0006L, 0x0b_0500_0007L);
        assertThat(both.received).containsExactly(1, 2, 3, 4);
        assertThat(both.payloads.get(0)).isEqualTo(TwoProcesses.bytes(1, 700));
        assertThat(both.payloads.get(2)).isEqualTo(TwoProcesses.bytes(3, 36));
        assertThat(both.sources.get(3)).isEqualTo(TwoProcesses.OTHER_WRITER);
    }

    /** The record is whole, and its headers are not: only it is lost. */
    @Test
    void whatIsNoPacketIsSaidAndTheNextArrives() {
        HostileRing hostile = Objects.requireNonNull(HostileRing.take(both.memory));
        byte[] noOpcode = new byte[20];
        noOpcode[0] = (byte) 0xff;
        hostile.write(TwoProcesses.WRITER, TwoProcesses.READER, noOpcode, 12, 8, 1, true);
        byte[] acknowledge = new byte[20];
        acknowledge[0] = (byte) Opcode.RC_ACKNOWLEDGE.code();
        hostile.acknowledge(5).write(TwoProcesses.WRITER, TwoProcesses.READER, acknowledge, 16, 4,
                1, false);
        acknowledge[11] = 77;
        hostile.write(TwoProcesses.WRITER, TwoProcesses.READER, acknowledge, 16, 0, 1, false);
        assertThat(both.receive(10)).isEqualTo(3);
        assertThat(both.malformed).isEqualTo(2);
        assertThat(both.received).containsExactly(77);
        assertThat(both.piggybacks).containsExactly(-1L);
    }

    /** Where the rest of it was copied to, the next records begin. */
    @Test
    void aPacketIsNotSeenOfWhichAPartIsGone() {
        send(1, 10);
        OutgoingPacket packet = new OutgoingPacket().begin(Opcode.RC_WRITE_MIDDLE,
                Path.between(TwoProcesses.WRITER, TwoProcesses.READER), 7, 1, false, false);
        Arena closed = Arena.ofConfined();
        packet.addPayload(Arena.ofAuto().allocate(400).fill((byte) 0x11), 0, 400);
        packet.addPayload(closed.allocate(1), 0, 1);
        closed.close();
        assertThat(path.send(packet, 0)).isEqualTo(PacketPort.Sent.PAYLOAD_GONE);
        send(2, 10);
        send(3, 10);
        assertThat(both.receive(10)).isEqualTo(3);
        assertThat(both.received).containsExactly(1, 2, 3);
        assertThat(both.nonsense).isZero();
    }

    @Test
    void aPacketWhosePayloadIsGoneIsNotSeen() {
        OutgoingPacket packet = new OutgoingPacket()
                .begin(Opcode.RC_WRITE_MIDDLE,
                        Path.between(TwoProcesses.WRITER, TwoProcesses.READER), 7, 1,
                        false, false);
        Arena closed = Arena.ofConfined();
        MemorySegment payload = closed.allocate(100);
        packet.addPayload(payload, 0, 100);
        closed.close();
        assertThat(path.send(packet, 0)).isEqualTo(PacketPort.Sent.PAYLOAD_GONE);
        send(2, 10);
        both.receive(10);
        assertThat(both.received).containsExactly(2);
    }

    @Test
    void aPacketWhoseHandlerThrowsIsNotReceivedAgain() {
        for (int number = 1; number <= 3; number++) {
            send(number, 10);
        }
        SharedMemory.Handler throwing = new SharedMemory.Handler() {
            @Override
            public void onPacket(PacketView packet) {
                both.onPacket(packet);
                if (both.received.size() == 1) {
                    throw new AssertionError("a defect");
                }
            }

            @Override
            public void onMalformed(Gid source) {
                both.onMalformed(source);
            }

            @Override
            public void onNonsense() {
                both.onNonsense();
            }
        };
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(() -> both.mailbox.receive(throwing, 10));
        both.mailbox.receive(throwing, 10);
        assertThat(both.received).containsExactly(1, 2, 3);
        assertThat(both.nonsense).isZero();
        assertThat(both.mailbox.beginSleep()).isTrue();
    }

    @Test
    void writersTakeTurns() {
        RingPath other = both.claim(2);
        for (int i = 0; i < 10; i++) {
            send(i, 10);
            other.send(both.packet(TwoProcesses.OTHER_WRITER, 100 + i, 10), 0);
        }
        both.receive(4);
        both.receive(4);
        assertThat(both.received).contains(0, 100);
        both.receive(100);
        assertThat(both.received).hasSize(20);
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
        both.receive(1);
        assertThat(path.hasRoom(0)).isFalse();
        both.receive(40);
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
        while (path.send(both.packet(TwoProcesses.WRITER, 9, 4096), 0) != PacketPort.Sent.REFUSED) {
            lost++;
        }
        assertThat(lost).isLessThan(40);
        assertThat(path.isOpen()).isTrue();
        both.receive(1000);
        assertThat(path.hasRoom(200 * MS)).isTrue();
        assertThat(path.isStandingStill()).isFalse();
        assertThat(path.send(both.packet(TwoProcesses.WRITER, 10, 4096), 0))
                .isEqualTo(PacketPort.Sent.SENT);
    }

    @Test
    void aReaderThatIsSlowIsWaitedFor() {
        fill();
        PacketPort.Sent last = PacketPort.Sent.SENT;
        while (last == PacketPort.Sent.SENT) {
            last = path.send(both.packet(TwoProcesses.WRITER, 9, 4096), 0);
        }
        for (int ms = 0; ms < 500; ms += 10) {
            assertThat(path.hasRoom(ms * MS)).isFalse();
            assertThat(path.isStandingStill()).isFalse();
            if (ms % 50 == 0) {
                both.receive(1);
            }
        }
    }

    @Test
    void aReaderThatHasDiedIsGivenUp() {
        fill();
        both.reader.isAlive = false;
        assertThat(path.hasRoom(0)).isFalse();
        assertThat(path.hasRoom(101 * MS)).isTrue();
        assertThat(path.isOpen()).isFalse();
        assertThat(path.send(both.packet(TwoProcesses.WRITER, 9, 1), 0))
                .isEqualTo(PacketPort.Sent.REFUSED);
        assertThat(both.reader.closed).isOne();
    }

    @Test
    void whoSleepsUntilThereIsRoomIsWoken() {
        fill();
        assertThat(both.own.beginSleep()).isTrue();
        assertThat(path.sleeps()).isTrue();
        both.receive(1000);
        assertThat(both.wokenWriters).isOne();
        both.receive(1000);
        assertThat(both.wokenWriters).isOne();
    }

    @Test
    void whoIsAsleepAlreadyWhenTheRingBecomesFullIsWokenToo() {
        assertThat(both.own.beginSleep()).isTrue();
        fill();
        both.receive(1000);
        assertThat(both.wokenWriters).isOne();
    }

    @Test
    void whoDoesNotSleepIsNotWoken() {
        fill();
        both.receive(1000);
        assertThat(both.wokenWriters).isZero();
    }

    @Test
    void whoHasLeftIsNotWoken() {
        fill();
        assertThat(path.sleeps()).isTrue();
        path.close();
        both.receive(1000);
        assertThat(both.wokenWriters).isZero();
    }

    /** Nobody may ask for room again: whoever waited for it may have been closed, or sends elsewhere now. */
    @Test
    void whoHasRoomMustNotSleepOnce() {
        fill();
        both.receive(1000);
        assertThat(path.sleeps()).isFalse();
        assertThat(path.sleeps()).isTrue();
    }

    @Test
    void whoWaitsOnAfterAVainAttemptToSleepIsWoken() {
        int sent = fill();
        both.receive(1000);
        assertThat(path.sleeps()).isFalse();
        while (path.hasRoom(0)) {
            send(sent++, 4096);
        }
        assertThat(path.sleeps()).isTrue();
        assertThat(both.own.beginSleep()).isTrue();
        both.receive(1000);
        assertThat(both.wokenWriters).isOne();
    }

    @Test
    void aReaderThatReadsAgainStandsStillNoLongerThoughAThreadTriedToSleep() {
        fill();
        assertThat(path.hasRoom(101 * MS)).isFalse();
        assertThat(path.isStandingStill()).isTrue();
        both.receive(1000);
        assertThat(path.sleeps()).isFalse();
        assertThat(path.hasRoom(102 * MS)).isTrue();
        assertThat(path.isStandingStill()).isFalse();
    }

    /** The reader has looked whether the writer waits just before that said so. */
    @Test
    void roomThatComesWhileItIsAskedForIsSeen() {
        RingPath slow = both.claim(2, () -> {
            both.receive(1000);
            return true;
        });
        int sent = 0;
        while (both.received.isEmpty() && sent < 1000) {
            assertThat(slow.hasRoom(0)).isTrue();
            slow.send(both.packet(TwoProcesses.WRITER, sent++, 4096), 0);
        }
        assertThat(both.received).hasSize(sent - 1);
        assertThat(both.wokenWriters).isZero();
    }

    // ---------------------------------------------------------------- sleeping

    @Test
    void aReaderThatSleepsIsWokenOnce() {
        assertThat(both.mailbox.beginSleep()).isTrue();
        send(1, 10);
        send(2, 10);
        assertThat(both.unannounced).containsExactly(path);
        path.announce();
        assertThat(both.reader.woken).isOne();
        path.announce();
        assertThat(both.reader.woken).isOne();
    }

    @Test
    void aReaderThatHasSomethingMustNotSleep() {
        send(1, 10);
        both.receive(0);
        assertThat(both.mailbox.beginSleep()).isFalse();
        path.announce();
        assertThat(both.reader.woken).isZero();
        both.receive(10);
        assertThat(both.mailbox.beginSleep()).isTrue();
    }

    @Test
    void aWriterThatDiesBeforeItWakesTheReaderLeavesThatToOthers() {
        RingPath other = both.claim(2);
        assertThat(both.mailbox.beginSleep()).isTrue();
        both.reader.whileWoken = () -> {
            throw new Killed();
        };
        send(1, 10);
        assertThatExceptionOfType(Killed.class).isThrownBy(path::announce);
        both.reader.whileWoken = () -> {};
        other.send(both.packet(TwoProcesses.OTHER_WRITER, 2, 10), 0);
        other.announce();
        assertThat(both.reader.woken).isOne();
    }

    /** What a process does ends here. */
    private static final class Killed extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    @Test
    void whoHasEndedASleepDoesNotHideTheNextOne() {
        RingPath other = both.claim(2);
        assertThat(both.mailbox.beginSleep()).isTrue();
        send(1, 10);
        both.reader.whileWoken = () -> {
            // The reader is faster than who wakes it.
            both.mailbox.endSleep();
            both.receive(10);
            assertThat(both.mailbox.beginSleep()).isTrue();
        };
        path.announce();
        both.reader.whileWoken = () -> {};
        other.send(both.packet(TwoProcesses.OTHER_WRITER, 2, 10), 0);
        other.announce();
        assertThat(both.reader.woken).isEqualTo(2);
    }

    @Test
    void aReaderThatCannotBeWokenHasDied() {
        both.mailbox.receive(both, 1);
        both.mailbox.beginSleep();
        send(1, 10);
        both.reader.isAlive = false;
        path.announce();
        assertThat(path.isOpen()).isFalse();
    }

    // ---------------------------------------------------------------- resting

    @Test
    void whatIsNotUsedGivesItsMemoryBack() {
        send(1, 10);
        both.receive(10);
        assertThat(path.restDueNs()).isEqualTo(RingPath.REST_NS);
        path.restIfDue(RingPath.REST_NS - 1);
        assertThat(both.released).isZero();
        path.restIfDue(RingPath.REST_NS);
        assertThat(both.released).isOne();
        assertThat(path.restDueNs()).isEqualTo(Long.MAX_VALUE);
        both.receive(10);
        assertThat(both.mailbox.sweepDueNs(0)).isEqualTo(Long.MAX_VALUE);
        send(2, 60_000);
        both.receive(10);
        assertThat(both.received).containsExactly(1, 2);
    }

    @Test
    void whatIsNotReadIsKept() {
        send(1, 10);
        path.restIfDue(RingPath.REST_NS);
        assertThat(both.released).isZero();
        assertThat(path.restDueNs()).isGreaterThan(2 * RingPath.REST_NS);
        both.receive(10);
        assertThat(both.received).containsExactly(1);
    }

    // ---------------------------------------------------------------- writers that come and go

    @Test
    void aRingIsOneWriters() {
        both.claim(2);
        both.claim(3);
        both.claim(4);
        assertThat(both.tryClaim(5)).isNull();
        path.close();
        assertThat(both.tryClaim(5)).isNotNull();
    }

    @Test
    void theRingOfADeadWriterIsTaken() {
        send(1, 10);
        both.claim(2);
        both.claim(3);
        both.claim(4);
        both.dead.add(1);
        RingPath next = both.claim(5);
        next.send(both.packet(TwoProcesses.OTHER_WRITER, 2, 10), 0);
        both.receive(10);
        assertThat(both.received).containsExactly(1, 2);
        assertThat(both.sources).containsExactly(TwoProcesses.WRITER, TwoProcesses.OTHER_WRITER);
    }

    @Test
    void whatAWriterHasLeftIsReadAndItsMemoryGivenBack() {
        send(1, 10);
        path.close();
        both.receive(0);
        long dueNs = both.mailbox.sweepDueNs(0);
        both.receive(10);
        assertThat(both.received).containsExactly(1);
        both.mailbox.sweepIfDue(dueNs);
        assertThat(both.released).isOne();
        both.receive(10);
        assertThat(both.mailbox.sweepDueNs(dueNs)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theMemoryOfADeadWriterIsGivenBack() {
        send(1, 10);
        both.receive(10);
        long dueNs = both.mailbox.sweepDueNs(0);
        both.mailbox.sweepIfDue(dueNs);
        assertThat(both.released).isZero();
        both.dead.add(1);
        both.mailbox.sweepIfDue(both.mailbox.sweepDueNs(dueNs));
        assertThat(both.released).isOne();
        assertThat(both.claim(9).send(both.packet(TwoProcesses.WRITER, 3, 9), 0))
                .isEqualTo(PacketPort.Sent.SENT);
        both.receive(10);
        assertThat(both.received).containsExactly(1, 3);
    }

    private void dieWhileMemoryIsGivenBack(ThrowingCallable action) {
        both.whileReleased = () -> {
            throw new Killed();
        };
        assertThatExceptionOfType(Killed.class).isThrownBy(action);
        both.whileReleased = () -> {};
        assertThat(both.released).isZero();
        // Another writer comes: the reader looks at all rings anew.
        RingLayout.increment(both.memory, RingLayout.CHANGES_AT);
        both.receive(10);
        both.dead.add(1);
        both.mailbox.sweepIfDue(both.mailbox.sweepDueNs(0));
        assertThat(both.released).isOne();
        both.receive(10);
        assertThat(both.mailbox.sweepDueNs(0)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theMemoryOfAWriterThatDiesWhileItGoesToRestIsGivenBack() {
        send(1, 10);
        both.receive(10);
        dieWhileMemoryIsGivenBack(() -> path.restIfDue(RingPath.REST_NS));
    }

    @Test
    void theMemoryOfAWriterThatDiesWhileItLeavesIsGivenBack() {
        send(1, 10);
        both.receive(10);
        dieWhileMemoryIsGivenBack(path::close);
    }

    /** Who polls without a pause asks for no deadline. */
    @Test
    void theMemoryOfADeadWriterIsGivenBackThoughNobodyAsksWhen() {
        send(1, 10);
        both.receive(10);
        both.mailbox.sweepIfDue(0);
        both.dead.add(1);
        both.mailbox.sweepIfDue(Mailbox.SWEEP_NS - 1);
        assertThat(both.released).isZero();
        both.mailbox.sweepIfDue(Mailbox.SWEEP_NS);
        assertThat(both.released).isOne();
    }

    private void takeTheOtherRings() {
        for (int prefix = 2; prefix <= 4; prefix++) {
            both.claim(prefix);
        }
    }

    @Test
    void aRingThatIsBeingTakenIsNotGivenBack() {
        takeTheOtherRings();
        send(1, 10);
        both.receive(10);
        both.dead.add(1);
        both.reader.whileMapped = () -> {
            both.reader.whileMapped = () -> {};
            // What it says is still the dead one's.
            both.mailbox.sweepIfDue(both.mailbox.sweepDueNs(0));
            assertThat(both.tryClaim(6)).isNull();
        };
        assertThat(both.tryClaim(5)).isNotNull();
        assertThat(both.released).isZero();
        assertThat(both.tryClaim(6)).isNull();
    }

    private void dieWhileTakingARing(int prefix) {
        both.reader.whileMapped = () -> {
            throw new Killed();
        };
        assertThatExceptionOfType(Killed.class).isThrownBy(() -> both.tryClaim(prefix));
        both.reader.whileMapped = () -> {};
    }

    @Test
    void aRingWhoseTakerHasDiedIsTakenByAnother() {
        takeTheOtherRings();
        path.close();
        dieWhileTakingARing(5);
        assertThat(both.tryClaim(6)).isNull();
        both.dead.add(5);
        assertThat(both.tryClaim(6)).isNotNull();
    }

    @Test
    void aRingWhoseTakerHasDiedIsGivenBack() {
        takeTheOtherRings();
        send(1, 10);
        both.receive(10);
        both.dead.add(1);
        dieWhileTakingARing(5);
        both.mailbox.sweepIfDue(both.mailbox.sweepDueNs(0));
        assertThat(both.released).isZero();
        both.dead.add(5);
        both.mailbox.sweepIfDue(both.mailbox.sweepDueNs(0));
        assertThat(both.released).isOne();
        assertThat(both.tryClaim(6)).isNotNull();
    }

    @Test
    void aRingThatItsReaderGivesBackIsNotTakenMeanwhile() {
        takeTheOtherRings();
        send(1, 10);
        both.receive(10);
        both.dead.add(1);
        // No process has this prefix; that does not mean that a process has died.
        both.dead.add(RingLayout.READER);
        both.whileReleased = () -> assertThat(both.tryClaim(6)).isNull();
        both.mailbox.sweepIfDue(both.mailbox.sweepDueNs(0));
        assertThat(both.released).isOne();
    }

    // ---------------------------------------------------------------- nonsense

    @Test
    void nonsenseIsNotReadAndHarmsNoOtherRing() {
        RingPath other = both.claim(2);
        send(1, 10);
        both.receive(10);
        MemorySegment records = both.memory.asSlice(RingLayout.recordsAt(0),
                RingLayout.CAPACITY);
        records.fill((byte) 0x5a);
        other.send(both.packet(TwoProcesses.OTHER_WRITER, 2, 10), 0);
        both.receive(10);
        both.receive(10);
        assertThat(both.nonsense).isOne();
        assertThat(both.received).containsExactly(1, 2);
        assertThat(both.mailbox.beginSleep()).isTrue();
    }

    private void sendNonsense() {
        both.receive(1);
        send(1, 10);
        both.memory.asSlice(RingLayout.recordsAt(0), 64).fill((byte) 0x5a);
        both.receive(10);
        assertThat(both.nonsense).isOne();
    }

    @Test
    void theMemoryOfABrokenRingIsGivenBackAndAgainWhenItsWriterLeaves() {
        sendNonsense();
        assertThat(both.released).isOne();
        both.receive(10);
        assertThat(both.released).isOne();
        send(2, 10);
        path.restIfDue(RingPath.REST_NS);
        assertThat(path.isOpen()).isFalse();
        assertThat(both.released).isEqualTo(2);
        both.receive(10);
        assertThat(both.mailbox.sweepDueNs(0)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void theMemoryOfABrokenRingIsGivenBackWhenItsWriterHasDied() {
        sendNonsense();
        send(2, 10);
        both.dead.add(1);
        both.mailbox.sweepIfDue(both.mailbox.sweepDueNs(0));
        assertThat(both.released).isEqualTo(2);
        assertThat(both.mailbox.sweepDueNs(0)).isEqualTo(Long.MAX_VALUE);
    }

    /** A reader that believed it would come round to the same word, and never end. */
    @Test
    void aLapThatIsSkippedAsAWholeIsNonsense() throws Exception {
        HostileRing hostile = Objects.requireNonNull(HostileRing.take(both.memory));
        hostile.skip(0);
        assertThat(CompletableFuture.supplyAsync(() -> both.receive(10)).get(20,
                TimeUnit.SECONDS)).isZero();
        assertThat(hostile.isBroken()).isTrue();
        assertThat(both.nonsense).isOne();
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
            path.send(both.packet(TwoProcesses.WRITER, 1, 4096), 0);
        }
        assertThat(path.hasRoom(101 * MS)).isTrue();
        assertThat(path.isOpen()).isFalse();
        RingPath next = both.claim(7);
        next.send(both.packet(TwoProcesses.WRITER, 3, 10), 0);
        both.receive(10);
        assertThat(both.received).containsExactly(3);
    }
}
