// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import io.rdma4j.disni.launch.Agent;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** How a JVM of a program gets the replaced classes. */
enum Plug {
    CLASS_PATH {
        @Override
        String classPath(Version version) {
            return joined(Stream.concat(ours(), theirs(version)));
        }

        @Override
        Map<String, String> environment(Path directory) {
            return Map.of("JDK_JAVA_OPTIONS", "--enable-native-access=ALL-UNNAMED");
        }
    },
    AGENT {
        @Override
        String classPath(Version version) {
            return joined(theirs(version));
        }

        @Override
        Map<String, String> environment(Path directory) throws IOException {
            return Map.of("JDK_JAVA_OPTIONS", "-javaagent:" + jar(directory, true));
        }
    };

    /** DiSNI's versions. */
    enum Version {
        V2_0, V2_1;

        /** {@return where its jar is, in the class path of the tests or beside it} */
        private String jar(String found) {
            return this == V2_1 ? found : Path
                    .of("target", "earlier", "disni-2.0.jar").toAbsolutePath().toString();
        }
    }

    /** What a build calls the jars of rdma4j, and where Maven compiles them to. */
    private static final Pattern OURS = Pattern.compile(".*/rdma4j-"
            + "(?:api|protocol|softnic|disni)(?:/target/(?:[^/]+/)?classes|-[^/]*\\.jar)");
    private static final Pattern DISNI = Pattern.compile(".*/disni-[0-9.]+\\.jar");

    abstract String classPath(Version version);

    /** @param directory for what it needs */
    abstract Map<String, String> environment(Path directory) throws IOException;

    private static Stream<String> all() {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator, -1));
    }

    static Stream<String> ours() {
        return all().filter(each -> OURS.matcher(each).matches());
    }

    /** {@return DiSNI, the programs and their libraries, which know nothing of rdma4j} */
    static Stream<String> theirs(Version version) {
        return all().filter(each -> !OURS.matcher(each).matches())
                .map(each -> DISNI.matcher(each).matches() ? version.jar(each) : each);
    }

    static String joined(Stream<String> entries) {
        return entries.collect(Collectors.joining(File.pathSeparator));
    }

    /** {@return a jar as the build makes it of this module, with the classes where they are} */
    static Path jar(Path directory, boolean hasDevices) throws IOException {
        Manifest manifest = new Manifest();
        Attributes entries = manifest.getMainAttributes();
        entries.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        entries.putValue("Premain-Class", Agent.class.getName());
        entries.put(Attributes.Name.CLASS_PATH,
                ours().filter(each -> hasDevices || !each.contains("rdma4j-softnic"))
                        .map(each -> new File(each).toURI().toString())
                        .collect(Collectors.joining(" ")));
        Path jar = directory.resolve("disni.jar");
        try (OutputStream out = Files.newOutputStream(jar)) {
            new JarOutputStream(out, manifest).close();
        }
        return jar;
    }

    /** {@return the classes of these tests alone} */
    static Stream<String> ofTests() {
        return all().filter(each -> each.endsWith("rdma4j-disni/target/test-classes"));
    }

    /** {@return the command that starts a program} */
    List<String> command(Version version, List<String> options, String... program) {
        return java(options, classPath(version), program);
    }

    static List<String> java(List<String> options, String classPath, String... program) {
        List<String> command = new ArrayList<>(
                List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(options);
        command.addAll(List.of("-cp", classPath));
        Collections.addAll(command, program);
        return command;
    }
}
