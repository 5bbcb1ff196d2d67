// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** A shuffle of Spark between two executors, by one variable. The times are printed, not judged. */
@Tag("long")
@EnabledOnOs(OS.LINUX)
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class SparkTest {
    private static final int LONGEST_SECONDS = 1500;

    @Test
    void shuffleGoesOverRdma() throws Exception {
        ForkedJvm.Result result = ForkedJvm.run(List.of(example().toString()), Map.of(),
                LONGEST_SECONDS);
        System.out.println(result.output());
        // It fails if a record is wrong, or bytes have not gone over RDMA.
        assertThat(result.status()).as(result.output()).isZero();
        assertThat(result.output()).contains("TCP", "RDMA, in memory", "RDMA, over the network");
    }

    private static Path example() {
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("examples/spark/run"))) {
            root = root.getParent();
            assertThat(root).as("a directory above with examples/spark/run").isNotNull();
        }
        return root.resolve("examples/spark/run");
    }
}
