// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** A search of the Javadoc for a function, a constant or a field of the C headers finds its counterpart. */
class NamesOfCTest {
    private static final Pattern GROUP = Pattern.compile("\\[(.+)] ([\\w ]+)");
    private static final Pattern LEFT_OUT = Pattern.compile("- (\\w+): (\\S.*)");
    private static final Pattern CODE = Pattern.compile("\\{@code ([^}]*)}");
    private static final Pattern WORD = Pattern.compile("\\w+");

    /**
     * A name that C has.
     *
     * @param of its enum or struct
     * @param classes where its counterpart is
     * @param isCovered whether the API has a counterpart
     */
    private record Name(String text, String of, List<String> classes, boolean isCovered) {
        @Override
        public String toString() {
            return text + " of " + of + " in " + String.join(", ", classes);
        }
    }

    @Test
    void eachNameStandsInTheJavadocOfItsCounterpart() throws IOException {
        Map<String, Set<String>> said = said();
        assertThat(names()).filteredOn(Name::isCovered).hasSizeGreaterThan(770)
                .filteredOn(name -> !isSaid(name, said)).isEmpty();
    }

    @Test
    void nameThatIsLeftOutHasNoCounterpart() throws IOException {
        Map<String, Set<String>> said = said();
        assertThat(names()).filteredOn(name -> !name.isCovered()).isNotEmpty()
                .filteredOn(name -> isSaid(name, said)).isEmpty();
    }

    private static boolean isSaid(Name name, Map<String, Set<String>> said) {
        return name.classes().stream().anyMatch(
                type -> Objects.requireNonNull(said.get(type), type).contains(name.text()));
    }

    /** {@return by class, the words that its Javadoc says in code font} */
    private static Map<String, Set<String>> said() {
        Map<String, Set<String>> said = new HashMap<>();
        for (ApiSources.Source source : ApiSources.all()) {
            Set<String> words = new HashSet<>();
            for (String javadoc : source.javadocs()) {
                CODE.matcher(javadoc).results().forEach(code -> WORD.matcher(code.group(1))
                        .results().forEach(word -> words.add(word.group())));
            }
            said.put(source.name(), words);
        }
        return said;
    }

    private static List<Name> names() throws IOException {
        List<Name> names = new ArrayList<>();
        String of = "";
        List<String> classes = List.of();
        for (String line : lines()) {
            Matcher group = GROUP.matcher(line);
            Matcher leftOut = LEFT_OUT.matcher(line);
            if (group.matches()) {
                of = group.group(1);
                classes = List.of(group.group(2).split(" "));
            } else if (leftOut.matches()) {
                names.add(new Name(leftOut.group(1), of, classes, false));
            } else {
                assertThat(line).as("a name, or a name that is left out with the reason")
                        .matches(WORD);
                names.add(new Name(line, of, classes, true));
            }
        }
        return names;
    }

    private static List<String> lines() throws IOException {
        List<String> lines = new ArrayList<>(lines("c-names.txt"));
        lines.addAll(lines("c-functions.txt"));
        return lines;
    }

    private static List<String> lines(String resource) throws IOException {
        try (InputStream list = NamesOfCTest.class.getResourceAsStream(resource)) {
            String text = new String(Objects.requireNonNull(list).readAllBytes(),
                    StandardCharsets.UTF_8);
            return text.lines().filter(line -> !line.isBlank() && !line.startsWith("#")).toList();
        }
    }
}
