// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.List;
import java.util.concurrent.TimeUnit;

/** Connections that come and go leave nothing: see {@link ManyConnections}. */
@EnabledOnOs(OS.LINUX)
class ManyConnectionsTest {
    @Test
    void hundredsLeaveNothing() throws Exception {
        assertNothingIsLeft(Transport.ROCE, 200);
    }

    @ParameterizedTest
    @EnumSource(names = {"ROCE", "IWARP"})
    @Tag("long")
    @Timeout(value = 20, unit = TimeUnit.MINUTES)
    void tenThousandLeaveNothing(Transport transport) throws Exception {
        assertNothingIsLeft(transport, 10_000);
    }

    private static void assertNothingIsLeft(Transport transport, int connections)
            throws Exception {
        try (ForkedProgram program = new ForkedProgram(ManyConnections.class,
                List.of("-Xmx256m", "-XX:NativeMemoryTracking=summary"), transport.name(),
                String.valueOf(connections))) {
            System.out.println(program.awaitEnd());
        }
    }
}
