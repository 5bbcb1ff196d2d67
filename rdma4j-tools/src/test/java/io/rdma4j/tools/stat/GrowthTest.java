// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import org.junit.jupiter.api.Test;

import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

class GrowthTest {
    private final Growth growth = new Growth();
    private long nowNs = 7;

    private void look(long pid) {
        nowNs += TimeUnit.SECONDS.toNanos(1);
        growth.begin(pid, nowNs);
    }

    @Test
    void nothingHasGrownAtTheFirstLookAtAProcess() {
        look(1);
        assertThat(growth.added("sends", 5)).isZero();
        look(2);
        assertThat(growth.added("sends", 5)).isZero();
        assertThat(growth.perSecond(5)).isZero();
    }

    @Test
    void eachProcessIsComparedWithItsOwnLastLook() {
        look(1);
        growth.added("sends", 5);
        look(2);
        growth.added("sends", 100);
        look(1);
        assertThat(growth.added("sends", 9)).isEqualTo(4);
        // Two seconds after its last look.
        assertThat(growth.perSecond(4)).isEqualTo(2);
        look(2);
        assertThat(growth.added("sends", 101)).isOne();
    }

    /** Queue pairs come and go: their numbers are given again, and nothing is kept of those that have gone. */
    @Test
    void whatWasNotThereAtTheLastLookHasGrownFromNothing() {
        look(1);
        growth.added("17/sends", 100);
        look(1);
        look(1);
        assertThat(growth.added("17/sends", 130)).isEqualTo(130);
    }

    @Test
    void whatHasBecomeSmallerIsAnother() {
        look(1);
        growth.added("17/sends", 100);
        look(1);
        assertThat(growth.added("17/sends", 5)).isEqualTo(5);
    }
}
