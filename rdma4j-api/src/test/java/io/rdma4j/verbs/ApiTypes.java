// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassModel;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The types that programs use: the public ones of the packages that are exported to all, with those nested in them. */
final class ApiTypes {
    private static final Path CLASSES = Path.of("target", "classes");
    private static final List<String> PACKAGES = List.of("cm", "connection", "verbs");

    private ApiTypes() {}

    static List<Class<?>> all() {
        return PACKAGES.stream().flatMap(ApiTypes::of).filter(ApiTypes::isVisible).toList();
    }

    private static Stream<Class<?>> of(String name) {
        Path directory = CLASSES.resolve(Path.of("io", "rdma4j", name));
        try (Stream<Path> files = Files.list(directory)) {
            List<Class<?>> types = files.map(file -> file.getFileName().toString())
                    .filter(file -> file.endsWith(".class") && !file.equals("package-info.class"))
                    .sorted()
                    .<Class<?>>map(file -> load("io.rdma4j." + name + "."
                            + file.substring(0, file.length() - ".class".length())))
                    .toList();
            return types.stream();
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static Class<?> load(String name) {
        try {
            return Class.forName(name, false, ApiTypes.class.getClassLoader());
        } catch (ClassNotFoundException gone) {
            throw new IllegalStateException(gone);
        }
    }

    /** {@return what its class file says, with the annotations that reflection does not see} */
    static ClassModel classFile(Class<?> type) {
        try {
            return ClassFile.of()
                    .parse(CLASSES.resolve(type.getName().replace('.', '/') + ".class"));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static boolean isVisible(Class<?> type) {
        for (Class<?> each = type; each != null; each = each.getEnclosingClass()) {
            if (!Modifier.isPublic(each.getModifiers()) || each.isAnonymousClass()) {
                return false;
            }
        }
        return true;
    }
}
