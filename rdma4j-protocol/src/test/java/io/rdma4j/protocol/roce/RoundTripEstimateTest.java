// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The numbers of RFC 6298, section 2. */
class RoundTripEstimateTest {
    private final RoundTripEstimate estimate = new RoundTripEstimate();

    @Test
    void nothingIsKnownBeforeTheFirstAnswer() {
        assertThat(estimate.isKnown()).isFalse();
    }

    @Test
    void firstAnswerVariesByHalf() {
        estimate.add(1000);
        assertThat(estimate.isKnown()).isTrue();
        assertThat(estimate.overdueNs()).isEqualTo(1000 + 4 * 500);
    }

    @Test
    void laterAnswersMoveItByAnEighthAndAQuarter() {
        estimate.add(1000);
        estimate.add(1800);
        // Variation 500 + (800 - 500) / 4, smoothed 1000 + 800 / 8.
        assertThat(estimate.overdueNs()).isEqualTo(1100 + 4 * 575);
    }

    @Test
    void shortestIsRemembered() {
        estimate.add(1000);
        estimate.add(300);
        estimate.add(5000);
        assertThat(estimate.shortestNs()).isEqualTo(300);
    }

    @Test
    void pathThatLosesPacketsBeginsAnewBehindALosslessOne() {
        estimate.add(50, true);
        estimate.add(70, true);
        assertThat(estimate.isOfLosslessPath()).isTrue();
        estimate.add(1000);
        assertThat(estimate.isOfLosslessPath()).isFalse();
        assertThat(estimate.smoothedNs()).isEqualTo(1000);
        assertThat(estimate.shortestNs()).isEqualTo(1000);
    }

    @Test
    void answerWithoutAnyTimeIsOneToo() {
        estimate.add(0);
        assertThat(estimate.isKnown()).isTrue();
    }
}
