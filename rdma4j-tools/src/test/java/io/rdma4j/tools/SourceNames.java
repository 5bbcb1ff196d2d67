// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The names that the Java sources of the repository declare: modules, packages, types and their members. */
final class SourceNames {
    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\n]*", Pattern.DOTALL);
    private static final Pattern PACKAGE = Pattern
            .compile("(?m)^(?:@\\w+\\(\\S+\\) )?(?:package|module) ([\\w.]+)(?:;| \\{)");
    private static final Pattern TYPE = Pattern.compile(
            "\\b(?:class|interface|enum|record) ([A-Z]\\w*)([^{;]*)");
    private static final Pattern NAME_OF_A_TYPE = Pattern.compile("[A-Z]\\w*");
    /** A type and a name behind it; the word before the name is looked at for what calls alone have. */
    private static final Pattern MEMBER = Pattern.compile(
            "([\\w>\\]?]+)\\s+(\\w+)\\s*(?=[(=;,):])");
    private static final Set<String> BEFORE_CALLS = Set.of("return", "new", "throw", "else", "case",
            "instanceof", "assert", "yield");
    private static final Pattern CONSTANT = Pattern.compile("[A-Z][A-Z0-9_]*");

    /** What the source of a type declares, and which types those in it extend. */
    private record Declared(Set<String> members, Set<String> parents) {}

    private final Set<String> packages = new HashSet<>();
    private final Map<String, List<Declared>> types = new HashMap<>();
    private final Set<String> members = new HashSet<>();

    /** @param root the folder of the repository */
    SourceNames(Path root) throws IOException {
        try (Stream<Path> modules = Files.list(root)) {
            for (Path module : modules.filter(Files::isDirectory).toList()) {
                addAll(module.resolve("src"));
            }
        }
    }

    private void addAll(Path sources) throws IOException {
        if (Files.isDirectory(sources)) {
            try (Stream<Path> files = Files.walk(sources)) {
                files.filter(file -> file.toString().endsWith(".java")).forEach(this::add);
            }
        }
    }

    private void add(Path file) {
        String code;
        try {
            code = COMMENT.matcher(Files.readString(file)).replaceAll("");
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        PACKAGE.matcher(code).results().forEach(match -> packages.add(match.group(1)));
        Set<String> parents = new HashSet<>();
        TYPE.matcher(code).results().forEach(match -> parents.addAll(typesIn(match.group(2))));
        Declared declared = new Declared(declaredIn(code), parents);
        members.addAll(declared.members());
        TYPE.matcher(code).results().forEach(match -> types.computeIfAbsent(match.group(1),
                name -> new ArrayList<>()).add(declared));
    }

    private static Set<String> declaredIn(String code) {
        Set<String> declared = new HashSet<>();
        MEMBER.matcher(code).results().filter(match -> !BEFORE_CALLS.contains(match.group(1)))
                .forEach(match -> declared.add(match.group(2)));
        CONSTANT.matcher(code).results().map(MatchResult::group).forEach(declared::add);
        TYPE.matcher(code).results().forEach(match -> declared.add(match.group(1)));
        return declared;
    }

    private static Set<String> typesIn(String code) {
        Set<String> named = new HashSet<>();
        NAME_OF_A_TYPE.matcher(code).results().forEach(match -> named.add(match.group()));
        return named;
    }

    /** {@return whether there is a package or module of that name, or one whose name begins with it} */
    boolean hasPackage(String name) {
        return packages.contains(name)
                || packages.stream().anyMatch(each -> each.startsWith(name + "."));
    }

    /** {@return whether a type of that simple name is declared} */
    boolean hasType(String name) {
        return types.containsKey(name);
    }

    /** {@return whether any type has a member of that name} */
    boolean hasMember(String name) {
        return members.contains(name);
    }

    /** {@return whether the type, one in its source, or one that these extend has such a member} */
    boolean hasMember(String type, String member) {
        return hasMember(type, member, new HashSet<>());
    }

    private boolean hasMember(String type, String member, Set<String> seen) {
        return seen.add(type) && types.getOrDefault(type, List.of()).stream().anyMatch(
                each -> each.members().contains(member) || each.parents().stream()
                        .anyMatch(parent -> hasMember(parent, member, seen)));
    }
}
