// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import static org.assertj.core.api.Assertions.assertThat;

/** A command, or another program, in a process of its own. */
final class Program extends Running {
    private final Process process;

    private Program(Process process) {
        super(process.inputReader(StandardCharsets.UTF_8));
        this.process = process;
    }

    Program(List<String> arguments) throws IOException {
        this(start(List.of(), Main.class, arguments));
    }

    Program(String... arguments) throws IOException {
        this(List.of(arguments));
    }

    static Program withOptions(List<String> options, String... arguments) throws IOException {
        return new Program(start(options, Main.class, List.of(arguments)));
    }

    /** A command on the module path, with the modules that it needs and no others. */
    static Program ofModule(String... arguments) throws IOException {
        return ofModule(List.of(), arguments);
    }

    static Program ofModule(List<String> options, String... arguments) throws IOException {
        List<String> program = new ArrayList<>(options);
        program.addAll(List.of("--enable-native-access=io.rdma4j.softnic", "--module-path",
                Modules.pathOf("io.rdma4j.tools"), "--module",
                "io.rdma4j.tools/" + Main.class.getName()));
        return new Program(start(program, List.of(arguments)));
    }

    static Program of(Class<?> main, String... options) throws IOException {
        return of(main, List.of(options), List.of());
    }

    static Program of(Class<?> main, List<String> options, List<String> arguments)
            throws IOException {
        return new Program(start(options, main, arguments));
    }

    /** A command with another environment. */
    static Program with(Map<String, String> environment, String... arguments) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                command(ofClassPath(List.of(), Main.class), List.of(arguments)));
        builder.environment().putAll(environment);
        return new Program(builder.redirectErrorStream(true).start());
    }

    /**
     * A program in a container of its own, which shares only the network with this machine: it sees neither its processes nor
     * its {@code /dev/shm}. Needs {@code unshare} and the right to use it.
     */
    static Program apart(Class<?> main, List<String> options, List<String> arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of("unshare", "--user", "--map-root-user",
                "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
                "mount -t tmpfs tmpfs /dev/shm && exec \"$@\"", "sh"));
        command.addAll(command(ofClassPath(options, main), arguments));
        return new Program(start(command));
    }

    /** Writes a line to its standard input. */
    void tell(String line) throws IOException {
        try (Writer input = process.outputWriter(StandardCharsets.UTF_8)) {
            input.write(line + "\n");
        }
    }

    private static Process start(List<String> options, Class<?> main, List<String> arguments)
            throws IOException {
        return start(ofClassPath(options, main), arguments);
    }

    private static List<String> ofClassPath(List<String> options, Class<?> main) {
        List<String> program = new ArrayList<>(options);
        // As the launcher does: without native access processes do not share addresses.
        program.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path"), main.getName()));
        return program;
    }

    private static Process start(List<String> program, List<String> arguments)
            throws IOException {
        return start(command(program, arguments));
    }

    /**
     * {@return the command that starts a JVM}
     *
     * @param program options of the JVM and what it is to run
     */
    private static List<String> command(List<String> program, List<String> arguments) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
        command.addAll(program);
        command.addAll(arguments);
        return command;
    }

    private static Process start(List<String> command) throws IOException {
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    Process process() {
        return process;
    }

    String pid() {
        return String.valueOf(process.pid());
    }

    @Override
    int status() throws Exception {
        assertThat(process.waitFor(LONG)).isTrue();
        return process.exitValue();
    }

    /** Ends it as {@code kill -9} does, and waits until what it held is free. */
    @Override
    void end() {
        process.destroyForcibly();
        process.onExit().join();
    }
}
