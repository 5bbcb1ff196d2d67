package io.rdma4j.protocol.roce.rc;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class CongestionWindowTest {
    private static final int MOST = 512;

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
    void silenceLeavesTwoPackets() {
        fill();
        window.onTimeout(1512);
        window.onTimeout(1512);
        assertThat(window.packets()).isEqualTo(2);
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
        window.onLoss(1000, 1512);
        window.onLateAnswer();
        assertThat(window.packets()).isEqualTo(2);
        window.onAcknowledged(254, 1254);
        assertThat(window.packets()).isEqualTo(MOST / 2);
        window.onAcknowledged(MOST / 2, 1512);
        assertThat(window.packets()).isEqualTo(MOST / 2 + 1);
    }
}
