// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A page of the course. What stands in a block behind a comment such as {@code <!-- program: FILE -->} is what the program is,
 * or what a run of it printed.
 */
final class Page {
    static final Path COURSE = Path.of("..", "docs", "course");
    private static final Path NEWEST = Path.of("target", "course");

    private final Path file;
    private final String original;
    private String text;

    Page(String language, String name) throws IOException {
        file = Path.of(language, name);
        original = Files.readString(COURSE.resolve(file));
        text = original;
    }

    /** Replaces each block of a kind by what it should be, which may depend on its subject and what it is. */
    void update(String kind, Replacement replacement) throws Exception {
        Matcher block = Pattern.compile(
                "(?s)(<!-- " + kind + ": (.*?) -->\n```\\w*\n)(.*?)(```\n)").matcher(text);
        StringBuilder result = new StringBuilder();
        while (block.find()) {
            String wanted = replacement.of(block.group(2), block.group(3));
            block.appendReplacement(result, Matcher.quoteReplacement(
                    block.group(1) + wanted + block.group(4)));
        }
        text = block.appendTail(result).toString();
    }

    interface Replacement {
        String of(String subject, String present) throws Exception;
    }

    /** {@return how often a kind of block is there} */
    long count(String kind) {
        return Pattern.compile("<!-- " + kind + ": .*? -->\n```").matcher(text).results().count();
    }

    /** Writes what the page should be into a file, if it is not that. */
    void ifStale(Consumer<String> report) throws IOException {
        if (!text.equals(original)) {
            Path newest = NEWEST.resolve(file);
            Files.createDirectories(newest.getParent());
            Files.writeString(newest, text);
            report.accept(file.toString());
        }
    }

    /** {@return an output without what differs from run to run} */
    static String comparable(String output) {
        UnaryOperator<String> line = each -> each
                .replaceAll("\\b127(\\.\\d+){3}\\b", "ADDRESS")
                .replaceAll("ADDRESS:\\d+", "ADDRESS:N")
                .replaceAll("@[0-9a-f]+", "@N")
                .replaceAll("ffff:7f[0-9a-f]{2}:[0-9a-f]{4}", "ffff:ADDRESS")
                .replaceAll("GID \\d+: ", "GID N: ")
                .replaceAll("0x[0-9a-f]+", "0xN")
                .replaceAll("there are roce_[^(]*", "there are DEVICES ")
                .replaceAll("\\d+ of \\d{3,}", "N of N")
                .replaceAll("recorded: \\d+", "recorded: N")
                .replaceAll("port \\d{2,}", "port N")
                .replaceAll("\\d+(\\.\\d+)? (ns|us|µs|ms|s)\\b", "TIME")
                .replaceAll("-?\\d{6,}", "N");
        return output.lines().filter(each -> !each.contains(", for ::1")).map(line)
                .reduce("", (all, each) -> all + each + "\n");
    }
}
