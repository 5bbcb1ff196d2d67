// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.assertj.core.api.Assertions.assertThat;

/** A program that has the API on its class path and no provider of devices: a newcomer's first error. */
class NoProviderTest {
    private static final String PROGRAM = """
            import io.rdma4j.cm.*;
            import io.rdma4j.connection.*;
            import io.rdma4j.verbs.*;
            import java.net.*;
            import java.time.Duration;

            public class Program {
                interface Step { void take() throws Exception; }

                public static void main(String[] arguments) throws Exception {
                    InetSocketAddress own = new InetSocketAddress("127.0.0.1", 0);
                    InetSocketAddress any = new InetSocketAddress(0);
                    System.out.println(RdmaDevices.list());
                    fails(() -> RdmaDevices.find("roce_lo"));
                    fails(() -> CmDevices.open());
                    try (CmId id = CmId.create(PortSpace.TCP)) {
                        fails(() -> id.bindAddress(own));
                        fails(() -> id.resolveAddress(own, Duration.ofSeconds(1)));
                        id.bindAddress(any);
                        fails(() -> id.listen(1));
                    }
                }

                private static void fails(Step step) throws Exception {
                    try {
                        step.take();
                    } catch (RdmaException e) {
                        System.out.println(e.getMessage());
                    }
                }
            }
            """;

    @Test
    void errorSaysThatAProviderIsMissing(@TempDir Path directory) throws Exception {
        Path program = Files.writeString(directory.resolve("Program.java"), PROGRAM);
        Path classes = Path.of(RdmaDevices.class.getProtectionDomain().getCodeSource()
                .getLocation().toURI());
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                classes.toString(), program.toString())
                .redirectErrorStream(true).redirectOutput(output.toFile()).start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        String missing = ": no RDMA provider is found: put rdma4j-softnic, or another one, on the"
                + " class or module path (ENODEV)";
        assertThat(Files.readAllLines(output)).isEqualTo(List.of("[]", "find device" + missing,
                "open devices" + missing, "bind address" + missing, "resolve address" + missing,
                "listen" + missing));
    }
}
