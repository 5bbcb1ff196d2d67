// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What c-names.txt and c-functions.txt say: each name of the C headers, and where its counterpart is, or why there is none. */
final class NamesOfC {
    private static final Pattern GROUP = Pattern.compile("\\[([^]]+)](?: ([\\w ]+))?");
    private static final Pattern LEFT_OUT = Pattern.compile("- ([\\w ]+): (\\S.*)");
    private static final Pattern NAME = Pattern.compile("\\w+");

    private NamesOfC() {}

    /**
     * An enum, a struct or another set of names.
     *
     * @param title such as {@code struct ibv_wc}
     * @param classes where the counterparts of its names are, none if no name has one
     */
    record Group(String title, List<String> classes, List<Name> names) {
        /** {@return the name that C gives to the whole, null if the names only begin alike} */
        @Nullable
        String tag() {
            Matcher tag = Pattern.compile("(?:struct|enum|union) (\\w+)").matcher(title);
            return tag.matches() ? tag.group(1) : null;
        }

        boolean hasFields() {
            return title.startsWith("struct ") || title.startsWith("union ");
        }

        boolean isCovered() {
            return names.stream().anyMatch(name -> name.reason() == null);
        }
    }

    /**
     * A name that C has.
     *
     * @param reason why it has no counterpart, null if it has one
     */
    record Name(String text, @Nullable String reason) {}

    static List<Group> all() {
        List<Group> groups = new ArrayList<>();
        for (String line : lines()) {
            Matcher group = GROUP.matcher(line);
            if (group.matches()) {
                groups.add(new Group(group.group(1),
                        group.group(2) == null ? List.of() : List.of(group.group(2).split(" ", -1)),
                        new ArrayList<>()));
                continue;
            }
            Matcher leftOut = LEFT_OUT.matcher(line);
            List<Name> names = groups.getLast().names();
            if (leftOut.matches()) {
                for (String name : leftOut.group(1).split(" ", -1)) {
                    names.add(new Name(name, leftOut.group(2)));
                }
            } else if (NAME.matcher(line).matches()) {
                names.add(new Name(line, null));
            } else {
                throw new IllegalStateException(
                        "neither a name nor names that are left out with the reason: " + line);
            }
        }
        return groups;
    }

    private static List<String> lines() {
        List<String> lines = new ArrayList<>(lines("c-names.txt"));
        lines.addAll(lines("c-functions.txt"));
        return lines;
    }

    private static List<String> lines(String resource) {
        try (InputStream list = NamesOfC.class.getResourceAsStream(resource)) {
            String text = new String(Objects.requireNonNull(list).readAllBytes(),
                    StandardCharsets.UTF_8);
            return text.lines().filter(line -> !line.isBlank() && !line.startsWith("#")).toList();
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }
}
