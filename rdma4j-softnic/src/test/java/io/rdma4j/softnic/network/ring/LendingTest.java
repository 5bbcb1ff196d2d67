// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.Registration;
import io.rdma4j.softnic.network.PacketPort;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Random;

import static io.rdma4j.softnic.network.ring.RingLayout.LENT_AT_A_TIME;
import static io.rdma4j.softnic.network.ring.RingLayout.MAX_LENT;
import static io.rdma4j.softnic.network.ring.RingLayout.MIN_LENT;
import static org.assertj.core.api.Assertions.assertThat;

/** Payloads that a ring only names, and that the reader copies from the pages of the writer. */
class LendingTest {
    private static final int PEER = 77;

    private final TwoProcesses both = new TwoProcesses();
    private final RingPath path = both.claim(1);
    private final Registration registration = () -> 4096;
    private final Registration other = () -> 0;

    LendingTest() {
        path.lendFrom(TwoProcesses.LENDING);
    }

    private PacketPort.Sent send(int number, int length, Registration by, int place) {
        return path.send(both.lendable(number, length, by, place), 0);
    }

    private void lend(int number, int length, Registration by, int place) {
        assertThat(send(number, length, by, place)).isEqualTo(PacketPort.Sent.LENT);
    }

    private void lend(int number) {
        lend(number, MAX_LENT, registration, 4096 + number * MAX_LENT);
    }

    // ---------------------------------------------------------------- what is lent

    @ParameterizedTest
    @CsvSource({"8191, false", "8192, true", "65536, true"})
    void payloadIsLentFromALengthOn(int length, boolean isLent) {
        assertThat(send(1, length, registration, 8192))
                .isEqualTo(isLent ? PacketPort.Sent.LENT : PacketPort.Sent.SENT);
        assertThat(both.receive(10)).isEqualTo(1);
        assertThat(both.payloads.getFirst()).isEqualTo(TwoProcesses.bytes(1, length));
        assertThat(both.withdrawn).containsExactly(false);
        assertThat(both.sectionsAsked).isEqualTo(isLent ? 1 : 0);
    }

    @Test
    void bytesAreReadWhenThePacketIsAndNotBefore() {
        lend(1);
        byte[] changed = TwoProcesses.bytes(99, MAX_LENT);
        both.pages.asSlice(4096 + MAX_LENT, MAX_LENT)
                .copyFrom(MemorySegment.ofArray(changed));
        both.receive(1);
        assertThat(both.payloads.getFirst()).isEqualTo(changed);
    }

    @Test
    void lentAndCopiedPayloadsAndAcknowledgementsArriveInOrder() {
        Random random = new Random(3);
        for (int number = 0; number < 3_000; number++) {
            while (!path.hasRoom(0)) {
                both.receive(1 + random.nextInt(3));
            }
            int length = random.nextInt(MAX_LENT + 1);
            OutgoingPacket packet = random.nextBoolean()
                    ? both.lendable(number, length, other,
                            random.nextInt(32) * MAX_LENT)
                    : both.packet(random.nextBoolean() ? TwoProcesses.WRITER
                            : TwoProcesses.OTHER_WRITER, number, length);
            if (random.nextBoolean()) {
                packet.piggyback(number, 0, 0);
            }
            assertThat(path.send(packet, 0)).isIn(PacketPort.Sent.SENT, PacketPort.Sent.LENT);
        }
        both.receive(10_000);
        assertThat(both.received).hasSize(3_000).isSorted();
        assertThat(both.withdrawn).doesNotContain(true);
        assertThat(both.sectionsAsked).as("the section is kept").isEqualTo(1);
        assertThat(both.nonsense + both.malformed).isZero();
    }

    @Test
    void memoryThatIsNotOfTheDeviceIsCopied() {
        assertThat(send(1, MAX_LENT, () -> Registration.NOT_SHARED, 0))
                .isEqualTo(PacketPort.Sent.SENT);
        assertSentAsBytes();
    }

    @Test
    void payloadInTwoSectionsIsCopied() {
        MemoryReference reference = new MemoryReference();
        Registration atTheEnd = () -> LentSection.LENGTH - MIN_LENT;
        reference.point(both.pages, 1, atTheEnd);
        path.send(write(Opcode.RC_WRITE_MIDDLE, reference), 0);
        assertSentAsBytes();
    }

    /** Its send completes when it has left, and then the program may change the memory. */
    @ParameterizedTest
    @EnumSource(value = Opcode.class, names = {"UC_SEND_ONLY", "UD_SEND_ONLY"})
    void datagramIsCopied(Opcode opcode) {
        MemoryReference reference = new MemoryReference();
        reference.point(both.pages, 0, registration);
        path.send(write(opcode, reference), 0);
        assertSentAsBytes();
    }

