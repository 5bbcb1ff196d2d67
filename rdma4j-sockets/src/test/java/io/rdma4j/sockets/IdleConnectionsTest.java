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
                // The last option: garbage is not kept to move less.
                List.of("-Xmx256m", "-XX:NativeMemoryTracking=summary",
                        "-XX:MarkSweepDeadRatio=0"),
                transport.name(), "100",
                String.valueOf(MOST_BYTES))) {
            System.out.println(program.awaitEnd());
        }
    }

    /** 10,000 of them. */
    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    @Tag("long")
    void idleConnectionsTakeNoTime(Transport transport) throws Exception {
        try (ForkedProgram program = new ForkedProgram(IdleService.class, List.of("-Xmx2g"),
                transport.name(), "5000")) {
            System.out.println(program.awaitEnd());
        }
    }
}
