// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What the device holds of its machine, in processes of their own. */
@Tag("processes")
class ResourcesTest {
    private static final List<String> WITHOUT_COLLECTOR = List.of(
            "-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC",
            "-XX:+UnlockDiagnosticVMOptions", "-XX:NativeMemoryTracking=summary",
            "-XX:MallocLimit=other:24m:oom");

    @ParameterizedTest
    @ValueSource(strings = {"queue pairs", "other objects", "contexts", "connections"})
    void whatIsOpenedAndClosedThousandsOfTimesLeavesNothing(String what) throws Exception {
        assertEndsWell("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", Repetition.class.getName(),
                what);
    }

    @Test
    void portableNetworkLeavesNothingEither() throws Exception {
        assertEndsWell("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch", "-Drdma4j.network=portable",
                Repetition.class.getName(), "contexts");
    }

    @Test
    void aThousandPairsLiveTogetherInASmallHeap() throws Exception {
        assertEndsWell("-Xmx1g", ThousandPairs.class.getName());
    }

    /** No collector frees anything there, and there is not memory for all that is opened. */
    @ParameterizedTest
    @CsvSource({"roce, linux", "roce, portable", "iwarp, linux", "iwarp, portable"})
    void whatClosesFreesItsNativeMemory(String device, String network) throws Exception {
        assertEndsWell(WITHOUT_COLLECTOR, "-Xmx2g",
                "-Drdma4j.network=" + network, "-Drdma4j.device=" + device,
                NativeMemory.class.getName(), device + "_lo");
    }

    private static void assertEndsWell(String... arguments) throws Exception {
        assertEndsWell(List.of("-XX:+UseSerialGC"), arguments);
    }

    private static void assertEndsWell(List<String> collector, String... arguments)
            throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-ea",
                        "-XX:TieredStopAtLevel=1", "--enable-native-access=ALL-UNNAMED", "-cp",
                        System.getProperty("java.class.path")));
        command.addAll(collector);
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(),
                    StandardCharsets.UTF_8);
            assertThat(process.waitFor(Duration.ofSeconds(10))).isTrue();
            assertThat(process.exitValue()).as(output).isZero();
        } finally {
            process.destroyForcibly();
        }
    }
}
