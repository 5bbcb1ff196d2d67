// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import io.rdma4j.softnic.network.PacketPort;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** What memory is taken for a mailbox, when its reader may sleep, and when it looks for writers that have gone. */
class MailboxTest {
    private static final long NONCE = 99;

    private final Meeting meeting = new Meeting();

    private static MemorySegment mailbox(Arena arena, int rings) {
        MemorySegment memory = arena.allocate(Mailbox.length(rings), 64);
        assertThat(new Mailbox(memory, NONCE, new Meeting()).beginSleep()).isTrue();
        return memory;
    }

    // ---------------------------------------------------------------- what is one

    @Test
    void mailboxIsKnownByItsNonce() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = mailbox(arena, 1);
            assertThat(Mailbox.is(memory, NONCE)).isTrue();
            assertThat(Mailbox.is(memory, NONCE + 1)).isFalse();
            assertThat(Mailbox.is(arena.allocate(Mailbox.length(1), 64), 0)).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {RingLayout.MAGIC_AT, RingLayout.VERSION_AT, RingLayout.NONCE_AT})
    void memoryInWhichAnyOfItsMarksIsAnotherIsNone(long at) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment memory = mailbox(arena, 1);
            memory.set(ValueLayout.JAVA_INT, at, memory.get(ValueLayout.JAVA_INT, at) ^ 1);
            assertThat(Mailbox.is(memory, NONCE)).isFalse();
        }
    }

    @Test
    void mailboxHasFromOneRingToTwoHundredFiftySix() {
        assertThat(Mailbox.length(1)).isEqualTo((1 << 17) + (1 << 19));
        assertThat(Mailbox.length(256)).isEqualTo((1 << 17) + 256L * (1 << 19));
        assertThatIllegalArgumentException().isThrownBy(() -> Mailbox.length(0))
                .withMessageContaining("1 to 256 rings");
        assertThatIllegalArgumentException().isThrownBy(() -> Mailbox.length(257))
                .withMessageContaining("257");
    }

    @Test
    void writersFindAsManyRingsAsItHas() {
        try (Arena arena = Arena.ofConfined()) {
            assertThat(RingLayout.rings(mailbox(arena, 3))).isEqualTo(3);
            MemorySegment head = arena.allocate(Mailbox.headLength(), 64);
            for (int stated : new int[]{-1, 257, Integer.MAX_VALUE}) {
                head.set(ValueLayout.JAVA_INT, RingLayout.RINGS_AT, stated);
                assertThat(RingLayout.rings(head)).isEqualTo(stated < 0 ? 0 : 256);
            }
        }
    }

    @Test
    void thereIsOneRingForEachWriterAndNoneForTheNext() {
        for (int prefix = 1; prefix <= 4; prefix++) {
            assertThat(meeting.tryClaim(prefix)).isNotNull();
        }
        assertThat(meeting.tryClaim(5)).isNull();
        meeting.dead.add(2);
        assertThat(meeting.tryClaim(5)).isNotNull();
        assertThat(meeting.tryClaim(6)).isNull();
    }

    // ---------------------------------------------------------------- sleep

    @Test
    void readerSleepsWhileNothingIsToBeRead() {
        RingPath path = meeting.claim(1);
        assertThat(meeting.mailbox.isAsleep()).isFalse();
        assertThat(meeting.mailbox.beginSleep()).isTrue();
        assertThat(meeting.mailbox.isAsleep()).isTrue();
        meeting.mailbox.endSleep();
        assertThat(meeting.mailbox.isAsleep()).isFalse();
        path.send(meeting.packet(Meeting.WRITER, 1, 10), 0);
        assertThat(meeting.mailbox.beginSleep()).isFalse();
        assertThat(meeting.mailbox.isAsleep()).isFalse();
        assertThat(meeting.receive(10)).isEqualTo(1);
        assertThat(meeting.mailbox.beginSleep()).isTrue();
        meeting.mailbox.endSleep();
    }

    /** It has not looked yet where the new writer writes. */
    @Test
    void readerDoesNotSleepBeforeItKnowsEachWriter() {
        meeting.receive(1);
        RingPath path = meeting.claim(1);
        path.send(meeting.packet(Meeting.WRITER, 1, 10), 0);
        assertThat(meeting.mailbox.beginSleep()).isFalse();
    }

    @Test
    void eachSleepHasAnotherNumber() {
        assertThat(meeting.mailbox.beginSleep()).isTrue();
        int first = meeting.memory.get(ValueLayout.JAVA_INT, RingLayout.ASLEEP_AT);
        meeting.mailbox.endSleep();
        assertThat(meeting.mailbox.beginSleep()).isTrue();
        assertThat(meeting.memory.get(ValueLayout.JAVA_INT, RingLayout.ASLEEP_AT))
                .isNotEqualTo(first).isNotZero();
    }

    // ---------------------------------------------------------------- writers that have gone

    @Test
    void mailboxWithoutWritersIsNotLookedAfter() {
        meeting.receive(1);
        assertThat(meeting.mailbox.sweepDueNs(5)).isEqualTo(Long.MAX_VALUE);
        meeting.mailbox.sweepIfDue(Long.MAX_VALUE - 1);
        assertThat(meeting.released).isZero();
    }

    @Test
    void ringOfADeadWriterIsFreedWhenItIsLookedForAndNotBefore() {
        RingPath path = meeting.claim(1);
        path.send(meeting.packet(Meeting.WRITER, 1, 10), 0);
        meeting.receive(10);
        assertThat(meeting.mailbox.sweepDueNs(5)).isEqualTo(5 + Mailbox.SWEEP_NS);
        assertThat(meeting.mailbox.sweepDueNs(70)).isEqualTo(5 + Mailbox.SWEEP_NS);
        meeting.dead.add(1);
        meeting.mailbox.sweepIfDue(4 + Mailbox.SWEEP_NS);
        assertThat(meeting.released).isZero();
        meeting.mailbox.sweepIfDue(5 + Mailbox.SWEEP_NS);
        assertThat(meeting.released).isEqualTo(1);
        assertThat(meeting.mailbox.sweepDueNs(6 + Mailbox.SWEEP_NS)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void ringOfALivingWriterIsLeftAlone() {
        RingPath path = meeting.claim(1);
        path.send(meeting.packet(Meeting.WRITER, 1, 10), 0);
        meeting.receive(10);
        long dueNs = meeting.mailbox.sweepDueNs(0);
        meeting.mailbox.sweepIfDue(dueNs);
        assertThat(meeting.released).isZero();
        assertThat(meeting.mailbox.sweepDueNs(dueNs)).isEqualTo(dueNs + Mailbox.SWEEP_NS);
        assertThat(path.send(meeting.packet(Meeting.WRITER, 2, 10), 0))
                .isEqualTo(PacketPort.Sent.SENT);
        assertThat(meeting.receive(10)).isEqualTo(1);
    }
}
