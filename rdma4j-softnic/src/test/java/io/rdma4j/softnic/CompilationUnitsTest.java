// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.structure.LongMethods;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;

/** Methods of the packet path that are compiled once and not with each caller. */
class CompilationUnitsTest {
    @ParameterizedTest
    @CsvSource({"roce.PacketDispatcher, dispatch", "roce.RoceLink, send",
        "network.ring.RingReader, read", "engine.Engine, transmit", "engine.EngineDriver, poll"})
    void isTooLongToBeInlined(String type, String method) throws IOException {
        LongMethods.assertTooLongToBeInlined("softnic." + type, method);
    }
}
