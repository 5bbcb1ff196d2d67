// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The archive of the tools, laid out as its descriptor says, with JDKs that only say how they were called; and the files for a
 * container and for hosted builds, as far as they can be checked without either.
 */
class ArchiveTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @TempDir
    private Path directory = Path.of("");
    private Path root = directory;

    @BeforeEach
    void layOut() throws IOException {
        root = directory.resolve("an archive");
        String descriptor = Files.readString(Path.of("src/main/assembly/archive.xml"));
        Matcher file = Pattern.compile("<file>\\s*<source>([^<]*)</source>\\s*"
                + "(?:<outputDirectory>([^<]*)</outputDirectory>)?").matcher(descriptor);
        while (file.find()) {
            Path source = Path
                    .of(file.group(1).replace("${maven.multiModuleProjectDirectory}", ".."));
            Path target = root.resolve(file.group(2) == null ? "" : file.group(2))
                    .resolve(source.getFileName().toString());
            // It also looks where systems keep their JDKs; here those are of the test.
            script(target, Files.readString(source).replaceAll("/(usr|opt|Library)/",
                    directory + "/system/$1/"));
        }
    }

    private static void script(Path path, String text) throws IOException {
        Files.createDirectories(path.toAbsolutePath().getParent());
        Files.writeString(path, text);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private Path java(Path home) throws IOException {
        script(home.resolve("bin/java"),
                "#!/bin/sh\necho \"java of " + home + "\"\nprintf '%s\\n' \"$@\"\n");
        return home;
    }

    private Path jdk(String version) throws IOException {
        Path home = java(directory.resolve("jdk " + version));
        script(home.resolve("bin/javac"), "#!/bin/sh\n");
        Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
        return home;
    }

    private List<String> run(int status, String javaHome, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(root.resolve("bin/rdma4j").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile())
                .redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().put("PATH", "/usr/bin:/bin");
        builder.environment().put("JAVA_HOME", javaHome);
        Process process = builder.start();
        List<String> lines = new String(process.getInputStream().readAllBytes(),
                StandardCharsets.UTF_8).lines().toList();
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as("%s", lines).isEqualTo(status);
        return lines;
    }

    @Test
    void toolsRunOnTheJdkOfTheUser() throws Exception {
        Path jdk = jdk("25.0.1");
        assertThat(run(0, jdk.toString(), "demo", "two words"))
                .startsWith("java of " + jdk)
                .containsSubsequence("--enable-native-access=ALL-UNNAMED", "-cp",
                        root + "/lib/*", "io.rdma4j.tools.Main", "demo")
                .endsWith("two words");
    }

    @Test
    void theRuntimeOfAnImageComesFirst() throws Exception {
        Path runtime = java(root.resolve("runtime"));
        assertThat(run(0, jdk("25.0.1").toString(), "demo")).startsWith("java of " + runtime);
        assertThat(run(0, "", "demo")).startsWith("java of " + runtime);
    }

    @Test
    void unchangedProgramsGetTheAgentOfTheArchive() throws Exception {
        assertThat(run(0, jdk("25.0.1").toString(), "run", "*=tcp", "--", "sh", "-c",
                "echo $JDK_JAVA_OPTIONS"))
                .singleElement().asString()
                .contains("\"-javaagent:" + root + "/lib/rdma4j-sockets.jar=*=tcp\"");
    }

    /** Programs that the command starts may be in other directories. */
    @Test
    void unchangedProgramsFindTheFileOfRulesWhereverTheyAre() throws Exception {
        for (String name : List.of("my rules", "/etc/rules")) {
            assertThat(run(0, jdk("25.0.1").toString(), "run", "@" + name, "--", "sh", "-c",
                    "echo $PWD; echo $JDK_JAVA_OPTIONS")).satisfies(
                            lines -> assertThat(
                                    lines.get(1)).endsWith(
                                            "rdma4j-sockets.jar=@"
                                                    + Path.of(lines.get(0)).resolve(name) + "\""));
        }
    }

    /** Windows has no shell of POSIX. Its file runs the same class with the same options, and says what it cannot do. */
    @Test
    void theFileForWindowsRunsTheSame() throws Exception {
        String windows = Files.readString(root.resolve("bin/rdma4j.cmd"));
        assertThat(windows).contains("io.rdma4j.tools.Main", "--enable-native-access=ALL-UNNAMED",
                "%RDMA4J_OPTS%", "%root%\\lib\\*", "exit /b %errorlevel%");
        assertThat(Files.readString(Path.of("src/main/assembly/archive.xml")))
                .containsPattern("rdma4j\\.cmd</source>\\s*<outputDirectory>bin</outputDirectory>"
                        + "\\s*<lineEnding>dos");
    }

    @Test
    void stepsOfTheContainerNameWhatIsThere() throws IOException {
        List<String> stages = new ArrayList<>();
        for (String line : Files.readAllLines(ROOT.resolve("Dockerfile"))) {
            String[] words = line.split("\\s+", -1);
            switch (words[0]) {
                case "FROM" -> {
                    if (words.length > 2) {
                        stages.add(words[3]);
                    }
                }
                case "COPY" -> {
                    if (words[1].startsWith("--from=")) {
                        assertThat(stages).contains(words[1].substring("--from=".length()));
                        assertThat(words[2]).isEqualTo("/opt/rdma4j");
                    } else {
                        assertThat(ROOT.resolve(words[1])).exists();
                    }
                }
                case "RUN" -> {
                    if (words[1].startsWith("/")) {
                        assertThat(words[1]).startsWith("/source/");
                        assertThat(ROOT.resolve(words[1].substring("/source/".length())))
                                .isExecutable();
                        assertThat(words[2]).isEqualTo("/opt/rdma4j");
                    } else {
                        assertThat(line)
                                .contains("apt-get install -y --no-install-recommends maven");
                    }
                }
                case "ENTRYPOINT" -> assertThat(words[1]).isEqualTo("[\"/opt/rdma4j/bin/rdma4j\"]");
                default -> assertThat(words[0]).isIn("", "#", "CMD", "USER");
            }
        }
        assertThat(stages).containsExactly("build");
        assertThat(Files.readAllLines(ROOT.resolve(".dockerignore"))).contains("**/target");
    }

    @Test
    void hostedBuildsCallWhatIsThere() throws IOException {
        String pom = Files.readString(ROOT.resolve("pom.xml"));
        String builds = Files.readString(ROOT.resolve(".github/workflows/commit.yml"))
                + Files.readString(ROOT.resolve(".github/workflows/weekly.yml"));
        assertThat(builds).contains("bash .ci/run");
        List<String> profiles = Pattern.compile("-P ([\\w,-]+)").matcher(builds).results()
                .flatMap(match -> List.of(match.group(1).split(",", -1)).stream()).toList();
        assertThat(profiles).isNotEmpty()
                .allSatisfy(profile -> assertThat(pom).contains("<id>" + profile + "</id>"));
        List<String> modules = Pattern.compile("-pl ([\\w,-]+)").matcher(builds).results()
                .flatMap(match -> List.of(match.group(1).split(",", -1)).stream()).toList();
        assertThat(modules).isNotEmpty()
                .allSatisfy(module -> assertThat(pom).contains("<module>" + module + "</module>"));
        List<String> scripts = Pattern
                .compile("(?<![\\w./])(?:\\.ci|build|interop|benchmarks)/\\w+")
                .matcher(builds).results().map(match -> match.group()).toList();
        assertThat(scripts).contains(".ci/run", "interop/run", "build/rehearse")
                .allSatisfy(script -> assertThat(ROOT.resolve(script)).exists());
        assertThat(Files.readString(ROOT.resolve(".github/ISSUE_TEMPLATE/bug.yml")))
                .contains("rdma4j doctor", "required: true", "SECURITY.md");
    }
}
