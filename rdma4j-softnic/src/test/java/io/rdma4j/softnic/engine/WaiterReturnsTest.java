// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Whether a waiter that leaves work behind is waited for. */
class WaiterReturnsTest {
    private static final long SOON_NS = WaiterReturns.SOON_NS;

    private final WaiterReturns returns = new WaiterReturns();
    private long nowNs;

    private boolean leave() {
        return returns.isExpected(nowNs);
    }

    private void returnAfter(long ns) {
        nowNs += ns;
        returns.onReturn(nowNs);
    }

    @Test
    void whoComesBackSoonIsExpected() {
        for (int i = 0; i < 10; i++) {
            assertThat(leave()).isTrue();
            returnAfter(SOON_NS - 1);
        }
    }

    @Test
    void whoHasComeLateIsNotExpectedUntilOneComesSoon() {
        assertThat(leave()).isTrue();
        returnAfter(SOON_NS);
        assertThat(leave()).isFalse();
        returnAfter(SOON_NS - 1);
        assertThat(leave()).isTrue();
    }

    @Test
    void whoComesLateAgainAndAgainIsExpectedNowAndThen() {
        int expected = 0;
        for (int i = 0; i <= 10 * WaiterReturns.LEAVES_PER_TRIAL; i++) {
            expected += leave() ? 1 : 0;
            returnAfter(SOON_NS);
        }
        assertThat(expected).isEqualTo(11);
    }

    /** They say nothing of those that leave work. */
    @Test
    void thoseWhoLeaveNoWorkMayStayAway() {
        assertThat(leave()).isTrue();
        returnAfter(1);
        returnAfter(SOON_NS);
        assertThat(leave()).isTrue();
    }
}
