// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** The memory of a work request, as callers put it together. */
class ScatterGatherListTest {
    private final ScatterGatherList list = new ScatterGatherList();

    @Test
    void lengthsAddUp() {
        list.add(0, Long.MAX_VALUE - 5, 1);
        list.add(0, 5, 2);
        assertThat(list.totalLength()).isEqualTo(Long.MAX_VALUE);
        assertThat(list.count()).isEqualTo(2);
    }

    @Test
    void lengthsThatOverflowTogetherAreRefusedAndNothingIsAppended() {
        list.add(0, Long.MAX_VALUE, 1);
        assertThatIllegalArgumentException().isThrownBy(() -> list.add(0, Long.MAX_VALUE, 2))
                .withMessageContaining("together");
        assertThat(list.totalLength()).isEqualTo(Long.MAX_VALUE);
        assertThat(list.count()).isOne();
    }

    @Test
    void negativeLengthsAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> list.add(0, -1, 1))
                .withMessageContaining("-1 bytes");
        assertThat(list.count()).isZero();
    }
}
