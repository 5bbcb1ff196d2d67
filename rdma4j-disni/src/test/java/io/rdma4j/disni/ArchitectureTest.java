// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.disni;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/** What depends on what, and what the jar has. */
class ArchitectureTest {
    private static final Path COMPILED = Path.of("target", "classes");
    private static final JavaClasses OWN = new ClassFileImporter().importPath(COMPILED);
    private static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("io.rdma4j");

    @Test
    void callsKnowTheApiAloneAndNoClassOfDisni() {
        classes().that().resideInAPackage("io.rdma4j.disni").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..", "io.rdma4j.disni",
                        "io.rdma4j.verbs", "io.rdma4j.connection", "io.rdma4j.cm",
                        "org.jspecify.."))
                .check(OWN);
    }

    /** The agent is there before a program's classes are. */
    @Test
    void agentKnowsTheJdkAlone() {
        classes().that().resideInAPackage("io.rdma4j.disni.launch").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..", "io.rdma4j.disni.launch",
                        "org.jspecify.."))
                .check(OWN);
    }

    @Test
    void replacedClassesLeaveTheWorkToTheCalls() {
        classes().that().resideInAPackage("com.ibm.disni..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..", "com.ibm.disni..",
                        "io.rdma4j.disni", "io.rdma4j.verbs", "org.jspecify.."))
                .check(OWN);
    }

    @Test
    void nothingElseDependsOnThis() {
        noClasses().that().resideOutsideOfPackage("io.rdma4j.disni..").should()
                .dependOnClassesThat().resideInAPackage("io.rdma4j.disni..").check(ALL);
    }

    /** Of DiSNI's names the jar has those that are replaced, and no others. */
    @Test
    void jarHasTheReplacedClassesAlone() throws Exception {
        try (Stream<Path> files = Files.walk(COMPILED.resolve("com"))) {
            List<String> names = files.filter(Files::isRegularFile)
                    .map(file -> file.getFileName().toString())
                    .filter(name -> !name.equals("package-info.class")).sorted().toList();
            assertThat(names).containsExactly("MemoryUtils.class", "NatPollCqCall.class",
                    "NatRegMrCall.class", "NativeAffinity.class", "NativeDispatcher.class",
                    "NetUtils.class");
        }
    }
}
