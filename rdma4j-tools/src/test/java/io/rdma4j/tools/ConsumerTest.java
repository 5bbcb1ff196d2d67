// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.protocol.roce.wire.Opcode;
import io.rdma4j.softnic.observe.jmx.SoftDeviceMXBean;
import io.rdma4j.verbs.RdmaDevice;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.File;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.spi.ToolProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A program of a user, with this project's modules, the JDK and nothing else: it is compiled against the
 * API and run with the software NIC, on the class path, on the module path and in an image of its own.
 */
@Tag("processes")
@ExtendWith(LoopbackAlone.class)
class ConsumerTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Path SOURCES = Path.of("src", "test", "resources", "consumer");
    private static final String API = place(RdmaDevice.class);
    private static final String ALL = String.join(File.pathSeparator, API, place(Opcode.class),
            place(SoftDeviceMXBean.class));

    @TempDir
    private Path directory = Path.of("");
    private @Nullable Process process;

    @AfterEach
    void endProgram() {
        if (process != null) {
            process.destroyForcibly();
        }
    }

    /** {@return the jar, or the directory of classes, that a class is in} */
    private static String place(Class<?> of) {
        URI location = URI
                .create(of.getProtectionDomain().getCodeSource().getLocation().toString());
        return Path.of(location).toString();
    }

    @Test
    void programOfTheClassPathCompilesAndRuns() throws Exception {
        Path classes = directory.resolve("classes");
        call("javac", "-Xlint:all", "-Werror", "-cp", API, "-d", classes.toString(),
                SOURCES.resolve("hello/Hello.java").toString(),
                SOURCES.resolve("hello/Waiting.java").toString());
        assertRuns(Path.of(System.getProperty("java.home")),
                "--enable-native-access=ALL-UNNAMED", "-cp",
                ALL + File.pathSeparator + classes, "hello.Hello");
    }

    @Test
    void moduleCompilesAgainstTheApiAloneAndRunsOnTheModulePath() throws Exception {
        Path modules = compiledModule();
        assertRuns(Path.of(System.getProperty("java.home")),
                "--enable-native-access=io.rdma4j.softnic", "-p",
                ALL + File.pathSeparator + modules, "-m", "hello/hello.Hello");
    }

    @Test
    void moduleIsLinkedIntoAnImageThatRunsByItself() throws Exception {
        Path modules = compiledModule();
        Path image = directory.resolve("image");
        call("jlink", "-p", ALL + File.pathSeparator + modules, "--add-modules",
                "hello,io.rdma4j.softnic", "--no-header-files", "--no-man-pages", "--output",
                image.toString());
        assertRuns(image, "--enable-native-access=io.rdma4j.softnic", "-m", "hello/hello.Hello");
    }

    /** What is for providers changes with them. On the class path nothing keeps a program from it. */
    @ParameterizedTest
    @ValueSource(strings = {"io.rdma4j.jdk.JdkProvider", "io.rdma4j.event.EventQueue",
        "io.rdma4j.spi.CmDevice",
        "io.rdma4j.observe.jfr.FlightEvents",
        "io.rdma4j.observe.registry.ShownDevice", "io.rdma4j.protocol.roce.wire.Opcode"})
    void moduleCannotNameWhatIsForProviders(String type) throws Exception {
        Path sources = Files.createDirectories(directory.resolve("curious"));
        Path module = Files.writeString(sources.resolve("module-info.java"),
                "module curious { requires io.rdma4j.api; requires io.rdma4j.protocol; }");
        Path program = Files.writeString(sources.resolve("Curious.java"),
                "package curious; class Curious { " + type + " found; }");
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);
        int status = ToolProvider.findFirst("javac").orElseThrow().run(out, out, "-p",
                API + File.pathSeparator + place(Opcode.class), "-d",
                directory.resolve("none").toString(), module.toString(), program.toString());
        assertThat(status).isNotZero();
        assertThat(said.toString()).contains("is not visible");
    }

    private Path compiledModule() throws Exception {
        Path modules = directory.resolve("modules");
        call("javac", "-Xlint:all", "-Werror", "-p", API, "-d",
                modules.resolve("hello").toString(), SOURCES.resolve("module-info.java").toString(),
                SOURCES.resolve("hello/Hello.java").toString(),
                SOURCES.resolve("hello/Waiting.java").toString());
        return modules;
    }

    private static void call(String tool, String... arguments) {
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said);
        int status = ToolProvider.findFirst(tool).orElseThrow().run(out, out, arguments);
        assertThat(status).as(said.toString()).isZero();
    }

    /** Asserts that a program says what arrived, and nothing else. */
    private void assertRuns(Path home, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(home.resolve("bin/java").toString(),
                "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(List.of(arguments));
        command.add(Loopback.OWN);
        Path output = directory.resolve("output");
        Process program = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(output.toFile()).start();
        process = program;
        boolean hasEnded = program.waitFor(LONG);
        assertThat(Files.readString(output, StandardCharsets.UTF_8))
                .isEqualToNormalizingNewlines("hello RDMA\n");
        assertThat(hasEnded).isTrue();
        assertThat(program.exitValue()).isZero();
    }
}
