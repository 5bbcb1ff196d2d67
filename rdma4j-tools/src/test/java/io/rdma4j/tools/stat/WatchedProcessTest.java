// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.stat;

import org.junit.jupiter.api.Test;

import java.io.BufferedReader;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

class WatchedProcessTest {
    private static final String TARGET = "io.rdma4j.tools.IdleStatTarget";

    /** The JDK keeps each future that it makes of the end of a process until that has ended, and a watch asks at each look. */
    @Test
    void endOfAProcessIsOneFuture() throws Exception {
        Process target = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                System.getProperty("java.class.path"), TARGET).redirectErrorStream(true).start();
        try (BufferedReader lines = target.inputReader()) {
            String line = lines.readLine();
            while (line != null && !line.startsWith("open")) {
                line = lines.readLine();
            }
            try (WatchedProcess watched = WatchedProcess.of(target.pid())) {
                assertThat(watched.end()).isSameAs(watched.end()).isNotDone();
                target.destroyForcibly();
                watched.end().join();
            }
        } finally {
            target.destroyForcibly();
        }
    }
}
