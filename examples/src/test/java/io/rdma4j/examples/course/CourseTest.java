// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.examples.TwoSides;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Every lesson runs, and its pages show its program and what it prints. */
class CourseTest {
    private static final List<String> LANGUAGES = List.of("en", "zh");
    /** No other build on this machine takes it. */
    private static final String ADDRESS = TwoSides.ownLoopbackAddress().getHostAddress();
    /** Those that take the name of an interface or device, not an address. */
    private static final Set<Lesson> DEVICE_LESSONS = EnumSet.of(Lesson.DEVICES, Lesson.MEMORY,
            Lesson.BY_HAND, Lesson.COMPLETIONS);
    /** Those whose two sides print at once, in any order. */
    private static final Set<Lesson> TWO_SIDES = EnumSet.of(Lesson.CONNECTION, Lesson.BY_HAND);
    private static final int MOST_LINES = 100;

    @ParameterizedTest
    @EnumSource
    void pagesShowTheProgramAndWhatItPrints(Lesson lesson) throws Exception {
        String output = printed(() -> lesson.run(target(lesson))).replace(ADDRESS, "127.0.0.1");
        String session = session(lesson);
        List<String> stale = new ArrayList<>();
        for (String language : LANGUAGES) {
            Page page = new Page(language, pageOf(lesson));
            page.update("program", (file, present) -> Files.readString(Path.of("..", file)));
            page.update("output", (command, present) -> {
                assertThat(command).isEqualTo("./rdma4j lesson " + lesson.number());
                return comparable(lesson, output).equals(comparable(lesson, present)) ? present
                        : output;
            });
            page.update("session", (command, present) -> Page.comparable(session)
                    .equals(Page.comparable(present)) ? present : session);
            assertThat(page.count("program")).isPositive();
            assertThat(page.count("output")).isEqualTo(1);
            assertThat(page.count("session")).isEqualTo(session.isEmpty() ? 0 : 1);
            page.ifStale(stale::add);
        }
        assertThat(stale).as("pages that show another program or output than what they would be:"
                + " copy examples/target/course over docs/course").isEmpty();
    }

    private static String session(Lesson lesson) throws Exception {
        String script = lesson.script().orElse("").replace("127.0.0.1", ADDRESS);
        return script.isEmpty() ? "" : Session.of(script).replace(ADDRESS, "127.0.0.1")
                .replaceAll("ffff:7f[0-9a-f]{2}:[0-9a-f]{4}", "ffff:7f00:0001");
    }

    @Test
    void programsAreShort() throws IOException {
        try (Stream<Path> files = Files
                .list(Path.of("src/main/java/io/rdma4j/examples/course"))) {
            assertThat(files.filter(file -> {
                try (Stream<String> lines = Files.lines(file)) {
                    return lines.count() >= MOST_LINES;
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            })).isEmpty();
        }
    }

    @Test
    void bothLanguagesHaveEachPage() throws IOException {
        List<List<String>> names = LANGUAGES.stream().map(CourseTest::pages).toList();
        assertThat(names.getFirst()).containsExactlyElementsOf(names.getLast())
                .hasSize(Lesson.values().length + 2);
        for (String language : LANGUAGES) {
            String index = Files.readString(Page.COURSE.resolve(language).resolve("README.md"));
            assertThat(names.getFirst()).filteredOn(name -> !name.equals("README.md"))
                    .allSatisfy(name -> assertThat(index).contains("](" + name + ")"));
        }
    }

    /** Claims of tutorials stand in both languages with the same tests, and each test stands there. */
    @Test
    void correctionsNameTheTestsThatShowThem() throws IOException {
        Set<String> tests = Arrays.stream(TutorialClaimsTest.class.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(Test.class)).map(Method::getName)
                .collect(Collectors.toSet());
        List<List<String>> named = new ArrayList<>();
        for (String language : LANGUAGES) {
            String text = Files.readString(Page.COURSE.resolve(language, "corrections.md"));
            named.add(Pattern.compile("`([\\w.]+)`(?=[^|]*\\|\n)").matcher(text).results()
                    .map(match -> match.group(1)).toList());
        }
        assertThat(named.getFirst()).containsExactlyElementsOf(named.getLast());
        assertThat(named.getFirst()).filteredOn(name -> !name.contains(".")).isSubsetOf(tests)
                .containsAll(tests);
    }

    private static List<String> pages(String language) {
        try (Stream<Path> files = Files.list(Page.COURSE.resolve(language))) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String pageOf(Lesson lesson) {
        String start = String.format(Locale.ROOT, "%02d-", lesson.number());
        return pages("en").stream().filter(name -> name.startsWith(start)).findAny().orElseThrow();
    }

    /** An address of this process alone, for those lessons that listen somewhere. */
    private static String[] target(Lesson lesson) {
        return DEVICE_LESSONS.contains(lesson) ? new String[0] : new String[]{ADDRESS};
    }

    private static String comparable(Lesson lesson, String output) {
        String text = Page.comparable(output);
        return !TWO_SIDES.contains(lesson) ? text
                : text.lines().sorted(Comparator.comparing(line -> line.replaceAll(":.*", "")))
                        .reduce("", (all, each) -> all + each + "\n");
    }

    static String printed(Program program) throws Exception {
        PrintStream before = System.out;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
            System.setOut(out);
            program.run();
        } finally {
            System.setOut(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    interface Program {
        void run() throws Exception;
    }
}
