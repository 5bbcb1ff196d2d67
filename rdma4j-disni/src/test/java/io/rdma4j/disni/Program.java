// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.testkit.Wait;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** A program in a process of its own, which ends with this object. */
final class Program implements AutoCloseable {
    private static final Duration LONGEST = Duration.ofSeconds(60);

    private final Process process;
    private final Path output;

    /** @param directory where it runs: some write files */
    Program(List<String> command, Map<String, String> environment, Path directory)
            throws IOException {
        output = Files.createTempFile("program", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .directory(directory.toFile());
        builder.environment().putAll(environment);
        process = builder.start();
    }

    /** Waits until it has printed something. */
    void await(String text) throws Exception {
        Wait.until("the program prints: " + text,
                () -> output().contains(text) || !process.isAlive(), () -> process
                        .waitFor(Duration.ofMillis(20)));
        assertThat(output()).contains(text);
    }

    /** {@return what it has printed when it has ended} Fails if it does not end well. */
    String awaitEnd() throws Exception {
        boolean isOver = process.waitFor(LONGEST);
        String text = output();
        assertThat(isOver).as("it ends: %s", text).isTrue();
        assertThat(process.exitValue()).as(text).isZero();
        return text;
    }

    /** {@return the status with which it ends} */
    int awaitStatus() throws Exception {
        assertThat(process.waitFor(LONGEST)).as("it ends: %s", output()).isTrue();
        return process.exitValue();
    }

    /** Stops it for a while, as a JVM that pauses for garbage. */
    void pause(Duration time) throws Exception {
        String pid = Long.toString(process.pid());
        Process pausing = new ProcessBuilder("sh", "-c", "kill -STOP " + pid + " && sleep "
                + time.toMillis() / 1000.0 + "; kill -CONT " + pid).start();
        assertThat(pausing.waitFor()).isZero();
    }

    String output() throws IOException {
        return Files.readString(output);
    }

    @Override
    public void close() throws IOException {
        process.destroyForcibly();
        process.onExit().join();
        Files.delete(output);
    }
}
