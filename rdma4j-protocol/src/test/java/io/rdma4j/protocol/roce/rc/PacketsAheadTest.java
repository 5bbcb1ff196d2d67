// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class PacketsAheadTest {
    private final PacketsAhead ahead = new PacketsAhead();

    @ParameterizedTest
    @ValueSource(longs = {1, 63, 64, 65, 1023})
    void packetIsNewOnce(long distance) {
        assertThat(ahead.add(distance)).isTrue();
        assertThat(ahead.add(distance)).isFalse();
        assertThat(ahead.add(distance == 1 ? 2 : distance - 1)).isTrue();
    }

    @Test
    void packetsThatNobodyMaySendAreNotRemembered() {
        assertThat(ahead.add(1024)).isTrue();
        assertThat(ahead.add(1024)).isTrue();
        assertThat(ahead.add(1L << 40)).isTrue();
    }

    @Test
    void allIsForgottenBehindTheGap() {
        ahead.add(5);
        ahead.clear();
        assertThat(ahead.add(5)).isTrue();
    }
}
