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

    private final TwoProcesses both = new TwoProcesses();

    private static MemorySegment mailbox(Arena arena, int rings) {
        MemorySegment memory = arena.allocate(Mailbox.length(rings), 64);
        assertThat(new Mailbox(memory, NONCE, new TwoProcesses()).beginSleep()).isTrue();
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
            assertThat(both.tryClaim(prefix)).isNotNull();
        }
        assertThat(both.tryClaim(5)).isNull();
        both.dead.add(2);
        assertThat(both.tryClaim(5)).isNotNull();
        assertThat(both.tryClaim(6)).isNull();
    }

    // ---------------------------------------------------------------- sleep

    @Test
    void readerSleepsWhileNothingIsToBeRead() {
        RingPath path = both.claim(1);
        assertThat(both.mailbox.isAsleep()).isFalse();
        assertThat(both.mailbox.beginSleep()).isTrue();
        assertThat(both.mailbox.isAsleep()).isTrue();
        both.mailbox.endSleep();
        assertThat(both.mailbox.isAsleep()).isFalse();
        path.send(both.packet(TwoProcesses.WRITER, 1, 10), 0);
        assertThat(both.mailbox.beginSleep()).isFalse();
        assertThat(both.mailbox.isAsleep()).isFalse();
        assertThat(both.receive(10)).isEqualTo(1);
        assertThat(both.mailbox.beginSleep()).isTrue();
        both.mailbox.endSleep();
    }

    /** It has not looked yet where the new writer writes. */
    @Test
    void readerDoesNotSleepBeforeItKnowsEachWriter() {
        both.receive(1);
        RingPath path = both.claim(1);
        path.send(both.packet(TwoProcesses.WRITER, 1, 10), 0);
        assertThat(both.mailbox.beginSleep()).isFalse();
    }

    @Test
    void eachSleepHasAnotherNumber() {
        assertThat(both.mailbox.beginSleep()).isTrue();
        int first = both.memory.get(ValueLayout.JAVA_INT, RingLayout.ASLEEP_AT);
        both.mailbox.endSleep();
        assertThat(both.mailbox.beginSleep()).isTrue();
        assertThat(both.memory.get(ValueLayout.JAVA_INT, RingLayout.ASLEEP_AT))
                .isNotEqualTo(first).isNotZero();
    }

    // ---------------------------------------------------------------- writers that have gone

    @Test
    void packetsOfAWriterAreHeldUntilTheyAreRead() {
        RingPath path = both.claim(1);
        RingPath other = both.claim(2);
        assertThat(both.mailbox.holdsPacketsOf(1)).isFalse();
        path.send(both.packet(TwoProcesses.WRITER, 1, 10), 0);
        assertThat(both.mailbox.holdsPacketsOf(1)).as("before it is found").isTrue();
        both.receive(10);
        path.send(both.packet(TwoProcesses.WRITER, 2, 10), 0);
        assertThat(both.mailbox.holdsPacketsOf(1)).isTrue();
        assertThat(both.mailbox.holdsPacketsOf(2)).as("of another writer").isFalse();
        other.send(both.packet(TwoProcesses.WRITER, 1, 10), 0);
        both.receive(10);
        assertThat(both.mailbox.holdsPacketsOf(1)).isFalse();
    }

    @Test
    void mailboxWithoutWritersIsNotLookedAfter() {
        both.receive(1);
        assertThat(both.mailbox.sweepDueNs(5)).isEqualTo(Long.MAX_VALUE);
        both.mailbox.sweepIfDue(Long.MAX_VALUE - 1);
        assertThat(both.released).isZero();
    }

    @Test
    void ringOfADeadWriterIsFreedWhenItIsLookedForAndNotBefore() {
        RingPath path = both.claim(1);
        path.send(both.packet(TwoProcesses.WRITER, 1, 10), 0);
        both.receive(10);
        assertThat(both.mailbox.sweepDueNs(5)).isEqualTo(5 + Mailbox.SWEEP_NS);
        assertThat(both.mailbox.sweepDueNs(70)).isEqualTo(5 + Mailbox.SWEEP_NS);
        both.dead.add(1);
        both.mailbox.sweepIfDue(4 + Mailbox.SWEEP_NS);
        assertThat(both.released).isZero();
        both.mailbox.sweepIfDue(5 + Mailbox.SWEEP_NS);
        assertThat(both.released).isEqualTo(1);
        assertThat(both.mailbox.sweepDueNs(6 + Mailbox.SWEEP_NS)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void ringOfALivingWriterIsLeftAlone() {
        RingPath path = both.claim(1);
        path.send(both.packet(TwoProcesses.WRITER, 1, 10), 0);
        both.receive(10);
        long dueNs = both.mailbox.sweepDueNs(0);
        both.mailbox.sweepIfDue(dueNs);
        assertThat(both.released).isZero();
        assertThat(both.mailbox.sweepDueNs(dueNs)).isEqualTo(dueNs + Mailbox.SWEEP_NS);
        assertThat(path.send(both.packet(TwoProcesses.WRITER, 2, 10), 0))
                .isEqualTo(PacketPort.Sent.SENT);
        assertThat(both.receive(10)).isEqualTo(1);
    }
}
