// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** How to start this program once more: on the class path or the module path, wherever it lies itself. */
final class OwnProgram {
    private static final String MAIN = "io.rdma4j.tools.Main";

    /** Where the options end, of those that name a path, and the program begins. */
    private static final Set<String> BEFORE_PROGRAM = Set.of("-cp", "-classpath", "--class-path",
            "-p", "--module-path", "-m", "--module", "-jar");

    private OwnProgram() {}

    /** {@return the option that lets the software NIC call the system} */
    static String nativeAccess() {
        return "--enable-native-access=" + (isModule() ? "io.rdma4j.softnic" : "ALL-UNNAMED");
    }

    /** {@return the options of this JVM, as far as the system tells them} */
    static List<String> options() {
        return Stream.of(ProcessHandle.current().info().arguments().orElse(new String[0]))
                .takeWhile(word -> word.startsWith("-") && !BEFORE_PROGRAM.contains(word))
                .toList();
    }

    /** {@return what a JVM is to run, behind its options} */
    static List<String> words() {
        if (!isModule()) {
            return List.of("-cp", System.getProperty("java.class.path"), MAIN);
        }
        List<String> words = new ArrayList<>();
        String path = System.getProperty("jdk.module.path");
        // An image of its own has its modules in it.
        if (path != null) {
            words.addAll(List.of("--module-path", path));
        }
        words.addAll(List.of("--module", OwnProgram.class.getModule().getName() + "/" + MAIN));
        return words;
    }

    private static boolean isModule() {
        return OwnProgram.class.getModule().isNamed();
    }
}