    @Test
    void payloadOfSeveralPiecesIsCopied() {
        MemoryReference reference = new MemoryReference();
        reference.point(both.pages, 0, registration);
        OutgoingPacket packet = write(Opcode.RC_WRITE_MIDDLE, reference);
        packet.addPayload(reference, MIN_LENT);
        path.send(packet, 0);
        assertSentAsBytes();
    }

    private static OutgoingPacket write(Opcode opcode, MemoryReference reference) {
        OutgoingPacket packet = new OutgoingPacket().begin(opcode,
                Path.between(TwoProcesses.WRITER, TwoProcesses.READER), PEER, 1, false, false);
        packet.addPayload(reference, MIN_LENT);
        return packet;
    }

    private void assertSentAsBytes() {
        both.lends = false;
        assertThat(both.receive(10)).isEqualTo(1);
        assertThat(both.withdrawn).containsExactly(false);
        assertThat(both.sectionsAsked).isZero();
    }

    // ---------------------------------------------------------------- how much

    @Test
    void noMoreIsLentThanIsReadInATurn() {
        int sent = 0;
        while (path.hasRoom(0)) {
            lend(sent++);
        }
        assertThat(sent).isEqualTo(LENT_AT_A_TIME / MAX_LENT);
        both.receive(1);
        assertThat(path.hasRoom(0)).isTrue();
    }

    /** Half of it is read: otherwise one would be woken for each packet. */
    @Test
    void writerThatSleepsIsWokenWhenItMayLendAgain() {
        boolean[] isAsleep = {true};
        RingPath sleeper = both.claim(2, () -> isAsleep[0]);
        sleeper.lendFrom(TwoProcesses.LENDING);
        int sent = 0;
        while (sleeper.hasRoom(0)) {
            sleeper.send(both.lendable(sent++, MAX_LENT, registration, 4096), 0);
        }
        assertThat(sleeper.sleeps()).isTrue();
        both.receive(1);
        assertThat(both.wokenWriters).isEqualTo(1);
        both.receive(sent / 2);
        assertThat(sleeper.hasRoom(0)).isTrue();
    }

    // ---------------------------------------------------------------- withdrawing

    @Test
    void whatARegistrationHasLentIsWithdrawnWithIt() {
        lend(1, MAX_LENT, registration, 4096);
        lend(2, MAX_LENT, other, 4096);
        lend(3, MAX_LENT, registration, 4096);
        path.withdraw(registration);
        both.receive(10);
        assertThat(both.withdrawn).containsExactly(true, false, true);
    }

    @Test
    void whatLiesInMemoryThatEndsIsWithdrawn() {
        lend(1, MIN_LENT, other, 0);
        lend(2, MIN_LENT, other, MIN_LENT);
        lend(3, MIN_LENT, registration, 3 * MIN_LENT - 1);
        lend(4, MIN_LENT, other, 4 * MIN_LENT);
        path.withdraw(MIN_LENT, 2 * MIN_LENT);
        both.receive(10);
        assertThat(both.withdrawn).containsExactly(false, true, true, false);
    }

    /** A response is still right after its queue pair has failed. */
    @Test
    void requestsToAQueuePairAreWithdrawnAndResponsesNot() {
        lend(1);
        MemoryReference reference = new MemoryReference();
        reference.point(both.pages, 0, registration);
        path.send(write(Opcode.RC_READ_RESPONSE_MIDDLE, reference), 0);
        path.withdrawRequests(PEER + 1);
        path.withdrawRequests(PEER);
        both.receive(10);
        assertThat(both.withdrawn).containsExactly(true, false);
    }

    @Test
    void requestsToOtherQueuePairsAreNot() {
        lend(1);
        path.withdrawRequests(PEER + 1);
        both.receive(10);
        assertThat(both.withdrawn).containsExactly(false);
    }

    @Test
    void whatWasLentIsWithdrawnWhenTheWayIsClosed() {
        lend(1);
        lend(2);
        path.close();
        both.receive(10);
        assertThat(both.withdrawn).containsExactly(true, true);
    }

    @Test
    void payloadThatIsWithdrawnWhileItIsCopiedDoesNotCount() {
        lend(1);
        both.whileBorrowed = () -> path.withdraw(registration);
        both.receive(10);
        assertThat(both.withdrawn).containsExactly(true);
    }

    /** The place of the record may be another's by then. */
    @Test
    void whatWasReadIsNotWithdrawn() {
        for (int i = 0; i < 3_000; i++) {
            lend(i % 16, MIN_LENT, registration, 4096);
            both.receive(10);
            path.send(both.packet(TwoProcesses.WRITER, 1, 30_000), 0);
            path.withdraw(registration);
            both.receive(10);
        }
        assertThat(both.withdrawn).doesNotContain(true);
        assertThat(both.payloads.getLast()).isEqualTo(TwoProcesses.bytes(1, 30_000));
        assertThat(both.nonsense + both.malformed).isZero();
    }

