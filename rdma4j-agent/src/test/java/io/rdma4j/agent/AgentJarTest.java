// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.agent;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.zip.ZipEntry;

import static org.assertj.core.api.Assertions.assertThat;

/** The jar alone, with none of the others beside it. */
class AgentJarTest {
    private static final Path BUILT = Path.of(System.getProperty("rdma4j.test.agent"));
    private static final long PATIENCE_SECONDS = 60;

    @TempDir
    private Path folder;

    @Test
    void itIsAllThatAProgramNeeds() throws Exception {
        Path jar = Files.copy(BUILT, folder.resolve("any-name.jar"));
        assertThat(outputOfProgram(jar)).containsExactly(
                "accepted io.rdma4j.sockets.RdmaSocketChannel",
                "io.rdma4j.sockets.RuledSocketChannel has all bytes",
                "accepted io.rdma4j.sockets.RdmaSocketChannel",
                "java.net.Socket has all bytes");
    }

    private List<String> outputOfProgram(Path jar) throws IOException, InterruptedException {
        File output = folder.resolve("output").toFile();
        File errors = folder.resolve("errors").toFile();
        ProcessBuilder program = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-cp",
                Path.of("target", "test-classes").toString(), EchoProgram.class.getName())
                .redirectOutput(output).redirectError(errors);
        program.environment().put("JDK_JAVA_OPTIONS", "-javaagent:" + jar);
        Process process = program.start();
        try {
            assertThat(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        assertThat(process.exitValue()).as(Files.readString(errors.toPath())).isZero();
        return Files.readAllLines(output.toPath());
    }

    @Test
    void itHasSoftwareDevicesAndNativeOnes() throws IOException {
        try (JarFile jar = new JarFile(BUILT.toFile())) {
            ZipEntry providers = jar.getEntry("META-INF/services/io.rdma4j.verbs.RdmaProvider");
            assertThat(new String(jar.getInputStream(providers).readAllBytes(),
                    StandardCharsets.UTF_8).lines())
                    .containsExactlyInAnyOrder("io.rdma4j.softnic.provider.SoftProvider",
                            "io.rdma4j.ibverbs.provider.NativeProvider");
            assertThat(jar.getEntry("module-info.class")).isNull();
        }
    }
}
