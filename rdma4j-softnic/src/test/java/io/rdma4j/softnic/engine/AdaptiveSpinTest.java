// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** How long who runs the engine looks for packets before going to sleep. */
class AdaptiveSpinTest {
    private static final long US = 1_000;

    private long nowNs;
    /** How long others had the processor. */
    private long awayNs;
    private final AdaptiveSpin spin = new AdaptiveSpin(() -> nowNs + awayNs,
            new ProcessorContention(() -> nowNs + awayNs));

    private void receive() {
        spin.onRound(true, nowNs);
        spin.onRound(false, nowNs);
    }

    /** Looks until it is to sleep, sleeps until a time after the last packet, and receives. */
    private void sleepUntil(long afterNs) {
        nowNs += afterNs;
        spin.onWoken(nowNs);
        receive();
    }

    @Test
    void itGoesOnForAWhileAfterThePacketAndNoLonger() {
        receive();
        long durationNs = spin.durationNs();
        assertThat(spin.goesOn(nowNs + durationNs - 1)).isTrue();
        assertThat(spin.goesOn(nowNs + durationNs)).isFalse();
    }

    @Test
    void itDoesNotBeginWithoutAPacket() {
        spin.onRound(false, 0);
        assertThat(spin.goesOn(0)).isFalse();
    }

    @Test
    void itLooksLongerWhereSleepWasShort() {
        receive();
        sleepUntil(60 * US);
        assertThat(spin.durationNs()).isEqualTo(AdaptiveSpin.LONGEST_NS);
    }

    @Test
    void itLooksShorterWhereSleepIsLong() {
        receive();
        for (int i = 0; i < 10; i++) {
            sleepUntil(1_000 * US);
        }
        assertThat(spin.durationNs()).isEqualTo(AdaptiveSpin.SHORTEST_NS);
        sleepUntil(50 * US);
        assertThat(spin.durationNs()).isEqualTo(AdaptiveSpin.LONGEST_NS);
    }

    @Test
    void itLooksLongerWhereEachRoundIsInterpreted() {
        for (int i = 0; i < 4; i++) {
            runEmptyRound(10 * US);
        }
        receive();
        sleepUntil(200 * US);
        assertThat(spin.durationNs()).isEqualTo(AdaptiveSpin.ROUNDS * 10 * US);
        sleepUntil(10_000 * US);
        assertThat(spin.durationNs()).isEqualTo(AdaptiveSpin.ROUNDS * 10 * US / 2);
    }

    @Test
    void oneRoundThatOthersInterruptDoesNotCount() {
        for (int i = 0; i < 4; i++) {
            runEmptyRound(US);
        }
        runEmptyRound(3_000 * US);
        receive();
        sleepUntil(50 * US);
        assertThat(spin.durationNs()).isEqualTo(AdaptiveSpin.LONGEST_NS);
    }

    @Test
    void itNeverLooksForMoreThanTheLimit() {
        for (int i = 0; i < 4; i++) {
            runEmptyRound(200 * US);
        }
        receive();
        sleepUntil(900 * US);
        assertThat(spin.durationNs()).isEqualTo(AdaptiveSpin.LIMIT_NS);
    }

    private void runEmptyRound(long tookNs) {
        spin.onRound(false, nowNs);
        nowNs += tookNs;
        spin.goesOn(nowNs);
    }

    @Test
    void itGivesUpAtOnceWhereTheProcessorCameBackLate() {
        receive();
        awayNs = ProcessorContention.LONG_NS + 1;
        assertThat(spin.goesOn(nowNs)).isTrue();
        nowNs += awayNs;
        awayNs = 0;
        receive();
        assertThat(spin.goesOn(nowNs)).isFalse();
        nowNs += ProcessorContention.SHORTEST_TRUST_NS;
        receive();
        assertThat(spin.goesOn(nowNs)).isTrue();
    }

    /** A waiter that has its event leaves, and comes back when it likes. */
    @Test
    void timeBetweenTwoWaitsIsNotTimeThatOthersWorked() {
        receive();
        assertThat(spin.goesOn(nowNs)).isTrue();
        nowNs += 1_000 * ProcessorContention.LONG_NS;
        receive();
        assertThat(spin.goesOn(nowNs)).isTrue();
    }

    @Test
    void onlyBehindASleepSomethingMayBeAnywhere() {
        assertThat(spin.isWoken()).as("at first").isTrue();
        spin.onRound(false, nowNs);
        assertThat(spin.isWoken()).isFalse();
        spin.goesOn(nowNs);
        assertThat(spin.isWoken()).isFalse();
        spin.onWoken(nowNs);
        assertThat(spin.isWoken()).isTrue();
        spin.onRound(true, nowNs);
        assertThat(spin.isWoken()).isFalse();
    }
}
