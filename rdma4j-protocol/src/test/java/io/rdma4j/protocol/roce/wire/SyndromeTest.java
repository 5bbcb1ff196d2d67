// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.wire;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class SyndromeTest {
    // [IBTA 9.7.7-2]
    @Test
    void creditsAreNeverMoreThanThereAre() {
        for (int receives = 0; receives < 70_000; receives++) {
            int credits = Syndrome.credits(Syndrome.ack(receives));
            assertThat(credits).isBetween(Math.min(receives, 32768) / 2, receives);
        }
        assertThat(Syndrome.credits(Syndrome.ackUnlimited())).isEqualTo(-1);
    }

    // [IBTA 9.7.5-6]
    @Test
    void timersAreThoseOfTheStandard() {
        assertThat(Syndrome.rnrNs(Syndrome.rnr(0))).isEqualTo(655_360_000);
        assertThat(Syndrome.rnrNs(Syndrome.rnr(1))).isEqualTo(10_000);
        assertThat(Syndrome.rnrNs(Syndrome.rnr(12))).isEqualTo(640_000);
        assertThat(Syndrome.rnrNs(Syndrome.rnr(31))).isEqualTo(491_520_000);
    }

    // [IBTA 9.7.5-6]
    @Test
    void kindsAreTold() {
        assertThat(Syndrome.kind(Syndrome.ack(5))).isEqualTo(Syndrome.Kind.ACK);
        assertThat(Syndrome.kind(Syndrome.rnr(5))).isEqualTo(Syndrome.Kind.RNR_NAK);
        assertThat(Syndrome.kind(Syndrome.NAK_REMOTE_ACCESS_ERROR)).isEqualTo(Syndrome.Kind.NAK);
        assertThat(Syndrome.kind(0x40)).isEqualTo(Syndrome.Kind.RESERVED);
    }

    @Test
    void psnsUnwrapToTheNearestCount() {
        assertThat(Psn.unwrap(0, 0xfffffe)).isEqualTo(0x1000000);
        assertThat(Psn.unwrap(0xffffff, 0x1000001)).isEqualTo(0xffffff);
        assertThat(Psn.unwrap(5, 5)).isEqualTo(5);
        assertThat(Psn.wrap(0x1000003)).isEqualTo(3);
    }
}
