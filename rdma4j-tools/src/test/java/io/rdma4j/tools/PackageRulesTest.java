// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.rdma4j.protocol.roce.wire.GlobalRouteHeader;
import io.rdma4j.protocol.work.QueuePairHost;
import io.rdma4j.protocol.work.QueuePairProtocol;
import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaDevice;
import io.rdma4j.verbs.SendBatch;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.net.DatagramSocket;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.channels.NetworkChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.INTERFACES;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What single packages know, and what they do not; {@link ArchitectureTest} has the rules of modules.
 */
class PackageRulesTest {
    private static final JavaClasses ALL = MainClasses.ALL;
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    /** What owns a resource of a device. */
    private static final DescribedPredicate<JavaClass> OBJECTS_OF_THE_VERBS = resideInAPackage(
            "io.rdma4j.verbs").and(INTERFACES).and(assignableTo(AutoCloseable.class))
            .or(assignableTo(SendBatch.class)).or(assignableTo(RdmaDevice.class))
            .as("objects of the verbs");

    /** What tools have in common. Each other package of the tools is a family of them. */
    private static final Set<String> SHARED_BY_TOOLS = Set.of("io.rdma4j.tools.endpoint",
            "io.rdma4j.tools.options", "io.rdma4j.tools.output", "io.rdma4j.tools.tcp",
            "io.rdma4j.tools.timing");

    // ---------------------------------------------------------------- API

    @Test
    void verbsOpenNoSocket() {
        noClasses().that().resideInAPackage("io.rdma4j.verbs").should()
                .dependOnClassesThat().areAssignableTo(Socket.class)
                .orShould().dependOnClassesThat().areAssignableTo(ServerSocket.class)
                .orShould().dependOnClassesThat().areAssignableTo(DatagramSocket.class)
                .orShould().dependOnClassesThat().areAssignableTo(NetworkChannel.class).check(ALL);
    }

    @Test
    void observersKnowNoDevice() {
        noClasses().that().resideInAPackage("io.rdma4j.observe..").should()
                .dependOnClassesThat(OBJECTS_OF_THE_VERBS).check(ALL);
    }

    // ---------------------------------------------------------------- native devices

    @Test
    void binaryInterfaceIsSeenByItsModuleAlone() {
        noClasses().that().resideOutsideOfPackage("io.rdma4j.ibverbs..").should()
                .dependOnClassesThat(resideInAPackage("io.rdma4j.ibverbs.abi..")).check(ALL);
    }

    @Test
    void nativeConnectionsKnowNoObjectButTheContext() {
        noClasses().that().resideInAPackage("io.rdma4j.ibverbs.cm..").should()
                .dependOnClassesThat(OBJECTS_OF_THE_VERBS
                        .and(not(belongToAnyOf(DeviceContext.class, RdmaDevice.class))))
                .check(ALL);
    }

    @Test
    void diagnosisLoadsNoLibrary() {
        noClasses().that().resideInAnyPackage("io.rdma4j.ibverbs.diagnosis..").should()
                .dependOnClassesThat(resideInAnyPackage("java.lang.foreign..",
                        "io.rdma4j.ibverbs.abi.."))
                .orShould().dependOnClassesThat().areAssignableTo(ProcessBuilder.class)
                .orShould().dependOnClassesThat().areAssignableTo(Runtime.class)
                .orShould().callMethod(System.class, "load", String.class)
                .orShould().callMethod(System.class, "loadLibrary", String.class).check(ALL);
    }

