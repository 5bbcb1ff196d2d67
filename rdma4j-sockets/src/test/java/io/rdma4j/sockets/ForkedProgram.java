// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/** A program of these tests in a process of its own, which ends with this object. */
final class ForkedProgram implements AutoCloseable {
    private final Process process;
    private final BufferedReader output;

    ForkedProgram(Class<?> program, List<String> options, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-ea",
                        "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
                        "--enable-native-access=ALL-UNNAMED", "-cp",
                        System.getProperty("java.class.path")));
        command.addAll(options);
        command.add(program.getName());
        command.addAll(List.of(arguments));
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        output = process.inputReader(StandardCharsets.UTF_8);
    }

    /** {@return the next line of its output} */
    String line() throws IOException {
        String line = output.readLine();
        assertThat(line).as("a line of the program").isNotNull();
        return line;
    }

    /** Writes a line to its standard input. */
    void tell(String line) throws IOException {
        process.outputWriter(StandardCharsets.UTF_8).append(line).append('\n').flush();
    }

    /** {@return the rest of its output} Fails if it does not end well. */
    String awaitEnd() throws Exception {
        String text = output.lines().collect(Collectors.joining("\n"));
        assertThat(process.waitFor(Duration.ofSeconds(10))).as(text).isTrue();
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }

    /** Sends it a signal, as {@code kill} does. */
    void signal(String name) throws Exception {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .start();
        assertThat(kill.waitFor()).isZero();
    }

    /** Ends it as {@code kill -9} does. */
    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
