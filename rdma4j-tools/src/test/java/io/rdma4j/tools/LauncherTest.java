// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The launcher {@code rdma4j} in a project of its own, with JDKs and a Maven that only say how they were
 * called.
 */
class LauncherTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final List<String> TOOLS = List.of("sh", "cat", "dirname", "find", "grep",
            "head",
            "ln", "mkdir", "mv", "ps", "readlink", "rm", "rmdir", "sleep", "tail", "touch");

    @TempDir
    private Path directory = Path.of("");
    private Path root = directory;
    private Path bin = directory;

    @BeforeEach
    void layOutAProject() throws IOException {
        root = Files.createDirectories(directory.resolve("a project"));
        bin = Files.createDirectory(directory.resolve("bin"));
        for (String tool : TOOLS) {
            for (Path system : List.of(Path.of("/usr/bin", tool), Path.of("/bin", tool))) {
                if (Files.exists(system) && Files.notExists(bin.resolve(tool))) {
                    Files.createSymbolicLink(bin.resolve(tool), system);
                }
            }
        }
        // It also looks where systems keep their JDKs; here those are of the test.
        for (String file : List.of("rdma4j", "build/launch.sh", "build/jdk.sh",
                "build/english.sh", "build/tools.sh")) {
            script(root.resolve(file), Files.readString(Path.of("..", file))
                    .replaceAll("/(usr|opt|Library)/", directory + "/system/$1/"));
        }
        Files.createFile(root.resolve("pom.xml"));
        maven("");
    }

    private static void script(Path path, String text) throws IOException {
        Files.createDirectories(path.toAbsolutePath().getParent());
        Files.writeString(path, text);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /** A JDK whose {@code java} prints its home and its arguments. */
    private Path jdk(String path, String version) throws IOException {
        Path home = directory.resolve(path);
        script(home.resolve("bin/java"),
                "#!/bin/sh\necho \"java of " + home + "\"\nprintf '%s\\n' \"$@\"\n");
        script(home.resolve("bin/javac"), "#!/bin/sh\n");
        Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
        return home;
    }

    /** A Maven that notes each call with its JAVA_HOME, does what is given, and lays the result out. */
    private void maven(String commands) throws IOException {
        script(bin.resolve("mvn"), "#!/bin/sh\necho \"$JAVA_HOME\" >>'" + directory + "/calls'\n"
                + commands + "\nmkdir -p rdma4j-tools/target/launcher-rdma4j-tools/lib\n");
    }

    private List<String> mavenCalls() throws IOException {
        Path calls = directory.resolve("calls");
        return Files.exists(calls) ? Files.readAllLines(calls) : List.of();
    }

    private Run launch(String... environment) throws IOException {
        return new Run(root.resolve("rdma4j"), environment);
    }

    private Run run(List<String> arguments, String... environment) throws IOException {
        List<String> command = new ArrayList<>(List.of(root.resolve("rdma4j").toString(), "run"));
        command.addAll(arguments);
        return new Run(command, environment);
    }

    /** A run of the launcher with nothing in its environment but what is given. */
    private final class Run implements AutoCloseable {
        private final Process process;
        private final BufferedReader errors;
        private final List<String> errorLines = new ArrayList<>();

        Run(Path launcher, String... environment) throws IOException {
            this(List.of(launcher.toString(), "demo", "two words"), environment);
        }

        Run(List<String> command, String... environment) throws IOException {
            ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
            builder.environment().clear();
            builder.environment().put("PATH", bin.toString());
            builder.environment().put("HOME", directory.resolve("home").toString());
            for (String variable : environment) {
                String[] parts = variable.split("=", 2);
                builder.environment().put(parts[0], parts[1]);
            }
            process = builder.start();
            errors = process.errorReader(StandardCharsets.UTF_8);
        }

        void awaitError(String words) throws IOException {
            for (String line = errors.readLine(); line != null; line = errors.readLine()) {
                errorLines.add(line);
                if (line.contains(words)) {
                    return;
                }
            }
            throw new IOException("no line with '" + words + "' in " + errorLines);
        }

        List<String> succeed() throws Exception {
            assertThat(end()).as(errorLines.toString()).isZero();
            return process.inputReader(StandardCharsets.UTF_8).lines().toList();
        }

        List<String> fail() throws Exception {
            assertThat(end()).isOne();
            assertThat(process.inputReader(StandardCharsets.UTF_8).lines()).isEmpty();
            return errorLines;
        }

        private int end() throws Exception {
            errors.lines().forEach(errorLines::add);
            assertThat(process.waitFor(LONG)).isTrue();
            return process.exitValue();
        }

        @Override
        public void close() {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    // ---------------------------------------------------------------- the JDK

    @Test
    void withoutAJdkItSaysWhatToInstall() throws Exception {
        jdk("system/usr/lib/jvm/old", "17.0.1");
        assertThat(launch().fail()).singleElement().asString().contains("no JDK 25", "install",
                "JAVA_HOME");
        assertThat(mavenCalls()).isEmpty();
    }

    @Test
    void wrongJavaHomeIsPassedOverForRunningAndForBuilding() throws Exception {
        Path jdk = jdk("system/usr/lib/jvm/jdk 25", "25.0.1");
        Path old = jdk("old", "17.0.1");
        for (String home : List.of("/nope", old.toString())) {
            assertThat(launch("JAVA_HOME=" + home).succeed()).startsWith("java of " + jdk);
        }
        assertThat(mavenCalls()).containsExactly(jdk.toString());
    }

    @Test
    void javaHomeGoesBeforeThePathAndThePathBeforeTheUsualPlaces() throws Exception {
        Path usual = jdk("system/usr/lib/jvm/jdk", "25");
        Path onPath = jdk("path", "25.0.2");
        Path home = jdk("home of java", "25.0.3");
        assertThat(launch().succeed()).startsWith("java of " + usual);
        Files.createSymbolicLink(bin.resolve("java"), onPath.resolve("bin/java"));
        assertThat(launch().succeed()).startsWith("java of " + onPath);
        assertThat(launch("JAVA_HOME=" + home).succeed()).startsWith("java of " + home);
    }

    // ---------------------------------------------------------------- paths and arguments

    @Test
    void argumentsAndOptionsArriveAsTheyAre() throws Exception {
        jdk("system/usr/lib/jvm/jdk", "25");
        assertThat(launch("RDMA4J_OPTS=-Da=b -Dc=d").succeed())
                .containsSubsequence("-Da=b", "-Dc=d", "-XX:+UseSerialGC", "-cp",
                        "io.rdma4j.tools.Main", "demo", "two words")
                .anyMatch(line -> line
                        .startsWith(
                                root + "/rdma4j-tools/target/launcher-rdma4j-tools/rdma4j-tools.jar:"))
                .endsWith("two words");
        assertThat(launch("RDMA4J_OPTS=-XX:+UseZGC").succeed()).contains("-XX:+UseZGC")
                .doesNotContain("-XX:+UseSerialGC", "");
    }

    /** The JDK hands on what the system says, which is compared with English words. */
    @Test
    void theSystemSpeaksEnglishWhateverTheUsersLanguage() throws Exception {
        Path jdk = jdk("system/usr/lib/jvm/jdk", "25");
        script(jdk.resolve("bin/java"),
                "#!/bin/sh\necho \"${LC_ALL-none} $LC_MESSAGES '$LANGUAGE' ${LC_CTYPE-} $LANG\"\n");
        assertThat(launch("LC_ALL=de_DE.UTF-8", "LANGUAGE=de:fr", "LANG=fr_FR.UTF-8").succeed())
                .contains("none C '' de_DE.UTF-8 de_DE.UTF-8");
        assertThat(launch("LC_ALL=", "LC_MESSAGES=de_DE.UTF-8", "LANG=fr_FR.UTF-8").succeed())
                .contains(" C ''  fr_FR.UTF-8");
    }

    @Test
    void itWorksThroughLinks() throws Exception {
        jdk("system/usr/lib/jvm/jdk", "25");
        Path absolute = Files.createSymbolicLink(directory.resolve("absolute"),
                root.resolve("rdma4j"));
        Path relative = Files.createSymbolicLink(
                Files.createDirectory(directory.resolve("else where")).resolve("relative"),
                Path.of("../absolute"));
        for (Path link : List.of(absolute, relative)) {
            try (Run run = new Run(link)) {
                assertThat(run.succeed()).endsWith("two words");
            }
        }
        assertThat(mavenCalls()).hasSize(1);
    }

    // ---------------------------------------------------------------- programs of others

    private static final String MODULES = "--add-modules=java.management,jdk.jfr,jdk.net ";
    private static final String ENVIRONMENT = "echo \"$JDK_JAVA_OPTIONS | $LANG"
            + " ${LC_MESSAGES-none} ${LC_ALL-none} | $(command -v java) | $1\"";

    @Test
    void runBecomesTheCommandAndTellsItsJavaPrograms() throws Exception {
        Path jdk = jdk("system/usr/lib/jvm/jdk", "25");
        String jar = root + "/rdma4j-tools/target/launcher-rdma4j-tools/lib/rdma4j-sockets.jar";
        assertThat(run(List.of("10.0.0.0/8=rdma,*=tcp", "--", "sh", "-c", ENVIRONMENT, "sh",
                "two words"), "LANG=fr_FR.UTF-8", "LC_ALL=C.UTF-8").succeed())
                .containsExactly(MODULES + "\"-javaagent:" + jar + "=10.0.0.0/8=rdma,*=tcp\""
                        + " | fr_FR.UTF-8 none C.UTF-8 | " + jdk + "/bin/java | two words");
        assertThat(run(List.of("--", "sh", "-c", ENVIRONMENT), "JDK_JAVA_OPTIONS=-Xmx9m")
                .succeed())
                .containsExactly("-Xmx9m " + MODULES + "\"-javaagent:" + jar + "=\" |  none none | "
                        + jdk + "/bin/java | ");
    }

    @Test
    void runSaysWhatItTakes() throws Exception {
        jdk("system/usr/lib/jvm/jdk", "25");
        for (List<String> wrong : List.of(List.<String>of(), List.of("tcp"), List.of("--"),
                List.of("tcp", "--"), List.of("tcp", "sh", "--"))) {
            try (Run run = run(wrong)) {
                assertThat(run.end()).isEqualTo(2);
                assertThat(run.errorLines).last().asString().isEqualTo("rdma4j: run takes [RULES]"
                        + " -- COMMAND, as in: rdma4j run -- java -jar app.jar");
            }
        }
        assertThat(run(List.of("--help")).succeed()).first().asString().startsWith("Usage:");
    }

    // ---------------------------------------------------------------- training

    @Test
    void theJvmIsTrainedOnceABuild() throws Exception {
        Path home = jdk("system/usr/lib/jvm/jdk", "25");
        Path cache = root.resolve("rdma4j-tools/target/launcher-rdma4j-tools/rdma4j.aot");
        script(home.resolve("bin/java"), """
                #!/bin/sh
                for word; do
                    case $word in
                        -XX:AOTCacheOutput=*) echo trained >"${word#*=}" ;;
                    esac
                done
                printf '%s\\n' "$@"
                """);
        assertThat(launch().succeed()).contains("-XX:AOTCache=" + cache);
        assertThat(cache).content().isEqualToIgnoringNewLines("trained");
        Files.writeString(cache, "still there");
        launch().succeed();
        assertThat(cache).hasContent("still there");
    }

    @Test
    void whatIsTrainedInVainRunsAllTheSame() throws Exception {
        Path home = jdk("system/usr/lib/jvm/jdk", "25");
        script(home.resolve("bin/java"), """
                #!/bin/sh
                for word; do
                    case $word in
                        -XX:AOTCacheOutput=*) echo half >"${word#*=}"; exit 1 ;;
                    esac
                done
                echo "it runs"
                """);
        assertThat(launch().succeed()).containsExactly("it runs");
        try (Stream<Path> left = Files
                .list(root.resolve("rdma4j-tools/target/launcher-rdma4j-tools"))) {
            assertThat(left).extracting(path -> path.getFileName().toString())
                    .containsExactlyInAnyOrder("built", "lib", "training.log");
        }
    }

    // ---------------------------------------------------------------- building

    @Test
    void itBuildsOnceAndAgainWhenASourceIsNewer() throws Exception {
        jdk("system/usr/lib/jvm/jdk", "25");
        launch().succeed();
        launch().succeed();
        assertThat(mavenCalls()).hasSize(1);
        Path source = Files.createDirectories(root.resolve("m/src/main/java"))
                .resolve("Changed.java");
        // It changes while the build runs, which therefore may have missed it.
        maven("touch '" + source + "'");
        Files.writeString(source, "");
        launch().succeed();
        maven("");
        launch().succeed();
        launch().succeed();
        assertThat(mavenCalls()).hasSize(3);
    }

    @Test
    void failedBuildIsOneLineWithItsReasonAndWhereTheRestIs() throws Exception {
        jdk("system/usr/lib/jvm/jdk", "25");
        maven("""
                for i in 1 2 3 4 5; do echo '[INFO] talk'; done
                echo '[INFO] Building rdma4j-part 0.1.0    [2/7]'
                echo '[ERROR] COMPILATION ERROR : '
                echo '[ERROR] something is missing'
                echo '[ERROR] more'
                exit 1""");
        assertThat(launch().fail()).containsExactly("rdma4j: building (once) ...",
                "rdma4j: building rdma4j-part [2/7]",
                "rdma4j: the build failed: something is missing (all of it: " + root
                        + "/target/build.log)");
        maven("");
        launch().succeed();
    }

    @Test
    void withoutMavenItSaysWhatToInstall() throws Exception {
        jdk("system/usr/lib/jvm/jdk", "25");
        Files.delete(bin.resolve("mvn"));
        assertThat(launch().fail()).singleElement().asString().contains("install Maven");
        maven("");
        launch().succeed();
    }

    @Test
    void runsAtTheSameTimeBuildOnce() throws Exception {
        jdk("system/usr/lib/jvm/jdk", "25");
        Path go = directory.resolve("go");
        maven("until [ -e '" + go + "' ]; do sleep 0.1; done");
        try (Run first = launch()) {
            first.awaitError("building (once)");
            try (Run second = launch(); Run third = launch()) {
                second.awaitError("waiting for process");
                third.awaitError("waiting for process");
                Files.createFile(go);
                for (Run run : List.of(first, second, third)) {
                    assertThat(run.succeed()).endsWith("two words");
                }
            }
        }
        assertThat(mavenCalls()).hasSize(1);
        try (Stream<Path> left = Files.list(root.resolve("target"))) {
            assertThat(left).extracting(path -> path.getFileName().toString())
                    .containsExactly("build.log");
        }
    }

    @Test
    void lockOfAProcessThatWasKilledIsTakenAway() throws Exception {
        jdk("system/usr/lib/jvm/jdk", "25");
        Path target = Files.createDirectories(root.resolve("target"));
        // No system has that many processes.
        Files.createSymbolicLink(target.resolve("build.lock"), Path.of("999999999"));
        launch().succeed();
        assertThat(mavenCalls()).hasSize(1);
        assertThat(target.resolve("build.lock")).doesNotExist();
    }
}
