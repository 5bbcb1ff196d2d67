package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** How long who runs the engine looks for packets before going to sleep. */
class AdaptiveSpinTest {
    private static final long US = 1_000;

    private final AdaptiveSpin linger = new AdaptiveSpin(0);
    private long nowNs;

    private void receive() {
        linger.onRound(true, nowNs);
        linger.onRound(false, nowNs);
    }

    /** Looks until it is to sleep, sleeps until a time after the last packet, and receives. */
    private void sleepUntil(long afterNs) {
        nowNs += afterNs;
        linger.onWoken(nowNs);
        receive();
    }

    @Test
    void itGoesOnForAWhileAfterThePacketAndNoLonger() {
        receive();
        long durationNs = linger.durationNs();
        assertThat(linger.goesOn(nowNs + durationNs - 1)).isTrue();
        assertThat(linger.goesOn(nowNs + durationNs)).isFalse();
    }

    @Test
    void itDoesNotBeginWithoutAPacket() {
        linger.onRound(false, 0);
        assertThat(linger.goesOn(0)).isFalse();
    }

    @Test
    void itLooksLongerWhereSleepWasShort() {
        receive();
        sleepUntil(60 * US);
        assertThat(linger.durationNs()).isEqualTo(AdaptiveSpin.LONGEST_NS);
    }

    @Test
    void itLooksShorterWhereSleepIsLong() {
        receive();
        for (int i = 0; i < 10; i++) {
            sleepUntil(1_000 * US);
        }
        assertThat(linger.durationNs()).isEqualTo(AdaptiveSpin.SHORTEST_NS);
        sleepUntil(50 * US);
        assertThat(linger.durationNs()).isEqualTo(AdaptiveSpin.LONGEST_NS);
    }
}
