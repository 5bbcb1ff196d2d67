// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.testkit.Wait;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The Java of the documents compiles, and what they show as a program's output is its output. A comment before a block says more of it:
 *
 * <pre>
 * with: CmId id, Path file              parameters that a piece of a program needs
 * import: io.netty.channel.*            beside what IMPORTS has
 * runs: Hello PORT &amp; Hello 127.0.0.1 PORT  runs what the block declares, the second when the first waits for it
 * prints: hello RDMA                    what is then printed, somewhere
 * output of: demo                       the block is lines of what this command prints, with other numbers
 * as in: SocketStatTest                 a test compares such an output already
 * program: FILE                         the block is a file that the build compiles, as CourseTest sees to
 * </pre>
 */
@ExtendWith(NothingStaysOpen.class)
class DocumentedCodeTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final Pattern BLOCK = Pattern.compile(
            "((?:<!--[^>]*-->\\s*)*)```(\\w*)\\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);
    private static final Pattern REMARK = Pattern.compile("<!-- ([a-z ]+): (.*?) -->");
    private static final Pattern TYPE = Pattern.compile(
            "(?m)^(?:public |final |sealed |static )*(?:class|interface|record|enum) (\\w+)");
    /** What pieces of programs may use without saying so. */
    private static final String IMPORTS = Stream.of("io.rdma4j.cm.*", "io.rdma4j.connection.*",
            "io.rdma4j.sockets.*", "io.rdma4j.softnic.options.*", "io.rdma4j.verbs.*",
            "java.io.*", "java.lang.foreign.*", "java.net.*", "java.nio.*", "java.nio.channels.*",
            "java.nio.file.*", "java.time.*", "java.util.*")
            .map(each -> "import " + each + ";\n").collect(Collectors.joining());
    /** Where each fenced block without a language is the output of something. */
    private static final List<String> OUTPUT_IS_SHOWN = List.of("README.md", "docs/start",
            "docs/howto");

    @TempDir
    private Path directory = Path.of("");

    /**
     * A fenced block.
     *
     * @param line of the page on which it begins
     * @param remarks those before it
     */
    private record Block(Path page, long line, String remarks, String language, String text) {
        @Nullable
        String remark(String name) {
            Matcher remark = REMARK.matcher(remarks);
            while (remark.find()) {
                if (remark.group(1).equals(name)) {
                    return remark.group(2);
                }
            }
            return null;
        }

        @Override
        public String toString() {
            return ROOT.relativize(page) + ":" + line;
        }
    }

    @TestFactory
    Stream<DynamicTest> javaCompiles() {
        List<Block> blocks = blocks().filter(block -> block.language().equals("java"))
                .filter(block -> block.remark("program") == null).toList();
        assertThat(blocks).isNotEmpty();
        return blocks.stream().map(block -> DynamicTest.dynamicTest(block.toString(),
                () -> compile(block, Files.createTempDirectory(directory, "block"))));
    }

    @TestFactory
    Stream<DynamicTest> programsPrintWhatIsSaid() {
        List<Block> blocks = blocks().filter(block -> block.remark("runs") != null).toList();
        assertThat(blocks).isNotEmpty();
        return blocks.stream().map(block -> DynamicTest.dynamicTest(block.toString(), () -> {
            Path classes = Files.createTempDirectory(directory, "program");
            compile(block, classes);
            assertThat(run(String.valueOf(block.remark("runs")), classes))
                    .contains(String.valueOf(block.remark("prints")));
        }));
    }

    @TestFactory
    Stream<DynamicTest> outputIsThatOfTheCommand() {
        return blocks().filter(DocumentedCodeTest::isOutput)
                .map(block -> DynamicTest.dynamicTest(block.toString(), () -> {
                    String command = block.remark("output of");
                    assertThat(command).as("a comment <!-- output of: COMMAND --> before the block")
                            .isNotNull();
                    Invocation invocation = new Invocation();
                    assertThat(invocation.run(String.valueOf(command))).isZero();
                    assertThat(comparable(invocation.out())).containsSubsequence(
                            comparable(block.text()));
                }));
    }

    private static boolean isOutput(Block block) {
        String page = ROOT.relativize(block.page()).toString();
        if (block.remark("output of") != null) {
            return true;
        }
        return block.language().isEmpty() && block.remark("as in") == null
                && OUTPUT_IS_SHOWN.stream().anyMatch(page::startsWith);
    }

    /** {@return the lines of an output, with one word for each number and none for what is left out} */
    private static List<String> comparable(String output) {
        return output.lines().map(line -> line.strip().replaceAll("0x[0-9a-f]+", "#")
                .replaceAll("\\d[\\d.,]*", "#").replaceAll("\\s+", " "))
                .filter(line -> !line.isEmpty() && !line.equals("...")).toList();
    }

    private void compile(Block block, Path classes) throws IOException {
        Matcher type = TYPE.matcher(block.text());
        boolean isWhole = type.find();
        String name = isWhole ? type.group(1) : "Piece";
        String imports = block.remark("import");
        String parameters = block.remark("with");
        String text = isWhole ? block.text()
                : IMPORTS + (imports == null ? "" : imports.lines().flatMap(
                        line -> Arrays.stream(line.split(", ", -1)))
                        .map(each -> "import " + each + ";\n").collect(Collectors.joining()))
                        + "class Piece {\nvoid run(" + (parameters == null ? "" : parameters)
                        + ") throws Exception {\n" + block.text() + "}\n}\n";
        Path source = Files.createDirectories(classes.resolve("source")).resolve(name + ".java");
        Files.writeString(source, text);
        StringWriter said = new StringWriter();
        PrintWriter print = new PrintWriter(said, true);
        int status = ToolProvider.findFirst("javac").orElseThrow().run(print, print, "-proc:none",
                "-cp", classPath(), "-d", classes.toString(), source.toString());
        assertThat(status).as(() -> block + ":\n" + said).isZero();
    }

    private static String classPath() {
        return Stream.of("surefire.test.class.path", "java.class.path", "jdk.module.path")
                .map(System::getProperty).filter(path -> path != null && !path.isEmpty())
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** @param calls such as {@code Hello PORT & Hello 127.0.0.1 PORT} */
    private static String run(String calls, Path classes) throws Exception {
        PrintStream usual = System.out;
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        List<FutureTask<Void>> ends = new ArrayList<>();
        List<Thread> programs = new ArrayList<>();
        try (URLClassLoader loader = new URLClassLoader(new URL[]{classes.toUri().toURL()},
                DocumentedCodeTest.class.getClassLoader())) {
            System.setOut(new PrintStream(printed, true, StandardCharsets.UTF_8));
            for (String call : calls.split(" & ", -1)) {
                String[] words = call
                        .replace("PORT", Integer.toString(Loopback.PORT)).split(" ", -1);
                FutureTask<Void> end = new FutureTask<>(() -> {
                    loader.loadClass(words[0]).getMethod("main", String[].class).invoke(null,
                            (Object) Arrays.copyOfRange(words, 1, words.length));
                    return null;
                });
                ends.add(end);
                Thread program = Thread.ofPlatform().daemon().start(end);
                programs.add(program);
                Wait.until(call + " waits for a request, or has ended",
                        () -> end.isDone() || Arrays.stream(program.getStackTrace())
                                .anyMatch(frame -> frame.getMethodName().equals("awaitRequest")));
            }
            // The last first: one that failed has others wait in vain.
            for (FutureTask<Void> end : ends.reversed()) {
                end.get(1, TimeUnit.MINUTES);
            }
        } catch (ExecutionException failure) {
            throw new AssertionError(calls, failure.getCause());
        } finally {
            System.setOut(usual);
            programs.forEach(Thread::interrupt);
        }
        return printed.toString(StandardCharsets.UTF_8);
    }

    private static Stream<Block> blocks() {
        List<Block> blocks = new ArrayList<>();
        for (Path page : pages()) {
            String text = read(page);
            Matcher block = BLOCK.matcher(text);
            while (block.find()) {
                blocks.add(new Block(page,
                        text.substring(0, block.start()).lines().count() + 1, block.group(1),
                        block.group(2), block.group(3)));
            }
        }
        return blocks.stream();
    }

    private static List<Path> pages() {
        try (Stream<Path> root = Files.list(ROOT);
                Stream<Path> docs = Files.walk(ROOT.resolve(
                        "docs"))) {
            return Stream.concat(root, docs).filter(file -> file.toString().endsWith(".md"))
                    .sorted().toList();
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    private static String read(Path page) {
        try {
            return Files.readString(page);
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }
}
