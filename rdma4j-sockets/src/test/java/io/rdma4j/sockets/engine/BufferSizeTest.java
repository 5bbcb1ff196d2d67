// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The size that the system property names. */
class BufferSizeTest {
    @Test
    void sizeIsThatOfTheProperty() {
        assertThat(BufferSize.of(null)).isEqualTo(128 * 1024);
        assertThat(BufferSize.of("1048576")).isEqualTo(1 << 20);
        assertThat(BufferSize.of("4096")).isEqualTo(4096);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1m", "-1", "0", "4094", "4097", "536870912", "99999999999"})
    void whatIsNoSizeIsRefused(String text) {
        assertThatThrownBy(() -> BufferSize.of(text)).isInstanceOf(IllegalArgumentException.class)
                .hasMessage("-Drdma4j.sockets.buffer is an even number of bytes from 4096 to"
                        + " 536870911, not '" + text + "'");
    }
}
