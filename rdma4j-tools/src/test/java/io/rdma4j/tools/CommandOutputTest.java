// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.BufferedReader;
import java.io.PrintWriter;

import static org.assertj.core.api.Assertions.assertThat;

/** Nothing that a command's threads print is lost. */
@Timeout(10)
class CommandOutputTest {
    private final CommandOutput output = new CommandOutput();

    @Test
    void interruptedThreadPrintsAndOthersAfterIt() throws Exception {
        try (PrintWriter out = new PrintWriter(output.writer(), true)) {
            Thread interrupted = Thread.ofVirtual().start(() -> {
                Thread.currentThread().interrupt();
                out.println("by an interrupted thread");
            });
            interrupted.join();
            out.println("by another");
        }
        assertThat(output.reader().readAllLines())
                .containsExactly("by an interrupted thread", "by another");
    }

    @Test
    void readerWaitsForWhatIsPrinted() throws Exception {
        try (PrintWriter out = new PrintWriter(output.writer(), true);
                BufferedReader reader = new BufferedReader(output.reader())) {
            Thread.ofVirtual().start(() -> out.println("later"));
            assertThat(reader.readLine()).isEqualTo("later");
        }
    }
}
