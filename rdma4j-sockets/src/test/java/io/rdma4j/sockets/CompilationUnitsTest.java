// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.structure.LongMethods;
import org.junit.jupiter.api.Test;

import java.io.IOException;

/** What all that writes, reads, polls and leads runs is compiled once and not with each of them. */
class CompilationUnitsTest {
    @Test
    void postIsTooLongToBeInlined() throws IOException {
        LongMethods.assertTooLongToBeInlined("sockets.engine.StreamQueue", "post");
    }
}
