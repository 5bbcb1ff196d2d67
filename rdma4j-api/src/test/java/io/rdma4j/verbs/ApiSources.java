// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The sources of the API, for tests of what its Javadoc says. */
final class ApiSources {
    private static final Path ROOT = Path.of("..", "rdma4j-api", "src", "main", "java");
    private static final Pattern COMMENT_OR_LITERAL = Pattern.compile(
            "/\\*.*?\\*/|//[^\\n]*|\"(?:\\\\.|[^\"\\\\])*\"|'(?:\\\\.|[^'\\\\])'", Pattern.DOTALL);
    private static final Pattern JAVADOC = Pattern.compile("/\\*\\*.*?\\*/", Pattern.DOTALL);

    private ApiSources() {}

    /**
     * A class in its file.
     *
     * @param folder of the file, behind the packages that all have in common
     * @param name its simple name
     * @param text the whole file
     */
    record Source(String folder, String name, String text) {
        /** {@return the text with blanks for comments and literals; what is left stays at its place} */
        String code() {
            return COMMENT_OR_LITERAL.matcher(text)
                    .replaceAll(match -> " ".repeat(match.group().length()));
        }

        /** {@return its Javadoc comments} */
        List<String> javadocs() {
            return JAVADOC.matcher(text).results().map(match -> match.group()).toList();
        }

        /** {@return the last Javadoc comment between two places, empty if there is none} */
        String javadoc(int start, int end) {
            return JAVADOC.matcher(text.substring(start, end)).results()
                    .map(match -> match.group()).reduce("", (former, latter) -> latter);
        }
    }

    /** {@return all of them} */
    static List<Source> all() {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(ApiSources::isClass).sorted().map(ApiSources::read).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isClass(Path file) {
        String name = file.getFileName().toString();
        return name.endsWith(".java") && !name.contains("-");
    }

    private static Source read(Path file) {
        try {
            String name = file.getFileName().toString();
            return new Source(
                    ROOT.resolve("io/rdma4j").relativize(file.resolveSibling("")).toString(),
                    name.substring(0, name.indexOf('.')), Files.readString(file));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
