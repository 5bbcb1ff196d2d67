// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.stream;

import io.rdma4j.softnic.network.linux.stream.LinuxStreams;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Processes that may not open as many sockets as they would. */
@DisabledOnOs(OS.WINDOWS)
class DescriptorShortageTest {
    /** What a JVM has open itself, and some more. */
    private static final int FEW = 100;

    @ParameterizedTest
    @ValueSource(strings = {"linux", "portable"})
    void whatNeedsADescriptorIsRefusedAndAListenerComesBack(String network) throws Exception {
        if ("linux".equals(network)) {
            assumeThat(LinuxStreams.obstacle()).isNull();
        }
        Process process = new ProcessBuilder("sh", "-c", "ulimit -n " + FEW + "; exec \"$@\"",
                "sh", Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-MaxFDLimit",
                "--enable-native-access=ALL-UNNAMED", "-cp", System.getProperty("java.class.path"),
                DescriptorShortage.class.getName(), network).redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(),
                    StandardCharsets.UTF_8);
            assertThat(process.waitFor(Duration.ofSeconds(30))).isTrue();
            assertThat(process.exitValue()).as(output).isZero();
        } finally {
            process.destroyForcibly();
        }
    }
}
