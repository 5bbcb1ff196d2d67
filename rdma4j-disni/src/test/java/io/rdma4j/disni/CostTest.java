// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** What DiSNI and the boundary add to the time of a request. */
@Tag("long")
class CostTest {
    private static final double MOST = 1.3;
    private static final String RATIO = "ratio ";

    @TempDir
    Path directory;

    @Test
    void readsAndSendsTakeAtMostThreeTenthsLonger() throws Exception {
        List<String> command = List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED", "-Drdma4j.device=roce_lo", "-cp",
                System.getProperty("java.class.path"), CostProgram.class.getName(), "64",
                "1048576");
        try (Program program = new Program(command, Map.of(), directory)) {
            List<String> lines = program.awaitEnd().lines().filter(line -> line.contains(RATIO))
                    .toList();
            assertThat(lines).hasSize(4);
            assertThat(lines).allSatisfy(line -> assertThat(ratio(line)).isLessThan(MOST));
        }
    }

    private static double ratio(String line) {
        return Double
                .parseDouble(line.substring(line.indexOf(RATIO) + RATIO.length()));
    }
}
