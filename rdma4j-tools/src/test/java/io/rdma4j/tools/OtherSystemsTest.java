// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What programs do on other systems, as far as Linux can show it: JVMs that are told that they run there, and so take the ways
 * of the JDK alone. What these systems themselves do otherwise stands in {@code docs/start/systems.md}.
 */
@Tag("processes")
@ExtendWith(LoopbackAlone.class)
class OtherSystemsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @ParameterizedTest
    @CsvSource({"Windows 11,roce_lo", "Windows 11,iwarp_lo", "Mac OS X,roce_lo",
        "Mac OS X,iwarp_lo"})
    void aDeviceTakesThePortableNetworkAndReachesItself(String system, String device)
            throws Exception {
        try (Program doctor = Program.withOptions(List.of("-Dos.name=" + system), "doctor", "-d",
                device)) {
            assertThat(doctor.awaitEnd()).as(doctor.text()).isZero();
            assertThat(doctor.text()).contains("native devices need Linux, and this is " + system,
                    "network back-end: portable (this is not Linux)")
                    .containsPattern(
                            "a message of 65536 bytes to itself at 127\\.0\\.0\\.\\d+ arrived");
        }
    }

    @ParameterizedTest
    @CsvSource({"Windows 11,roce_lo", "Windows 11,iwarp_lo", "Mac OS X,roce_lo",
        "Mac OS X,iwarp_lo"})
    void twoProcessesTalk(String system, String device) throws Exception {
        try (Program demo = Program.withOptions(List.of("-Dos.name=" + system), "demo", "-d",
                device)) {
            assertThat(demo.awaitEnd()).as(demo.text()).isZero();
            assertThat(demo.text()).contains("what was READ equals what was written");
        }
    }

    /** Whoever adds a question has to think of the systems, and to say in the table what follows. */
    @Test
    void codeAsksForTheSystemAtFewPlaces() throws IOException {
        Map<String, Integer> asking = new TreeMap<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.filter(each -> Files.exists(each.resolve("src/main/java")))
                    .filter(each -> !each.endsWith("rdma4j-benchmarks")).toList()) {
                try (Stream<Path> files = Files.walk(module.resolve("src/main/java"))) {
                    for (Path file : files.filter(each -> each.toString().endsWith(".java"))
                            .toList()) {
                        if (Files.readString(file).contains("\"os.name\"")) {
                            asking.merge(String.valueOf(file.getFileName()), 1, Integer::sum);
                        }
                    }
                }
            }
        }
        assertThat(asking.keySet()).containsExactlyInAnyOrder("AddressSpace.java",
                "LinuxAccess.java", "Diagnosis.java", "Doctor.java");
    }
}
