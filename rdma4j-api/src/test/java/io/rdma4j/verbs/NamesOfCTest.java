// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A search of the Javadoc for a name of the C headers finds its counterpart, and the page docs/reference/names-of-c.md has each
 * name. Who means a change copies {@code target/names-of-c.md} over it.
 */
class NamesOfCTest {
    private static final Path KEPT = Path.of("..", "docs", "reference", "names-of-c.md");
    private static final Path FOUND = Path.of("target", "names-of-c.md");
    private static final String SOURCES = "../../rdma4j-api/src/main/java/io/rdma4j/";
    private static final String HEAD = """
            # Names of C

            Each function, struct, field, enum and constant of rdma-core's `verbs.h`, `rdma_cma.h` and `rdma_verbs.h` (and the reasons of
            `ib_cm.h`), by the alphabet, with its place here, or none and the reason why. The search of the Javadoc finds the same names. Those of
            `rsocket.h`: [sockets](../howto/sockets.md#names-of-c).

            Generated from [c-functions.txt](../../rdma4j-api/src/test/resources/io/rdma4j/verbs/c-functions.txt),
            [c-names.txt](../../rdma4j-api/src/test/resources/io/rdma4j/verbs/c-names.txt) and the tags `{@index …}` of the API's Javadoc;
            `NamesOfCTest` checks that this page is what they say, and `build/c-names` compares them with the headers of a machine. What
            differs beside the name: [from-c.md](from-c.md).

            """;

    private final List<IndexTags.Tag> tags = IndexTags.all();
    private final List<NamesOfC.Group> groups = NamesOfC.all();

    @Test
    void eachNameIsIndexedInTheJavadocOfItsCounterpart() {
        List<String> missing = new ArrayList<>();
        int covered = 0;
        for (NamesOfC.Group group : groups) {
            for (NamesOfC.Name name : group.names()) {
                if (name.reason() == null) {
                    covered++;
                    if (places(name.text(), group).isEmpty()) {
                        missing.add(name.text() + " of " + group.title() + " in "
                                + String.join(", ", group.classes()));
                    }
                }
            }
            if (group.tag() != null && group.isCovered() && whole(group).isEmpty()) {
                missing.add(group.title() + " in " + String.join(", ", group.classes()));
            }
        }
        assertThat(missing).isEmpty();
        assertThat(covered).isGreaterThan(770);
    }

