// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import io.rdma4j.sockets.RuledSelectorProvider;
import io.rdma4j.sockets.launch.Agent;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Starts Java programs that get the channels of rules by options alone. */
final class ForkedJvm {
    private static final String JAVA = Path.of(System.getProperty("java.home"), "bin", "java")
            .toString();
    /**
     * Starts soon, and keeps to one device: a client that names none and is not answered in time asks by TCP whether an iWARP device
     * listens (ADR 54), and would have had a connection of TCP.
     */
    private static final List<String> OPTIONS = List.of("-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC", "-Drdma4j.device=roce_lo");

    /** What a build calls the jars of rdma4j, and where Maven compiles them to. */
    private static final Pattern OURS = Pattern.compile(".*/rdma4j-"
            + "(?:api|protocol|softnic|ibverbs|sockets)(?:/target/(?:[^/]+/)?classes|-[^/]*\\.jar)");

    private static final int LONGEST_SECONDS = 60;

    private ForkedJvm() {}

    record Result(int status, String output) {
        /** {@return the number behind a word, -1 without one} */
        long number(String word) {
            return output.lines().filter(line -> line.startsWith(word + " "))
                    .mapToLong(line -> Long.parseLong(line.substring(word.length() + 1)))
                    .findFirst().orElse(-1);
        }
    }

    /** {@return what a program prints whose JVM has the provider by property} */
    static Result byProperty(String rules, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(JAVA));
        command.addAll(OPTIONS);
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED",
                "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                "--add-exports=java.base/jdk.internal.access=ALL-UNNAMED",
                "-Djava.nio.channels.spi.SelectorProvider="
                        + RuledSelectorProvider.class.getName(),
                "-D" + RuledSelectorProvider.RULES + "=" + rules, "-cp",
                System.getProperty("java.class.path")));
        command.addAll(List.of(arguments));
        return run(command, Map.of());
    }

    /** {@return what a program prints that has rdma4j on its class path and uses it by itself} */
    static Result plain(String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(JAVA));
        command.addAll(OPTIONS);
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp",
                System.getProperty("java.class.path")));
        command.addAll(List.of(arguments));
        return run(command, Map.of());
    }

    /**
     * {@return what a program prints that is started by plain {@code java}}
     *
     * @param jar made by {@link #jar}
     * @param options further words of the one variable
     */
    static Result byOneVariable(Path jar, String rules, List<String> options, String... arguments)
            throws Exception {
        List<String> command = program(OPTIONS, arguments);
        String own = "-javaagent:" + jar + (rules.isEmpty() ? "" : "=" + rules);
        return run(command, Map.of("JDK_JAVA_OPTIONS", Stream.concat(Stream.of("\"" + own + "\""),
                options.stream()).collect(Collectors.joining(" "))));
    }

    /** {@return how to start a program that knows nothing of rdma4j} */
    static List<String> program(List<String> options, String... arguments) {
        List<String> command = new ArrayList<>(List.of(JAVA));
        command.addAll(options);
        command.addAll(List.of("-cp", programs()));
        command.addAll(List.of(arguments));
        return command;
    }

    static Result run(List<String> command, Map<String, String> environment) throws Exception {
        return run(command, environment, LONGEST_SECONDS);
    }

    static Result run(List<String> command, Map<String, String> environment, int longestSeconds)
            throws Exception {
        Path output = Files.createTempFile("program", ".txt");
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            boolean isOver = process.waitFor(longestSeconds, TimeUnit.SECONDS);
            String said = Files.readString(output);
            if (!isOver) {
                throw new IllegalStateException("it does not end: " + said);
            }
            return new Result(process.exitValue(), said);
        } finally {
            process.destroyForcibly().waitFor();
            Files.delete(output);
        }
    }

    private static Stream<String> classPath() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator));
    }

    /** {@return where the programs are, and their libraries, which know nothing of rdma4j} */
    private static String programs() {
        return classPath().filter(each -> !OURS.matcher(each).matches())
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** {@return a jar as the build makes it of this module, with the classes where they are} */
    static Path jar(Path directory, boolean hasDevices) throws IOException {
        Manifest manifest = new Manifest();
        Attributes entries = manifest.getMainAttributes();
        entries.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        entries.putValue("Premain-Class", Agent.class.getName());
        entries.put(Attributes.Name.CLASS_PATH, classPath()
                .filter(each -> OURS.matcher(each).matches())
                .filter(each -> hasDevices || !each.contains("rdma4j-softnic"))
                .map(each -> new File(each).toURI().toString()).collect(Collectors.joining(" ")));
        Path jar = directory.resolve("rdma4j sockets.jar");
        try (OutputStream out = Files.newOutputStream(jar)) {
            new JarOutputStream(out, manifest).close();
        }
        return jar;
    }
}
