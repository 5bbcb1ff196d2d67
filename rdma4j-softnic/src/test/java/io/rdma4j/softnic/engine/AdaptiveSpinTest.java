package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** How long who runs the engine looks for packets before going to sleep. */
class AdaptiveSpinTest {
    private static final long US = 1_000;

    private final AdaptiveSpin spin = new AdaptiveSpin(0);
    private long nowNs;

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
    void itGivesUpAtOnceWhereTheProcessorCameBackLate() {
        receive();
        assertThat(spin.goesOn(nowNs)).isTrue();
        nowNs += Crowding.LONG_NS + 1;
        receive();
        assertThat(spin.goesOn(nowNs)).isFalse();
        nowNs += Crowding.SHORTEST_TRUST_NS;
        receive();
        assertThat(spin.goesOn(nowNs)).isTrue();
    }
}
