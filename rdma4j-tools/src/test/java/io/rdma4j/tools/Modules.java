// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import java.io.File;
import java.lang.module.ModuleDescriptor.Requires;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** What lies on the class path of this test, as the module system sees it. */
final class Modules {
    private static final String TESTS = "test-classes";
    private static final String OWN = "io.rdma4j.";

    private Modules() {}

    private static Path[] entries() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .map(Path::of).filter(entry -> Files.exists(entry) && !entry.endsWith(TESTS))
                .toArray(Path[]::new);
    }

    /** {@return the modules of this project, without the JDK's} */
    static List<ModuleReference> own() {
        return Stream.of(entries()).flatMap(entry -> ModuleFinder.of(entry).findAll().stream())
                .filter(module -> module.descriptor().name().startsWith(OWN)).toList();
    }

    /** {@return a module path with a module and what it requires at run time beside the JDK, and nothing else} */
    static String pathOf(String root) {
        Set<ModuleReference> required = new LinkedHashSet<>();
        require(root, ModuleFinder.of(entries()), required);
        return required.stream()
                .map(module -> Path.of(module.location().orElseThrow()).toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** The module system would add every automatic module on the path as soon as one is required. */
    private static void require(String name, ModuleFinder finder, Set<ModuleReference> required) {
        finder.find(name).filter(required::add).ifPresent(module -> module.descriptor().requires()
                .stream().filter(each -> !each.modifiers().contains(Requires.Modifier.STATIC))
                .forEach(each -> require(each.name(), finder, required)));
    }
}