    @Test
    void waitingForDescriptorsKnowsNoConnection() {
        noClasses().that().resideInAPackage("io.rdma4j.ibverbs.event..").should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.ibverbs.cm..",
                        "io.rdma4j.connection..", "io.rdma4j.spi.."))
                .orShould().dependOnClassesThat(OBJECTS_OF_THE_VERBS).check(ALL);
    }

    @Test
    void observersOfNativeDevicesCallNoLibrary() {
        noClasses().that().resideInAPackage("io.rdma4j.ibverbs.observe..").should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.ibverbs.abi..",
                        "java.lang.foreign.."))
                .orShould().dependOnClassesThat(OBJECTS_OF_THE_VERBS).check(ALL);
    }

    /** Of the binary interface the offsets of fields alone, and memory of the caller's arena. */
    @Test
    void valuesCallNothingAndOwnNoMemory() {
        noClasses().that().resideInAPackage("io.rdma4j.ibverbs.values..").should()
                .dependOnClassesThat(resideInAPackage("io.rdma4j.ibverbs.abi..")
                        .and(not(simpleName("Native")))
                        .and(not(nameMatching("io\\.rdma4j\\.ibverbs\\.abi\\.Layout(\\$.*)?"))))
                .orShould().dependOnClassesThat().areAssignableTo(Linker.class)
                .orShould().dependOnClassesThat().areAssignableTo(SymbolLookup.class)
                .orShould().callMethodWhere(target(owner(assignableTo(Arena.class)))
                        .and(target(nameMatching("of.*|global"))))
                .orShould().dependOnClassesThat(OBJECTS_OF_THE_VERBS).check(ALL);
    }

    @Test
    void twoNativeClassesKnowTheConnectionManager() {
        noClasses().that(resideInAnyPackage("io.rdma4j.ibverbs.verbs..",
                "io.rdma4j.ibverbs.xrc..", "io.rdma4j.ibverbs.queue..",
                "io.rdma4j.ibverbs.completion..", "io.rdma4j.ibverbs.memory..",
                "io.rdma4j.ibverbs.device..", "io.rdma4j.ibverbs.work..")
                .and(not(simpleName("ConnectionManager"))).and(not(simpleName("NativeContext"))))
                .should().dependOnClassesThat(resideInAPackage("io.rdma4j.ibverbs.cm.."))
                .check(ALL);
    }

    // ---------------------------------------------------------------- protocol

    @Test
    void wiresKnowNoQueue() {
        noClasses().that().resideInAnyPackage("io.rdma4j.protocol.roce.wire..",
                "io.rdma4j.protocol.iwarp.wire..").should()
                .dependOnClassesThat(belongToAnyOf(SendQueue.class, SendRequest.class,
                        ReceiveQueue.class, ReceiveRequest.class, QueuePairHost.class,
                        QueuePairProtocol.class))
                .orShould().dependOnClassesThat(OBJECTS_OF_THE_VERBS).check(ALL);
    }

    // ---------------------------------------------------------------- software NIC

    @Test
    void memoryKnowsNoQueuePair() {
        noClasses().that().resideInAPackage("io.rdma4j.softnic.memory..").should()
                .dependOnClassesThat(belongToAnyOf(QueuePair.class,
                        QueuePairHost.class, QueuePairProtocol.class))
                .orShould().dependOnClassesThat(resideInAnyPackage("io.rdma4j.softnic.queue..",
                        "io.rdma4j.softnic.engine..", "io.rdma4j.softnic.verbs.."))
                .check(ALL);
    }

    /** What is said to people there holds for each transport. Those that name one may become fewer, and no further one may come. */
    @Test
    void textsThatAllTransportsShareNameNone() throws IOException {
        Pattern text = Pattern.compile("\"[^\"\n]*\\b(RoCE|iWARP)\\b[^\"\n]*\"");
        Set<String> naming = new TreeSet<>();
        for (String folder : List.of("rdma4j-softnic/src/main/java/io/rdma4j/softnic/device",
                "rdma4j-softnic/src/main/java/io/rdma4j/softnic/engine",
                "rdma4j-softnic/src/main/java/io/rdma4j/softnic/host",
                "rdma4j-softnic/src/main/java/io/rdma4j/softnic/memory",
                "rdma4j-softnic/src/main/java/io/rdma4j/softnic/queue",
                "rdma4j-softnic/src/main/java/io/rdma4j/softnic/verbs",
                "rdma4j-protocol/src/main/java/io/rdma4j/protocol/bytes",
                "rdma4j-protocol/src/main/java/io/rdma4j/protocol/count",
                "rdma4j-protocol/src/main/java/io/rdma4j/protocol/work")) {
            try (Stream<Path> files = Files.list(ROOT.resolve(folder))) {
                for (Path file : files.toList()) {
                    if (text.matcher(Files.readString(file)).find()) {
                        naming.add(String.valueOf(file.getFileName()));
                    }
                }
            }
        }
        assertThat(naming).containsExactly("ModifyChecks.java");
    }

    @Test
    void onlyTheLinuxNetworkAsksForTheSystem() throws IOException {
        List<Path> asking = new ArrayList<>();
        try (Stream<Path> files = Files.walk(ROOT.resolve("rdma4j-softnic/src/main/java"))) {
            for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
                if (Files.readString(file).contains("\"os.name\"")) {
                    asking.add(file);
                }
            }
        }
        assertThat(asking).isNotEmpty().allSatisfy(
                file -> assertThat(file.toString()).contains("/network/linux/"));
    }

    @Test
    void ringsCallNoSystem() {
        noClasses().that().resideInAPackage("io.rdma4j.softnic.network.ring..").should()
                .dependOnClassesThat(resideInAnyPackage("java.net..", "java.nio.channels..",
                        "java.nio.file..", "java.io..", "io.rdma4j.softnic.network.linux.."))
                .orShould().dependOnClassesThat().areAssignableTo(Linker.class).check(ALL);
    }

    @Test
    void streamsKnowNotWhatBytesMean() {
        noClasses().that().resideInAPackage("io.rdma4j.softnic.network.stream..").should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.protocol..",
                        "io.rdma4j.connection..")
                        .or(OBJECTS_OF_THE_VERBS))
                .check(ALL);
    }

    @Test
    void observersOfPacketsKnowValuesAlone() {
        noClasses().that().resideInAPackage("io.rdma4j.softnic.observe..").should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.protocol.work..",
                        "io.rdma4j.softnic.engine..", "io.rdma4j.softnic.queue..",
                        "io.rdma4j.softnic.memory..", "io.rdma4j.softnic.verbs..",
                        "io.rdma4j.softnic.device..", "io.rdma4j.softnic.roce..")
                        .or(OBJECTS_OF_THE_VERBS))
                .check(ALL);
    }

    @Test
    void beansOfSoftwareDevicesAreData() {
        classes().that().resideInAPackage("io.rdma4j.softnic.observe.jmx").should().beInterfaces()
                .orShould().beRecords().check(ALL);
    }

    @Test
    void observersOfSocketsKnowNumbersAndTextsAlone() {
        classes().that().resideInAPackage("io.rdma4j.sockets.observe..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java.lang..", "java.net", "java.util",
                        "java.util.function", "jdk.jfr..", "io.rdma4j.observe.jfr",
                        "io.rdma4j.sockets.observe..", "org.jspecify.."))
                .check(ALL);
    }

    @Test
    void beansOfSocketsAreData() {
        classes().that().resideInAPackage("io.rdma4j.sockets.observe.jmx").should().beInterfaces()
                .orShould().beRecords().check(ALL);
    }

    @Test
    void optionsKnowTheVerbsAlone() {
        classes().that().resideInAPackage("io.rdma4j.softnic.options..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..", "org.jspecify..",
                        "io.rdma4j.softnic.options", "io.rdma4j.verbs"))
                .check(ALL);
    }

    @Test
    void objectsOfTheVerbsKnowNoPacket() {
        noClasses().that().resideInAPackage("io.rdma4j.softnic.verbs..").should()
                .dependOnClassesThat(resideInAPackage("io.rdma4j.protocol.roce..")
                        .and(not(belongToAnyOf(GlobalRouteHeader.class))))
                .check(ALL);
    }

    // ---------------------------------------------------------------- tools and examples

    @Test
    void familiesOfToolsKnowNoOther() {
        Set<String> families = ALL.stream().map(JavaClass::getPackageName)
                .filter(each -> each.startsWith("io.rdma4j.tools."))
                .collect(Collectors.toCollection(TreeSet::new));
        families.removeAll(SHARED_BY_TOOLS);
        assertThat(families).contains("io.rdma4j.tools.devices", "io.rdma4j.tools.rsocket");
        for (String family : families) {
            String[] others = families.stream().filter(each -> !each.equals(family))
                    .toArray(String[]::new);
            noClasses().that().resideInAPackage(family).should()
                    .dependOnClassesThat(resideInAnyPackage(others)).check(ALL);
        }
    }

    @Test
    void toolsHoldNothingStatic() {
        fields().that().areDeclaredInClassesThat().resideInAPackage("io.rdma4j.tools..").and()
                .areStatic().should().beFinal().check(ALL);
    }

    @Test
    void onlyTheBasicToolsKnowExamples() {
        noClasses().that().resideOutsideOfPackages("io.rdma4j.tools.basic..",
                "io.rdma4j.examples..").should()
                .dependOnClassesThat(resideInAPackage("io.rdma4j.examples..")).check(ALL);
    }

    @Test
    void sharedPartsOfTheToolsKnowWhatTheySay() {
        knows("io.rdma4j.tools.tcp", "io.rdma4j.tools.timing", "io.rdma4j.jdk");
        knows("io.rdma4j.tools.timing");
        knows("io.rdma4j.tools.output");
        knows("io.rdma4j.tools.options", "picocli..");
        knows("io.rdma4j.tools.endpoint");
    }

    /** @param others what it uses beside the JDK and, for options and endpoints, the API */
    private static void knows(String name, String... others) {
        boolean usesApi = name.endsWith("options") || name.endsWith("endpoint");
        classes().that().resideInAPackage(name).should().onlyDependOnClassesThat(
                resideInAnyPackage("java..", "org.jspecify..", name,
                        usesApi ? "io.rdma4j.verbs" : "", usesApi ? "io.rdma4j.cm" : "")
                        .or(resideInAnyPackage(others)))
                .check(ALL);
    }

    @Test
    void anExampleIsOneFile() {
        classes().that().resideInAPackage("io.rdma4j.examples").should(
                new ArchCondition<>("use no other file but what examples share") {
                    @Override
                    public void check(JavaClass each, ConditionEvents events) {
                        for (Dependency dependency : each.getDirectDependenciesFromSelf()) {
                            String other = file(dependency.getTargetClass());
                            boolean isAllowed = !other.startsWith("io.rdma4j.examples.")
                                    || other.equals(file(each))
                                    || other.matches(".*\\.(Arguments|Patience)")
                                    || (file(each).matches(".*\\.Basic(Client|Server)")
                                            && other.endsWith(".BasicConnection"));
                            events.add(new SimpleConditionEvent(each, isAllowed,
                                    dependency.getDescription()));
                        }
                    }
                }).check(ALL);
    }

    private static String file(JavaClass each) {
        return each.getName().replaceAll("\\$.*", "");
    }
}
