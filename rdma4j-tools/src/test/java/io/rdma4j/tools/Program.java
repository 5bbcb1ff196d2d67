package io.rdma4j.tools;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** A command in a process of its own; its output, both kinds, line by line. */
final class Program implements AutoCloseable {
    private static final Duration LONG = Duration.ofSeconds(60);

    private final Process process;
    private final BufferedReader reader;
    private final List<String> lines = new ArrayList<>();

    Program(List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp",
                        System.getProperty("java.class.path"), Main.class.getName()));
        command.addAll(arguments);
        process = new ProcessBuilder(command).redirectErrorStream(true).start();
        reader = process.inputReader(StandardCharsets.UTF_8);
    }

    Program(String... arguments) throws IOException {
        this(List.of(arguments));
    }

    /** {@return the next line that has these words} */
    String lineWith(String words) throws IOException {
        for (String line = reader.readLine(); line != null; line = reader.readLine()) {
            lines.add(line);
            if (line.contains(words)) {
                return line;
            }
        }
        throw new IOException("no line with '" + words + "' in " + lines);
    }

    /** {@return the exit status} */
    int awaitEnd() throws Exception {
        reader.lines().forEach(lines::add);
        assertThat(process.waitFor(LONG)).isTrue();
        return process.exitValue();
    }

    void kill() {
        process.destroyForcibly();
    }

    String text() {
        return String.join("\n", lines);
    }

    String lastLine() {
        return lines.getLast();
    }

    @Override
    public void close() {
        kill();
    }
}
