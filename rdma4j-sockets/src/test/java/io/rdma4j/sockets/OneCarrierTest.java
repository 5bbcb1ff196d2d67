// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Virtual threads park, and never pin the thread that carries them: see {@link OneCarrier}. */
@Tag("processes")
@Timeout(120)
class OneCarrierTest {
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void virtualThreadsLeaveTheirCarrierToEachOther(Transport transport) throws Exception {
        try (ForkedProgram program = new ForkedProgram(OneCarrier.class,
                List.of("-Djdk.virtualThreadScheduler.parallelism=1",
                        "-Djdk.virtualThreadScheduler.maxPoolSize=1"),
                transport.name())) {
            assertThat(program.awaitEnd()).endsWith("none was pinned");
        }
    }
}