    @Test
    void nameThatIsLeftOutHasNoCounterpart() {
        List<String> wrong = new ArrayList<>();
        for (NamesOfC.Group group : groups) {
            group.names().stream().filter(name -> name.reason() != null)
                    .filter(name -> !places(name.text(), group).isEmpty())
                    .forEach(name -> wrong.add(name.text() + " of " + group.title()));
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void whatIsIndexedIsANameOfC() {
        Set<String> names = groups.stream().flatMap(group -> Stream.concat(
                Stream.ofNullable(group.tag()),
                group.names().stream().map(name -> group.hasFields()
                        ? name.text() + " of " + group.title()
                        : name.text())))
                .collect(Collectors.toSet());
        assertThat(tags).extracting(tag -> tag.name() + (tag.of() == null ? "" : " of " + tag.of()))
                .allSatisfy(name -> assertThat(names).contains(name));
    }

    @Test
    void pageIsWhatNamesAndTagsSay() throws IOException {
        List<String> lines = new ArrayList<>(HEAD.lines().toList());
        lines.add("## Functions");
        lines.add("");
        functions().forEach(lines::add);
        section("Structs", "struct ", "field", lines);
        section("Unions", "union ", "field", lines);
        section("Enums", "enum ", "constant", lines);
        section("Other constants", "constants", "constant", lines);
        Files.write(FOUND, lines);
        assertThat(Files.readAllLines(KEPT)).containsExactlyElementsOf(lines);
    }

    private Stream<String> functions() {
        Map<String, String> rows = new TreeMap<>();
        for (NamesOfC.Group group : groups) {
            if (group.title().equals("functions")) {
                for (NamesOfC.Name name : group.names()) {
                    rows.put(name.text(), name.reason() == null
                            ? linked(places(name.text(), group))
                            : "none: " + name.reason());
                }
            }
        }
        return Stream.concat(Stream.of("| C | here |", "|---|---|"), rows.entrySet().stream()
                .map(row -> "| `" + row.getKey() + "` | " + row.getValue() + " |"));
    }

    private void section(String title, String prefix, String of, List<String> lines) {
        Map<String, List<NamesOfC.Group>> byTitle = groups.stream()
                .filter(group -> group.title().startsWith(prefix))
                .collect(Collectors.groupingBy(NamesOfC.Group::title, TreeMap::new,
                        Collectors.toList()));
        lines.add("");
        lines.add("## " + title);
        for (Map.Entry<String, List<NamesOfC.Group>> each : byTitle.entrySet()) {
            lines.add("");
            lines.add("### " + heading(each.getKey()));
            lines.add("");
            List<IndexTags.Tag> whole = each.getValue().stream()
                    .flatMap(group -> whole(group).stream()).toList();
            if (!whole.isEmpty()) {
                lines.add("Here " + linked(whole) + ".");
                lines.add("");
            }
            lines.add("| " + of + " | here |");
            lines.add("|---|---|");
            rows(each.getValue()).forEach((names, place) -> lines.add("| " + names + " | " + place
                    + " |"));
        }
    }

    private static String heading(String title) {
        return title.equals("constants") ? "Constants without a common beginning"
                : title.startsWith("constants ") ? title.substring("constants ".length()) + "…"
                        : title;
    }

    /** {@return what stands where, in the order of C; names that are left out for one reason stand together} */
    private Map<String, String> rows(List<NamesOfC.Group> alike) {
        Map<String, Set<IndexTags.Tag>> covered = new LinkedHashMap<>();
        Map<String, List<String>> leftOut = new LinkedHashMap<>();
        for (NamesOfC.Group group : alike) {
            for (NamesOfC.Name name : group.names()) {
                if (name.reason() == null) {
                    covered.computeIfAbsent(name.text(), _ -> new LinkedHashSet<>())
                            .addAll(places(name.text(), group));
                } else {
                    leftOut.computeIfAbsent(name.reason(), _ -> new ArrayList<>())
                            .add(name.text());
                }
            }
        }
        Map<String, String> rows = new LinkedHashMap<>();
        covered.forEach((name, places) -> rows.put("`" + name + "`", places.stream()
                .map(tag -> "`" + tag.place() + "`").distinct().collect(Collectors.joining(", "))));
        leftOut.forEach((reason, names) -> rows.put(names.stream().map(name -> "`" + name + "`")
                .collect(Collectors.joining(", ")), "none: " + reason));
        return rows;
    }

    /** {@return where a name is indexed: members, if there are any, or else classes} */
    private List<IndexTags.Tag> places(String name, NamesOfC.Group group) {
        String of = group.hasFields() ? group.title() : null;
        List<IndexTags.Tag> all = tags.stream().filter(tag -> tag.name().equals(name)
                && Objects.equals(tag.of(), of)
                && (of != null || group.title().equals("functions") || group.classes().isEmpty()
                        || group.classes().contains(tag.file().name())))
                .toList();
        List<IndexTags.Tag> members = all.stream().filter(tag -> tag.member() != null).toList();
        return members.isEmpty() ? all : members;
    }

    private List<IndexTags.Tag> whole(NamesOfC.Group group) {
        List<IndexTags.Tag> all = tags.stream().filter(tag -> tag.name().equals(group.tag())
                && tag.of() == null).toList();
        List<IndexTags.Tag> classes = all.stream().filter(tag -> tag.member() == null)
                .sorted(Comparator.comparing(IndexTags.Tag::place)).toList();
        return classes.isEmpty() ? all : classes;
    }

    private static String linked(List<IndexTags.Tag> tags) {
        Map<String, String> places = new LinkedHashMap<>();
        tags.forEach(tag -> places.putIfAbsent(tag.place(), "[`" + tag.place() + "`](" + SOURCES
                + tag.file().folder() + "/" + tag.file().name() + ".java)"));
        return String.join(", ", places.values());
    }
}
