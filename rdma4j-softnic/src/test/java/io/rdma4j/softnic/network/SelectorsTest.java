// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import org.junit.jupiter.api.Test;

import java.nio.channels.Selector;

import static org.assertj.core.api.Assertions.assertThat;

class SelectorsTest {
    @Test
    void whatIsOpenedWatchesNothingYetAndCanBeWoken() throws Exception {
        try (Selector selector = Selectors.open()) {
            assertThat(selector.keys()).isEmpty();
            assertThat(selector.selectNow()).isZero();
            selector.wakeup();
            assertThat(selector.select()).isZero();
        }
    }
}
