// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** What the documents name is there: classes, members, packages, files and the pages they link to. */
class DocumentsTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    /** Names what was there when it was written. */
    private static final Path HISTORY = ROOT.resolve("docs/evidence/history");
    private static final List<Document> DOCUMENTS = documents();
    private static final SourceNames SOURCES = sources();

    private static final Pattern FENCED = Pattern.compile("(?s)```.*?```");
    private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ +(.*?) *$");
    private static final Pattern PACKAGE = Pattern.compile("\\bio\\.rdma4j(?:\\.[a-z0-9]+)*\\b");
    /** As `softnic.engine`, without what all have in common. */
    private static final Pattern SHORT_PACKAGE = Pattern.compile(
            "(?:softnic|protocol|ibverbs|tools|testkit)(?:\\.(?!py$)[a-z0-9]+)+");
    private static final Pattern TYPE = Pattern.compile(
            "(?<![\\w./_$:+=-])[A-Z][A-Z0-9]*[a-z]\\w*(?:[.#]\\w+)*");
    /** In a drawing any word may begin with a capital: names have two, or a member. */
    private static final Pattern TYPE_IN_A_DRAWING = Pattern.compile(
            "(?<![\\w./_$:+=-])[A-Z][a-z0-9]+(?:(?:[A-Z]\\w*)(?:[.#]\\w+)*|(?:[.#][a-z]\\w+)+)");
    private static final Pattern MEMBER = Pattern.compile("[a-z][a-z0-9]*[A-Z]\\w*");
    private static final Pattern FILE = Pattern.compile(
            "(?:docs|benchmarks|interop|examples|build|rdma4j-\\w+)(?:/[\\w.-]+)+");

    /** Classes of others that the documents name, beside those of {@link #PACKAGES_OF_THE_JDK}. */
    private static final Set<String> FOREIGN_TYPES = Set.of("RoCE", "KiB",
            // What names must not end with.
            "Impl", "Manager",
            // Inside the JDK.
            "Interruptible", "JavaThread", "ObjectAllocationOutsideTLAB", "Unsafe",
            // Words that other programs print, and settings of systemd.
            "Bad", "Warm", "AmbientCapabilities", "LimitMEMLOCK", "After", "Wants", "WantedBy",
            "DynamicUser", "ExecStart", "NoNewPrivileges", "ProtectSystem",
            "RestrictAddressFamilies",
            // Of Netty.
            "MultiThreadIoEventLoopGroup", "NioIoHandler", "NioServerSocketChannel",
            "ServerBootstrap", "FileRegion", "ByteBuf", "ChannelFuture", "ChannelHandler",
            "IdleStateHandler",
            // Of JUCX.
            "UcpContext", "UcpEndpoint", "UcpListener", "UcpRequest", "UcpWorker",
            // Of DiSNI and DaRPC.
            "DaRPCClient", "DaRPCServer", "DiSNI", "IbvQP", "IbvRecvWR", "IbvSendWR", "IbvSge",
            "RDMAvsTcpBenchmarkServer", "RdmaActiveEndpointGroup", "RdmaCm", "RdmaCmEvent",
            "RdmaEndpoint", "RdmaEventChannel", "RdmaPassiveEndpointGroup", "RdmaServerEndpoint",
            "ReadServer", "SendRecvServer", "VerbsClient", "VerbsServer",
            // Of Kubernetes.
            "NetworkPolicy", "None");
    /** Patterns of names, and members of classes of others. */
    private static final Set<String> FOREIGN_MEMBERS = Set.of("onX", "pollX",
            // Of JUCX.
            "sendTaggedNonBlocking", "recvTaggedNonBlocking", "sendStreamNonBlocking",
            "recvStreamNonBlocking", "sendAmNonBlocking",
            // Of DiSNI.
            "deallocPd", "destroyCQ", "destroyCompChannel", "destroyQP", "getRdmaMod", "getSgeMod",
            "getVerbs");
    /** What a run of the programs writes where Linux's devices are. */
    private static final Set<String> FILES_TO_COME = Set.of("docs/evidence/interop-native.md");
    private static final List<String> PACKAGES_OF_THE_JDK = List.of("com.sun.net.httpserver",
            "java.io", "java.lang", "java.lang.foreign", "java.net", "java.net.http",
            "java.nio.channels", "java.nio.channels.spi",
            "java.nio.file", "java.security", "java.time", "java.util", "java.util.concurrent",
            "jdk.jfr");

    /** A file of Markdown. */
    private record Document(Path path, String text) {
        /** {@return what stands in code font, without drawings and examples} */
        Stream<String> code() {
            return CODE.matcher(FENCED.matcher(text).replaceAll("")).results()
                    .map(match -> match.group(1));
        }

        /** {@return what is fenced, but for Java, which {@link DocumentedCodeTest} compiles} */
        Stream<String> drawings() {
            return FENCED.matcher(text).results().map(MatchResult::group)
                    .filter(fenced -> !fenced.startsWith("```java"));
        }

        @Override
        public String toString() {
            return ROOT.relativize(path).toString();
        }
    }

    @Test
    void classesAndTheirMembersAreInTheSources() {
        assertThat(wrong(document -> Stream.concat(
                document.code().flatMap(code -> matches(TYPE, code)),
                document.drawings().flatMap(code -> matches(TYPE_IN_A_DRAWING, code))),
                DocumentsTest::isDeclared)).isEmpty();
    }

    @Test
    void membersWithoutAClassAreInTheSources() {
        assertThat(wrong(document -> document.code().filter(MEMBER.asMatchPredicate()),
                name -> SOURCES.hasMember(name) || FOREIGN_MEMBERS.contains(name))).isEmpty();
    }

    @Test
    void packagesAreInTheSources() {
        assertThat(wrong(document -> matches(PACKAGE, document.text()), SOURCES::hasPackage))
                .isEmpty();
        assertThat(wrong(document -> document.code().filter(SHORT_PACKAGE.asMatchPredicate()),
                name -> SOURCES.hasPackage("io.rdma4j." + name))).isEmpty();
    }

    @Test
    void filesAreWhereTheDocumentsSay() {
        assertThat(wrong(document -> document.code().filter(FILE.asMatchPredicate()),
                name -> Files.exists(ROOT.resolve(name)) || FILES_TO_COME.contains(name)))
                .isEmpty();
    }

    @Test
    void relativeLinksLeadSomewhere() {
        List<String> broken = new ArrayList<>();
        for (Document document : DOCUMENTS) {
            matches(LINK, document.text()).map(link -> link.substring(2, link.length() - 1))
                    .filter(link -> !link.contains("://")).map(link -> link.replaceAll("#.*", ""))
                    .filter(link -> !Files.exists(document.path().resolveSibling(link)))
                    .forEach(link -> broken.add(document + ": " + link));
        }
        assertThat(broken).isEmpty();
    }

    @Test
    void anchorsOfLinksAreHeadings() {
        List<String> broken = new ArrayList<>();
        for (Document document : DOCUMENTS) {
            matches(LINK, document.text()).map(link -> link.substring(2, link.length() - 1))
                    .filter(link -> link.startsWith("#")
                            || (!link.contains("://") && link.contains(".md#")))
                    .filter(link -> !anchors(link.startsWith("#") ? document.text()
                            : read(document.path().resolveSibling(link.replaceAll("#.*", ""))))
                            .contains(link.replaceAll(".*#", "")))
                    .forEach(link -> broken.add(document + ": " + link));
        }
        assertThat(broken).isEmpty();
    }

    /** {@return the names that viewers of Markdown give to the headings of a page} */
    private static Set<String> anchors(String page) {
        Set<String> anchors = new HashSet<>();
        HEADING.matcher(FENCED.matcher(page).replaceAll("")).results().forEach(heading -> {
            String anchor = heading.group(1).replaceAll("\\[([^]]*)]\\([^)]*\\)", "$1")
                    .toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "")
                    .replace(' ', '-');
            String name = anchor;
            for (int i = 1; !anchors.add(name); i++) {
                name = anchor + "-" + i;
            }
        });
        return anchors;
    }

    @Test
    void indexOfDecisionsHasEach() throws IOException {
        List<String> rows = new ArrayList<>();
        try (Stream<Path> files = Files.list(ROOT.resolve("docs/adr"))) {
            for (Path file : files.filter(each -> each.getFileName().toString()
                    .matches("\\d{4}-.*\\.md")).sorted().toList()) {
                String title = Files.readAllLines(file).getFirst();
                rows.add(title.replaceFirst("# (\\d+)\\. (.*)", "| $1 | [$2](")
                        + file.getFileName() + ") |");
            }
        }
        assertThat(Files.readAllLines(ROOT.resolve("docs/adr/README.md")).stream()
                .filter(line -> line.matches("\\| \\d+ .*"))).containsExactlyElementsOf(rows);
    }

    /** {@code interop/run} says in one line what became of all runs; the documents say it in short. */
    @Test
    void documentsSayHowManyRunsWithLinuxFailed() throws IOException {
        for (String name : List.of("interop.md", "interop-portable.md")) {
            String text = Files.readString(ROOT.resolve("docs", "evidence", name));
            int[] runs = counts(text, "Matrix: ([^.]+)\\.");
            int[] scenarios = counts(text, "Scenarios: ([^.]+)\\.");
            assertThat(inOneLine("docs/reference/what-works.md")).contains(String.format(
                    Locale.ROOT, "](../evidence/%s) %d of %,d runs and %d of %d scenarios failed",
                    name, runs[0], runs[1], scenarios[0], scenarios[1]));
            assertThat(inOneLine("README.md"))
                    .contains(
                            String.format(Locale.ROOT, "%d of %,d runs failed", runs[0], runs[1]));
        }
    }

    private static String inOneLine(String document) throws IOException {
        return Files.readString(ROOT.resolve(document)).replaceAll("\\s+", " ");
    }

    /** @return how many failed, of how many */
    private static int[] counts(String text, String summary) {
        int[] counts = new int[2];
        Matcher line = Pattern.compile(summary).matcher(text);
        assertThat(line.find()).as(summary).isTrue();
        for (String part : line.group(1).split(", ", -1)) {
            String[] count = part.split(" ", -1);
            counts[0] += count[1].equals("FAILED") ? Integer.parseInt(count[0]) : 0;
            counts[1] += Integer.parseInt(count[0]);
        }
        return counts;
    }

    /** The first row of the table is the software RoCE device over the network. */
    @Test
    void documentsSayHowManyConformanceCasesPass() throws IOException {
        Matcher row = Pattern.compile("\\| software-roce \\| (\\d+) of (\\d+)"
                + "(?:, (\\d+) accepted without effect)? \\|").matcher(
                        Files.readString(ROOT.resolve("docs", "evidence", "conformance.md")));
        assertThat(row.find()).isTrue();
        assertThat(inOneLine("docs/reference/what-works.md")).contains(
                "Of the " + row.group(2) + " cases of the conformance suite that a software RoCE"
                        + " device must pass, " + row.group(1) + " do and " + row.group(3)
                        + " are accepted without an effect");
    }

    private static List<String> wrong(Function<Document, Stream<String>> names,
            Predicate<String> isRight) {
        return DOCUMENTS.stream().filter(document -> !document.path().startsWith(HISTORY))
                .flatMap(document -> names.apply(document).distinct()
                        .filter(name -> !isRight.test(name)).map(name -> document + ": " + name))
                .toList();
    }

    private static Stream<String> matches(Pattern pattern, String text) {
        return pattern.matcher(text).results().map(MatchResult::group);
    }

    /** @param name a class, and perhaps classes in it and a member */
    private static boolean isDeclared(String name) {
        String[] parts = name.split("[.#]", -1);
        if (!SOURCES.hasType(parts[0])) {
            return isAttribute(name) || FOREIGN_TYPES.contains(parts[0]) || isOfTheJdk(parts[0]);
        }
        String type = parts[0];
        for (int i = 1; i < parts.length; i++) {
            if (!SOURCES.hasMember(type, parts[i])) {
                return false;
            }
            type = SOURCES.hasType(parts[i]) ? parts[i] : type;
        }
        return true;
    }

    /** JMX takes the name of an attribute from that of its getter. */
    private static boolean isAttribute(String name) {
        return SOURCES.hasMember("get" + name);
    }

    private static boolean isOfTheJdk(String name) {
        return PACKAGES_OF_THE_JDK.stream().anyMatch(each -> {
            try {
                Class.forName(each + "." + name);
                return true;
            } catch (ClassNotFoundException absent) {
                return false;
            }
        });
    }

    private static List<Document> documents() {
        try (Stream<Path> root = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve("docs"));
                Stream<Path> others = Stream.of("examples", "interop", "benchmarks")
                        .map(each -> ROOT.resolve(each, "README.md"))) {
            return Stream.of(root, docs, others).flatMap(files -> files)
                    .filter(file -> file.toString().endsWith(".md")).filter(Files::exists).sorted()
                    .map(file -> new Document(file, read(file))).toList();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static SourceNames sources() {
        try {
            return new SourceNames(ROOT);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
