// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** No more than the limit is taken at a time. */
class LargerBuffersTest {
    @Test
    void whatIsGivenBackCanBeTakenAgain() {
        LargerBuffers buffers = new LargerBuffers(25);
        assertThat(buffers.take(10)).isTrue();
        assertThat(buffers.take(10)).isTrue();
        assertThat(buffers.take(10)).isFalse();
        assertThat(buffers.take(5)).isTrue();
        buffers.giveBack(10);
        assertThat(buffers.take(10)).isTrue();
    }
}