    @Test
    void manyAreWithdrawnWhereverTheyAre() {
        for (int round = 0; round < 5; round++) {
            for (int i = 0; i < 40; i++) {
                lend(i, MIN_LENT, i % 3 == 0 ? registration : other, 4096);
            }
            path.withdraw(registration);
            both.receive(100);
            for (int i = 0; i < 40; i++) {
                assertThat(both.withdrawn.get(i)).as("%d", i).isEqualTo(i % 3 == 0);
            }
            both.withdrawn.clear();
            lend(1);
            both.receive(1);
            both.withdrawn.clear();
        }
    }

    // ---------------------------------------------------------------- what cannot be had

    @Test
    void readerThatMayNotHaveThePagesIsLentNothingMore() {
        both.lends = false;
        lend(1);
        lend(2);
        both.receive(10);
        assertThat(both.withdrawn).containsExactly(true, true);
        assertThat(both.sectionsAsked).as("asked once").isEqualTo(1);
        assertThat(send(1, MAX_LENT, registration, 4096 + MAX_LENT))
                .isEqualTo(PacketPort.Sent.SENT);
        both.receive(10);
        assertThat(both.withdrawn).containsExactly(true, true, false);
        assertThat(both.payloads.getLast()).isEqualTo(TwoProcesses.bytes(1, MAX_LENT));
    }

    @Test
    void nextWriterOfTheRingLendsAgain() {
        both.lends = false;
        lend(1);
        both.receive(10);
        path.close();
        both.lends = true;
        RingPath next = both.claim(3);
        next.lendFrom(new Lender() {
            @Override
            public long nonce() {
                return TwoProcesses.LENDER + 1;
            }

            @Override
            public int descriptor() {
                return 1;
            }
        });
        next.send(both.lendable(2, MAX_LENT, registration, 4096), 0);
        both.receive(10);
        assertThat(both.sectionsAsked).isEqualTo(2);
    }

    @Test
    void sectionThatWasUnmappedIsAskedForAgain() {
        try (Arena arena = Arena.ofConfined()) {
            both.mapUntilClosed(arena);
            lend(1);
            both.receive(10);
        }
        both.mapAgain();
        lend(2);
        both.receive(10);
        assertThat(both.withdrawn).containsExactly(false, false);
        assertThat(both.sectionsAsked).isEqualTo(2);
    }

    // ---------------------------------------------------------------- a process that lies

    private static byte[] header(Opcode opcode) {
        byte[] header = new byte[opcode.headerLength()];
        header[0] = (byte) opcode.code();
        return header;
    }

    private void lie(Opcode opcode, int length, long owner, long place) {
        HostileRing hostile = Objects.requireNonNull(HostileRing.take(both.memory));
        hostile.lend(TwoProcesses.WRITER, TwoProcesses.READER, header(opcode), length, 1, owner,
                TwoProcesses.DESCRIPTOR, place, 0);
        assertThat(both.receive(10)).isLessThanOrEqualTo(1);
    }

    @ParameterizedTest
    @CsvSource({"-1", "-9223372036854775808", "9223372036854775807", "70368744177664",
        "268435455"})
    void placeThatCannotBeIsNoPacket(long place) {
        lie(Opcode.RC_WRITE_MIDDLE, 2, TwoProcesses.LENDER, place);
        assertThat(both.malformed).isEqualTo(1);
        assertThat(both.received).isEmpty();
        assertThat(both.sectionsAsked).isZero();
    }

    @Test
    void pagesOfNobodyAreGone() {
        lie(Opcode.RC_WRITE_MIDDLE, 4096, TwoProcesses.LENDER + 1, 0);
        assertThat(both.withdrawn).containsExactly(true);
    }

    /** Whoever handles them does not look whether the payload was withdrawn. */
    @ParameterizedTest
    @EnumSource(value = Opcode.class, names = {"UC_SEND_ONLY", "UD_SEND_ONLY", "RC_ATOMIC_WRITE",
        "RC_ACKNOWLEDGE", "RC_READ_REQUEST"})
    void onlyDataOfReliableConnectionsIsLent(Opcode opcode) {
        lie(opcode, 8, TwoProcesses.LENDER, 0);
        assertThat(both.malformed).isEqualTo(1);
        assertThat(both.received).isEmpty();
    }

    @Test
    void lentPayloadThatIsTooLongBreaksTheRing() {
        lie(Opcode.RC_WRITE_MIDDLE, MAX_LENT + 1, TwoProcesses.LENDER, 0);
        assertThat(both.nonsense).isEqualTo(1);
    }
}
