// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/** What depends on what among the measuring programs: what the comments of their packages say. */
class ArchitectureTest {
    private static final String ROOT = "io.rdma4j.benchmarks";
    private static final String WORKLOAD = ROOT + ".workload";
    private static final List<String> API = List.of("io.rdma4j.event", "io.rdma4j.verbs",
            "io.rdma4j.connection", "io.rdma4j.cm");
    /** What is measured beside rdma4j, and the library that each needs. */
    private static final Map<String, String> PEERS = Map.of("tcp", "java..", "netty", "io.netty..",
            "aeron", "io.aeron..", "ucx", "org.openucx..", "udp", ROOT + ".socket", "memory",
            "java..");

    private static final JavaClasses ALL = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("io.rdma4j");

    @Test
    void packagesFormNoCycles() {
        slices().matching(ROOT + ".(**)").should().beFreeOfCycles().check(ALL);
    }

    /** The root joins the commands, and nothing knows it. */
    @Test
    void nothingDependsOnTheMainClass() {
        noClasses().that().resideInAPackage(ROOT + ".*..").should().dependOnClassesThat()
                .resideInAPackage(ROOT).check(ALL);
    }

    @Test
    void nothingElseDependsOnTheBenchmarks() {
        noClasses().that().resideOutsideOfPackage(ROOT + "..").should().dependOnClassesThat()
                .resideInAPackage(ROOT + "..").check(ALL);
    }

    @Test
    void peersKnowTheWorkloadAndTheirLibraryAlone() {
        PEERS.forEach((peer, library) -> onlyKnows(peer,
                List.of(WORKLOAD, library, "org.agrona..", "sun.misc..")));
    }

    @Test
    void rdmaKnowsTheApiAndTheOptionsOfSoftwareDevicesAlone() {
        onlyKnows("rdma", Stream.concat(API.stream(),
                Stream.of(WORKLOAD, "io.rdma4j.softnic.options", "com.sun.management")).toList());
    }

    @Test
    void workloadAndCallsKnowNoPeer() {
        onlyKnows("workload", List.of("org.HdrHistogram..", "com.sun.management"));
        onlyKnows("calls", List.of());
        onlyKnows("socket", List.of());
        onlyKnows("streams", List.of(ROOT + ".calls", ROOT + ".socket"));
    }

    @Test
    void serviceKnowsTheApiAlone() {
        onlyKnows("service", Stream.concat(API.stream(),
                Stream.of(WORKLOAD, "org.HdrHistogram..", "picocli..")).toList());
    }

    @Test
    void callsOfTheVerbsKnowTheApiAndNativeDevicesAlone() {
        onlyKnows("verbs", Stream.concat(API.stream(),
                Stream.of(ROOT + ".calls", "io.rdma4j.ibverbs..")).toList());
    }

    @Test
    void comparisonKnowsNoPeer() {
        onlyKnows("compare", List.of(WORKLOAD, ROOT + ".side", ROOT + ".service",
                "com.google.gson..", "picocli.."));
    }

    private static void onlyKnows(String name, List<String> known) {
        String own = ROOT + "." + name;
        Stream<String> always = Stream.of("java..", "org.jspecify..", own);
        classes().that().resideInAPackage(own).should().onlyDependOnClassesThat(
                resideInAnyPackage(Stream.concat(always, known.stream()).toArray(String[]::new)))
                .check(ALL);
    }
}
