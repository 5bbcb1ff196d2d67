// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.softnic.network.linux.datagram.LinuxNetwork;
import io.rdma4j.softnic.options.DeviceOptions;
import io.rdma4j.softnic.options.Loopback;
import io.rdma4j.softnic.options.NetworkBackend;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Which network serves a device, and what is said about it. */
@Tag("processes")
class BackendChoiceAloneTest {
    private static RdmaDevice loopback() throws RdmaException {
        return RdmaDevices.find("roce_lo");
    }

    /** Prints which network serves, or why none does; run in processes of their own. */
    public static void main(String[] arguments) {
        Loopback asked = Loopback.parse(System.getProperty("test.ask", "auto"));
        try (DeviceContext context = loopback().open();
                DeviceContext _ = DeviceOptions.DEFAULT.withLoopback(asked).open(loopback())) {
            System.out.println(context.details().get("network back-end"));
        } catch (RdmaException e) {
            System.out.println(e.getMessage());
        }
    }

    /**
     * {@return all that a JVM with these options prints} Without the log about an address that a process of another test
     * may have.
     */
    private static String outputOf(String... options) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"),
                BackendChoiceAloneTest.class.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).lines()
                .filter(line -> !line.contains("NicAddresses openFreeLoopback")
                        && !line.matches("(WARNING|INFO): roce_lo is at .*"))
                .collect(Collectors.joining("\n"));
    }

    @Test
    void linuxServesWhereItWorks() throws Exception {
        assumeThat(LinuxNetwork.obstacle()).isNull();
        assertThat(outputOf("--enable-native-access=ALL-UNNAMED")).startsWith("linux (");
    }

    @Test
    void portableServesWithoutNativeAccessAndTheJvmDoesNotWarn() throws Exception {
        assumeThat(System.getProperty("os.name")).isEqualTo("Linux");
        assertThat(outputOf()).isEqualTo("portable (native access is not enabled;"
                + " start Java with --enable-native-access=ALL-UNNAMED)");
        assertThat(outputOf("--illegal-native-access=deny")).startsWith("portable (native access");
    }

    @Test
    void propertyChooses() throws Exception {
        assertThat(outputOf("-Drdma4j.network=portable", "--enable-native-access=ALL-UNNAMED"))
                .isEqualTo("portable (asked for)");
        assertThat(outputOf("-Drdma4j.network=linux")).contains("linux does not work",
                "EOPNOTSUPP");
        assertThat(outputOf("-Drdma4j.network=fast")).contains("rdma4j.network", "'fast'",
                "portable");
    }

    @Test
    void openDeviceKeepsItsNetwork() throws Exception {
        DeviceOptions portable = DeviceOptions.DEFAULT.withBackend(NetworkBackend.PORTABLE);
        try (DeviceContext first = portable.open(loopback());
                DeviceContext second = portable.open(loopback());
                DeviceContext third = loopback().open()) {
            assertThat(first.details().get("network back-end")).isEqualTo("portable (asked for)")
                    .isEqualTo(second.details().get("network back-end"))
                    .isEqualTo(third.details().get("network back-end"));
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(
                            () -> DeviceOptions.DEFAULT.withBackend(NetworkBackend.LINUX)
                                    .open(loopback()))
                    .withMessageContaining("portable").withMessageContaining("linux")
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
        }
    }

    @Test
    void openDeviceKeepsItsLoopback() throws Exception {
        DeviceOptions direct = DeviceOptions.DEFAULT.withLoopback(Loopback.DIRECT);
        DeviceOptions network = DeviceOptions.DEFAULT.withLoopback(Loopback.NETWORK);
        try (DeviceContext _ = network.open(loopback());
                DeviceContext _ = network.open(loopback());
                DeviceContext _ = loopback().open()) {
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> direct.open(loopback())).withMessageContaining("direct")
                    .withMessageContaining("network")
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
        }
    }

    @Test
    void loopbackThatWasChosenCanBeAskedFor() throws Exception {
        assertThat(outputOf("-Drdma4j.loopback=auto", "-Dtest.ask=direct")).startsWith("portable");
        assertThat(outputOf("-Drdma4j.loopback=auto", "-Drdma4j.impair=loss=1%",
                "-Dtest.ask=network")).startsWith("portable");
    }
}
