package io.rdma4j.softnic;

import io.rdma4j.softnic.network.linux.LinuxNetwork;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.DeviceOptions;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.Loopback;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RimKind;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;

/** Which network serves a device, and what is said about it. */
class BackendChoiceTest {
    private static RdmaDevice loopback() throws RdmaException {
        return RdmaDevices.find("roce_lo");
    }

    /** Prints which network serves, or why none does; run in processes of their own. */
    public static void main(String[] arguments) {
        Loopback asked = Loopback.parse(System.getProperty("test.ask", "auto"));
        try (DeviceContext context = loopback().open();
                DeviceContext _ = loopback().open(DeviceOptions.DEFAULT.withLoopback(asked))) {
            System.out.println(context.rim());
        } catch (RdmaException e) {
            System.out.println(e.getMessage());
        }
    }

    /** {@return all that a JVM with these options prints} */
    private static String outputOf(String... options) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"),
                BackendChoiceTest.class.getName()));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
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
        assertThat(outputOf("-Drdma4j.rim=portable", "--enable-native-access=ALL-UNNAMED"))
                .isEqualTo("portable (asked for)");
        assertThat(outputOf("-Drdma4j.rim=linux")).contains("linux does not work", "EOPNOTSUPP");
        assertThat(outputOf("-Drdma4j.rim=fast")).contains("rdma4j.rim", "'fast'", "portable");
    }

    @Test
    void openDeviceKeepsItsNetwork() throws Exception {
        DeviceOptions portable = DeviceOptions.DEFAULT.withRim(RimKind.PORTABLE);
        try (DeviceContext first = loopback().open(portable);
                DeviceContext second = loopback().open(portable);
                DeviceContext third = loopback().open()) {
            assertThat(first.rim()).isEqualTo("portable (asked for)").isEqualTo(second.rim())
                    .isEqualTo(third.rim());
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(
                            () -> loopback().open(DeviceOptions.DEFAULT.withRim(RimKind.LINUX)))
                    .withMessageContaining("portable").withMessageContaining("linux")
                    .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
        }
    }

    @Test
    void openDeviceKeepsItsLoopback() throws Exception {
        DeviceOptions direct = DeviceOptions.DEFAULT.withLoopback(Loopback.DIRECT);
        DeviceOptions network = DeviceOptions.DEFAULT.withLoopback(Loopback.NETWORK);
        try (DeviceContext _ = loopback().open(network);
                DeviceContext _ = loopback().open(network);
                DeviceContext _ = loopback().open()) {
            assertThatExceptionOfType(RdmaException.class)
                    .isThrownBy(() -> loopback().open(direct)).withMessageContaining("direct")
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
