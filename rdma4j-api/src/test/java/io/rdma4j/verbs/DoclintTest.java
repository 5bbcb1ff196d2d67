// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The Javadoc of the packages for programs satisfies all of doclint: each parameter and result is told. Two things say themselves:
 * the only parameter of a method that sets it, {@code value}, and that such a method returns its own object.
 */
class DoclintTest {
    private static final Path SOURCES = Path.of("src", "main", "java");
    private static final String PACKAGES = "io.rdma4j.verbs,io.rdma4j.cm,io.rdma4j.connection,"
            + "io.rdma4j.observe.jmx";

    @TempDir
    private Path classes;

    @Test
    void parametersAndResultsAreTold() throws Exception {
        assertThat(complaints()).filteredOn(each -> !saysItself(each)).isEmpty();
    }

    /** A complaint of doclint, and the line that it is about. */
    private record Complaint(String file, long line, String text, String code) {
        /** {@return the name of its class} */
        String type() {
            return file.replaceFirst("\\.java$", "");
        }
    }

    private static boolean saysItself(Complaint each) {
        return each.text.equals("no @param for value")
                || (each.text.equals("no @return") && Pattern
                        .compile("\\b(" + each.type() + "|Hints) \\w+\\(").matcher(each.code)
                        .find());
    }

    private List<Complaint> complaints() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        try (Stream<Path> files = Files.walk(SOURCES);
                StandardJavaFileManager manager = compiler.getStandardFileManager(found,
                        Locale.ROOT, null)) {
            List<Path> sources = files.filter(file -> file.toString().endsWith(".java"))
                    .toList();
            assertThat(sources).hasSizeGreaterThan(150);
            boolean isCompiled = compiler.getTask(null, manager, found,
                    List.of("-proc:none", "-Xdoclint:all/public", "-Xdoclint/package:" + PACKAGES,
                            "-Xmaxwarns", "10000", "-d", classes.toString(), "--module-path",
                            annotations()),
                    null, manager.getJavaFileObjectsFromPaths(sources)).call();
            assertThat(isCompiled).as(found.getDiagnostics().toString()).isTrue();
        }
        List<Complaint> complaints = found.getDiagnostics().stream()
                .filter(each -> each.getSource() != null).map(DoclintTest::complaint).toList();
        // Without any doclint would not have run: setters have those that say themselves.
        assertThat(complaints).anyMatch(DoclintTest::saysItself);
        return complaints;
    }

    /** {@return where the only module is that the API is compiled with} */
    private static String annotations() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(each -> each.contains("jspecify")).findFirst().orElseThrow();
    }

    private static Complaint complaint(Diagnostic<? extends JavaFileObject> each) {
        Path file = Path.of(each.getSource().toUri());
        try (Stream<String> lines = Files.lines(file)) {
            return new Complaint(String.valueOf(file.getFileName()), each.getLineNumber(),
                    each.getMessage(Locale.ROOT).strip(),
                    lines.skip(each.getLineNumber() - 1).findFirst().orElse(""));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
