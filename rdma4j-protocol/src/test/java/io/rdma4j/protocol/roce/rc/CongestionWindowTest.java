// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class CongestionWindowTest {
    private static final int MOST = 512;
    private static final long ROUND_TRIP_NS = 5_000_000;
    private static final long LONGEST_NS = 60_000_000;

    private final CongestionWindow window = new CongestionWindow();
    private final int initial = window.packets();

    private void fill() {
        window.onAcknowledged(MOST, MOST);
        assertThat(window.packets()).isEqualTo(MOST);
    }

    @Test
    void whatIsAcknowledgedMayBeSentBesides() {
        window.onAcknowledged(10, 10);
        assertThat(window.packets()).isEqualTo(initial + 10);
    }

    @Test
    void itHasABound() {
        fill();
        window.onAcknowledged(1 << 20, 1 << 20);
        assertThat(window.packets()).isEqualTo(MOST);
    }

    @Test
    void lossHalvesItOnceAWindow() {
        fill();
        window.onLoss(1000, 1512);
        window.onLoss(1001, 1512);
        assertThat(window.packets()).isEqualTo(MOST / 2);
        window.onLoss(1512, 1768);
        assertThat(window.packets()).isEqualTo(MOST / 4);
    }

    @Test
    void afterALossItGrowsByOneAWindow() {
        fill();
        window.onLoss(1000, 1512);
        window.onAcknowledged(MOST / 2, 1600);
        assertThat(window.packets()).isEqualTo(MOST / 2 + 1);
    }

    @Test
    void silenceLeavesTwoPacketsAndThenOne() {
        fill();
        window.onTimeout(1512);
        assertThat(window.packets()).isEqualTo(2);
        window.onTimeout(1512);
        window.onTimeout(1512);
        assertThat(window.packets()).isEqualTo(1);
        assertThat(window.spacingNs()).isZero();
    }

    private void narrow() {
        window.path(ROUND_TRIP_NS, LONGEST_NS, true);
        for (int i = 0; i < 10 && window.packets() > 1; i++) {
            window.onLoss(1000L * i, 1000L * i);
        }
        assertThat(window.packets()).isOne();
    }

    @Test
    void whereNothingWaitsInAQueueLossesLeaveSomePackets() {
        for (int i = 0; i < 100; i++) {
            window.onLoss(1000L * i, 1000L * i);
        }
        assertThat(window.packets()).isEqualTo(4);
    }

    @Test
    void whereAQueueIsFullOnePacketIsSpacedFromTheNext() {
        narrow();
        assertThat(window.spacingNs()).isZero();
        window.onLoss(20_000, 20_001);
        assertThat(window.spacingNs()).isEqualTo(2 * ROUND_TRIP_NS);
        window.onLoss(20_000, 20_001);
        assertThat(window.spacingNs()).isEqualTo(4 * ROUND_TRIP_NS);
        for (int i = 0; i < 10; i++) {
            window.onTimeout(20_001);
        }
        assertThat(window.spacingNs()).isEqualTo(8 * ROUND_TRIP_NS);
        assertThat(window.packets()).isOne();
    }

    @Test
    void spacingIsNoLongerThanTheRequestersPatienceAllows() {
        narrow();
        window.path(ROUND_TRIP_NS, 3 * ROUND_TRIP_NS, true);
        for (int i = 0; i < 10; i++) {
            window.onTimeout(20_001);
        }
        assertThat(window.spacingNs()).isEqualTo(3 * ROUND_TRIP_NS);
    }

    @Test
    void spacingEndsWithTheFirstAnswerAndTheWindowGrowsAgain() {
        narrow();
        window.onLoss(20_000, 20_001);
        window.onLoss(20_000, 20_001);
        window.onAcknowledged(1, 20_001);
        assertThat(window.spacingNs()).isZero();
        assertThat(window.packets()).isOne();
        for (int i = 2; i < 20; i++) {
            window.onAcknowledged(1, 20_000 + i);
        }
        assertThat(window.packets()).isBetween(2, 3);
    }

    @Test
    void spacingIsAsBeforeIfAnswersWereMerelyLate() {
        narrow();
        window.onLoss(20_000, 20_001);
        window.onTimeout(20_001);
        window.onTimeout(20_001);
        window.onLateAnswer();
        assertThat(window.spacingNs()).isEqualTo(2 * ROUND_TRIP_NS);
        window.lossless(true);
        assertThat(window.spacingNs()).isZero();
    }

    @Test
    void itIsAsBeforeIfAnswersWereMerelyLate() {
        fill();
        window.onTimeout(1512);
        window.onTimeout(1512);
        window.onLateAnswer();
        assertThat(window.packets()).isEqualTo(MOST);
    }

    @Test
    void whereNothingIsLostItIsLargeUntilThePeerIsSilent() {
        window.lossless(true);
        assertThat(window.packets()).isGreaterThan(MOST);
        window.onTimeout(1512);
        assertThat(window.packets()).isEqualTo(2);
        window.onLateAnswer();
        assertThat(window.packets()).isGreaterThan(MOST);
        window.lossless(false);
        assertThat(window.packets()).isEqualTo(initial);
    }

    @Test
    void afterASilenceWithLossItGrowsToHalfQuicklyAndThenSlowly() {
        fill();
        window.onTimeout(1512);
        window.onAcknowledged(254, 1254);
        assertThat(window.packets()).isEqualTo(MOST / 2);
        window.onAcknowledged(MOST / 2, 1512);
        assertThat(window.packets()).isEqualTo(MOST / 2 + 1);
    }
}
