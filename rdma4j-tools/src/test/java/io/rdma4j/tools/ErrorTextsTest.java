// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** Numbers of errors say nothing to people: no text has one without words. */
class ErrorTextsTest {
    private static final int LONGEST_WORD = 12;
    private static final Path ROOT = Path.of("..");
    /** A literal that ends with such a word, behind which something is put that is no literal. */
    private static final Pattern JOINED = Pattern.compile(
            "\\b(?:errno|error|error number|error code|status)[ :=(]*\"\\)?\\s*"
                    + "(?:\\+|\\.append\\()\\s*([^\";]*)(;|\"[^\"]*\")");
    /** A place for something in a format of {@link String#format} or of a log. */
    private static final Pattern FORMATTED = Pattern
            .compile("\\b(?:errno|error|error number|error type|error code|status|code)"
                    + "(?: is)?[ :=(]+(?:%d|\\{\\d[^}]*\\})(?!: )");
    /**
     * The last line of C's programs, whose words stand before it; how a process ended; the status of an application's event, for
     * which only that has words.
     */
    private static final Pattern IS_NO_ERROR = Pattern
            .compile("return status|ended with status|, status \" \\+ status\\(\\);");
    /** A number of an error with words behind it, as C's programs print it. */
    private static final Pattern WORDS_FOLLOW = Pattern.compile("\": \"");
    /** Something that is no number of an error. */
    private static final Pattern HAS_WORDS = Pattern.compile(
            "\\b(SystemErrors|text|words|getMessage|description|explanation|completion\\.status|status\\(\\)\\.)");

    private record Found(String file, String text) {}

    @Test
    void noTextHasTheNumberOfAnErrorWithoutWords() throws IOException {
        List<Found> found = new ArrayList<>();
        int files = 0;
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.toList()) {
                Path sources = module.resolve("src/main/java");
                if (Files.isDirectory(sources)) {
                    files += search(sources, found);
                }
            }
        }
        assertThat(files).isGreaterThan(500);
        assertThat(found).isEmpty();
    }

    private static String withWordBefore(String text, MatchResult match) {
        return text.substring(Math.max(0, match.start() - LONGEST_WORD), match.end());
    }

    private static int search(Path sources, List<Found> found) throws IOException {
        try (Stream<Path> files = Files.walk(sources)) {
            List<Path> all = files.filter(file -> file.toString().endsWith(".java")).toList();
            for (Path file : all) {
                String text = Files.readString(file);
                String name = file.getFileName().toString();
                JOINED.matcher(text).results()
                        .filter(match -> !IS_NO_ERROR.matcher(withWordBefore(text, match)).find()
                                && !HAS_WORDS.matcher(match.group(1)).find()
                                && !WORDS_FOLLOW.matcher(match.group(2)).find())
                        .forEach(match -> found.add(new Found(name, match.group())));
                FORMATTED.matcher(text).results()
                        .forEach(match -> found.add(new Found(name, match.group())));
            }
            return all.size();
        }
    }
}
