package io.rdma4j.tools;

import java.io.File;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
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

    /** {@return a module path with a module and what it needs at run time beside the JDK, and nothing else} */
    static String pathOf(String root) {
        Configuration resolved = ModuleLayer.boot().configuration()
                .resolve(ModuleFinder.of(entries()), ModuleFinder.of(), Set.of(root));
        return resolved.modules().stream()
                .map(module -> Path.of(module.reference().location().orElseThrow()).toString())
                .collect(Collectors.joining(File.pathSeparator));
    }
}
