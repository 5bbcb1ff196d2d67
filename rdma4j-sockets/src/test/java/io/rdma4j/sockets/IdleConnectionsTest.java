// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.List;

/** What a connection costs that does nothing: see {@link IdleConnections}. */
@Tag("processes")
@EnabledOnOs(OS.LINUX)
class IdleConnectionsTest {
    private static final int MOST_BYTES = 16 << 10;

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    void idleConnectionIsSmall(Transport transport) throws Exception {
        try (ForkedProgram program = new ForkedProgram(IdleConnections.class,
                List.of("-Xmx256m", "-XX:NativeMemoryTracking=summary"), transport.name(), "100",
                String.valueOf(MOST_BYTES))) {
            System.out.println(program.awaitEnd());
        }
    }
}
