// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** Devices in a JVM whose own channels go over devices. */
@Tag("processes")
class ForeignProviderAloneTest {
    private static final String EXPORT = "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED";

    private static String run(String... options) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"),
                "-Djava.nio.channels.spi.SelectorProvider=" + ForeignProvider.class.getName()));
        command.addAll(List.of(options));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        } finally {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @CsvSource({"roce_lo, linux", "roce_lo, portable", "iwarp_lo, linux", "iwarp_lo, portable"})
    void devicesAreMadeOfTheJdksChannels(String device, String network) throws Exception {
        assertThat(run(EXPORT, "-Drdma4j.network=" + network, ForeignProvider.class.getName(),
                device)).contains("ForeignProvider\nconnected\nready: 0\n");
    }

    @ParameterizedTest
    @CsvSource({"roce_lo", "iwarp_lo"})
    void portableDeviceSaysWhatItNeedsOtherwise(String device) throws Exception {
        assertThat(run("-Drdma4j.network=portable", ForeignProvider.class.getName(), device))
                .contains("--add-exports java.base/sun.nio.ch=ALL-UNNAMED")
                .doesNotContain("a device is not made of channels over devices");
    }
}
