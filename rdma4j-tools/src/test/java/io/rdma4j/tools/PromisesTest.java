// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** What the documents promise besides names: properties, commands, packages, decision records and sizes. */
class PromisesTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Set<String> LIBRARIES = Set.of("rdma4j-api", "rdma4j-protocol",
            "rdma4j-softnic", "rdma4j-ibverbs");
    /** The processes that the demo starts by itself. */
    private static final Set<String> INTERNAL_COMMANDS = Set.of("demo-side");

    private static final Pattern PROPERTY = Pattern.compile("\"(rdma4j(?:\\.[a-zA-Z]+)+)\"");
    private static final Pattern PROPERTY_OF_A_DOCUMENT = Pattern.compile(
            "\\b(rdma4j(?:\\.[a-z]+)+(?:[A-Z]\\w*)?)=");
    private static final Pattern COMMAND = Pattern.compile("COMMANDS\\.put\\(\"([a-z_-]+)\"");
    /** Starts no tool of this project, but the command that is its argument. */
    private static final Pattern COMMAND_OF_LAUNCHER = Pattern
            .compile("(?m)^if \\[ \"\\$\\{1:-\\}\" = (\\w+) \\]");
    private static final Pattern COMMAND_OF_A_DOCUMENT = Pattern.compile("\\./rdma4j ([a-z_]+)");
    private static final Pattern RECORD = Pattern.compile("\\bADR (\\d+)");

    @Test
    void propertiesOfTheDocumentsAreReadByTheSources() {
        assertThat(matches(sources(file -> true), PROPERTY)).containsAll(
                matches(documents(), PROPERTY_OF_A_DOCUMENT));
    }

    @Test
    void propertiesOfTheLibrariesAreInTheDocuments() {
        String documents = String.join("\n", documents());
        Set<String> properties = matches(sources(file -> isOfALibrary(file)), PROPERTY);
        assertThat(properties).isNotEmpty().allMatch(
                property -> documents.contains(property + "=")
                        || documents.contains("`" + property + "`"));
    }

    @Test
    void commandsOfTheDocumentsAreCommandsAndOnePageHasAll() throws IOException {
        Set<String> commands = matches(List.of(Files.readString(ROOT.resolve(
                "rdma4j-tools/src/main/java/io/rdma4j/tools/Main.java"))), COMMAND);
        commands.addAll(
                matches(List.of(Files.readString(ROOT.resolve("build/tools.sh"))),
                        COMMAND_OF_LAUNCHER));
        assertThat(commands).containsAll(matches(documents(), COMMAND_OF_A_DOCUMENT));
        String page = Files.readString(ROOT.resolve("docs/reference/commands.md"));
        assertThat(commands).filteredOn(Predicate.not(INTERNAL_COMMANDS::contains))
                .allSatisfy(command -> assertThat(page).containsPattern(
                        command.replaceFirst("^(ibv_u[cd])_pingpong$", "$1_(…|pingpong)")));
    }

    /** The list has the packages of a folder either by their names or as lines below, such as {@code .wire}. */
    @Test
    void architectureListsEveryPackageOfTheLibraries() throws IOException {
        String list = Files.readString(ROOT.resolve("ARCHITECTURE.md")).split("```", 3)[1];
        Set<String> packages = new TreeSet<>();
        for (Path file : RepositoryFiles.in(ROOT, file -> isOfALibrary(file)
                && file.endsWith("package-info.java"))) {
            String text = Files.readString(file);
            packages.add(
                    matches(List.of(text), Pattern.compile("(?m)^package ([\\w.]+);")).iterator()
                            .next());
        }
        assertThat(packages).isNotEmpty().allSatisfy(name -> assertThat(
                list.contains(name + " ") || list.contains("." + lastOf(name) + " ")
                        || list.contains("." + lastOf(name) + ",")
                        || (list.contains(name.replaceFirst("\\.\\w+$", "") + " ")
                                && name.contains(".observe.")))
                .as(name).isTrue());
    }

    private static String lastOf(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    @Test
    void decisionRecordsThatTextsNameAreThere() throws IOException {
        Set<String> records;
        try (Stream<Path> files = Files.list(ROOT.resolve("docs/adr"))) {
            records = files.map(file -> file.getFileName().toString().replaceFirst("^0*(\\d+)-.*",
                    "$1")).collect(Collectors.toSet());
        }
        assertThat(records).containsAll(matches(documents(), RECORD))
                .containsAll(matches(sources(file -> true), RECORD));
    }

    /** Of {@code ToyLinkTest} the link itself. */
    @Test
    void smallestLinkHasFewerThanTwoHundredLines() throws IOException {
        try (Stream<String> lines = Files.lines(ROOT.resolve(
                "rdma4j-softnic/src/test/java/io/rdma4j/softnic/engine/ToyLink.java"))) {
            assertThat(lines.count()).isLessThan(200);
        }
    }

    private static Set<String> matches(List<String> texts, Pattern pattern) {
        return texts.stream().flatMap(text -> pattern.matcher(text).results())
                .map(match -> match.group(1)).collect(Collectors.toCollection(TreeSet::new));
    }

    private static boolean isOfALibrary(Path file) {
        Path inside = ROOT.relativize(file);
        return LIBRARIES.contains(inside.getName(0).toString())
                && inside.startsWith(inside.getName(0).resolve("src/main"));
    }

    private static List<String> sources(Predicate<Path> wanted) {
        return RepositoryFiles.in(ROOT, wanted.and(file -> file.toString().endsWith(".java")))
                .stream()
                .map(PromisesTest::read).toList();
    }

    private static List<String> documents() {
        return RepositoryFiles.in(ROOT, file -> file.toString().endsWith(".md")).stream()
                .map(PromisesTest::read)
                .toList();
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
