// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaCodeUnitAccess;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmId;
import io.rdma4j.jdk.JdkProvider;
import io.rdma4j.jdk.TcpSockets;
import io.rdma4j.observe.jfr.EventClasses;
import io.rdma4j.observe.registry.ShownBean;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.work.ApplicationMemory;
import io.rdma4j.protocol.work.PayloadTarget;
import io.rdma4j.protocol.work.Registration;
import io.rdma4j.softnic.device.DeviceFamily;
import io.rdma4j.softnic.memory.LendableMemory;
import io.rdma4j.softnic.memory.Withdrawal;
import io.rdma4j.softnic.roce.RoceFamily;
import io.rdma4j.spi.CmConnection;
import io.rdma4j.spi.CmDatagrams;
import io.rdma4j.spi.CmLookup;
import io.rdma4j.spi.MemoryErrors;
import io.rdma4j.spi.SocketErrors;
import io.rdma4j.verbs.TransportType;
import io.rdma4j.verbs.WorkCompletion;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

import java.io.File;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Pipe;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.simpleName;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.core.domain.properties.HasModifiers.Predicates.modifier;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.codeUnits;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noFields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMembers;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

/** What depends on what: the rules that keep the protocol pure and the modules in order. */
class ArchitectureTest {
    private static final JavaClasses ALL = MainClasses.ALL;
    /** Names that two modules use for different things; no further one may come. */
    private static final Set<String> USED_TWICE = Set.of(
            "Flow", "Patience", "Refusal", "Route");
    /** Words of earlier versions that no engineer of the field would look for. */
    private static final String PRIVATE_WORDS = ".*(Rim|Room|Bell|Guest|Linger|Reception|Rally"
            + "|Gathering|Farewell|Meeting|Keeper|Nowhere|Fates|Talk|News"
            + "|HeldUp|Looks|Crowding|Astray|PlaceFinder|LateWork|LostWork|LockedWork)(?![a-z]).*";
    /** Verbs in names of members and classes where the field says receive, report, notify, send. */
    private static final String PRIVATE_VERBS = "(hear|tell|told|untold|unheard"
            + "|.*[a-z](Hear|Tell|Told|Untold|Unheard))(s|d|er|ing)?(?![a-z]).*";
    /** Those with native memory that lasts as long as the process: a byte. */
    private static final Set<String> MEMORY_OF_THE_PROCESS = Set.of("Readiness");
    private static final String[] API = {"io.rdma4j.jdk..", "io.rdma4j.event..",
        "io.rdma4j.verbs..",
        "io.rdma4j.connection..", "io.rdma4j.state..", "io.rdma4j.spi..",
        "io.rdma4j.device..",
        "io.rdma4j.observe..", "io.rdma4j.cm.."};
    /** Packages of the API that programs see. */
    private static final String[] FOR_PROGRAMS = {"io.rdma4j.verbs", "io.rdma4j.connection",
        "io.rdma4j.cm", "io.rdma4j.observe.jmx"};
    /** Those that are exported to the providers alone. */
    private static final DescribedPredicate<JavaClass> FOR_PROVIDERS = resideInAnyPackage(
            "io.rdma4j.jdk", "io.rdma4j.event", "io.rdma4j.state", "io.rdma4j.spi",
            "io.rdma4j.device",
            "io.rdma4j.observe.jfr",
            "io.rdma4j.observe.registry");
    private static final String[] LIBRARIES = Stream.concat(Stream.of(API), Stream.of(
            "io.rdma4j.protocol..", "io.rdma4j.softnic..", "io.rdma4j.ibverbs..",
            "io.rdma4j.sockets..")).toArray(String[]::new);

    @Test
    void apiDependsOnTheJdkAlone() {
        onlyDownwards("io.rdma4j.jdk");
        onlyDownwards("io.rdma4j.state");
        onlyDownwards("io.rdma4j.event", "io.rdma4j.jdk");
        onlyDownwards("io.rdma4j.verbs", "io.rdma4j.event");
        onlyDownwards("io.rdma4j.connection", "io.rdma4j.verbs");
        onlyDownwards("io.rdma4j.spi", "io.rdma4j.connection", "io.rdma4j.verbs",
                "io.rdma4j.event", "io.rdma4j.state");
        onlyDownwards("io.rdma4j.device", "io.rdma4j.verbs", "io.rdma4j.event",
                "io.rdma4j.observe.jfr");
        onlyDownwards("io.rdma4j.observe.jmx");
        onlyDownwards("io.rdma4j.observe.registry", "io.rdma4j.observe.jmx",
                "javax.management..");
        onlyDownwards("io.rdma4j.observe.jfr", "io.rdma4j.observe.jmx", "io.rdma4j.verbs",
                "jdk.jfr..");
        onlyDownwards("io.rdma4j.cm", "io.rdma4j.spi", "io.rdma4j.connection", "io.rdma4j.verbs",
                "io.rdma4j.event", "io.rdma4j.state");
    }

    /** The floors of the API: each knows itself, those below it and the JDK. */
    private static void onlyDownwards(String floor, String... below) {
        List<String> known = new ArrayList<>(List.of("java..", "org.jspecify..", floor));
        known.addAll(List.of(below));
        classes().that().resideInAPackage(floor).should().onlyDependOnClassesThat(
                resideInAnyPackage(known.toArray(String[]::new))).check(ALL);
    }

    /** The parts of an id know those before them, and none knows the id: only events and their channel do. */
    @Test
    void partsOfAnIdCallNoId() {
        noClasses().that(resideInAPackage("io.rdma4j.cm")
                .and(not(belongToAnyOf(CmId.class, CmEvent.class, CmEventChannel.class))))
                .should().callMethodWhere(target(owner(assignableTo(CmId.class)))).check(ALL);
    }

    /** Without the id, which joins its parts, the events, which name it, and leases, which end themselves. */
    @Test
    void partsOfAnIdFormNoCycles() {
        slices().assignedFrom(new ClassesOfAPackage("io.rdma4j.cm",
                Set.of("CmId", "CmEvent", "CmEventChannel", "DeviceLease"))).should()
                .beFreeOfCycles()
                .check(ALL);
    }

    /** What devices call to report events and to fill completions is not on the classes that programs use. */
    @Test
    void signaturesForProgramsNameNothingForProviders() {
        codeUnits().that().areDeclaredInClassesThat(resideInAnyPackage(FOR_PROGRAMS)
                .and(modifier(JavaModifier.PUBLIC))).and(modifier(JavaModifier.PUBLIC)
                        .or(modifier(JavaModifier.PROTECTED)))
                .should(new ArchCondition<>("name no type for providers") {
                    @Override
                    public void check(JavaCodeUnit each, ConditionEvents events) {
                        Stream.of(each.getParameterTypes(), each.getExceptionTypes(),
                                List.of(each.getReturnType())).flatMap(Collection::stream)
                                .map(JavaType::getAllInvolvedRawTypes).flatMap(Collection::stream)
                                .filter(FOR_PROVIDERS).forEach(type -> events.add(
                                        SimpleConditionEvent.violated(each, each.getFullName()
                                                + " names " + type.getName())));
                    }
                }).check(ALL);
    }

    /** Devices report events through it, and only they fill completions. */
    @Test
    void programsCannotForgeWhatDevicesSay() {
        noMethods().that().areDeclaredInClassesThat().resideInAPackage("io.rdma4j.verbs").should()
                .haveNameMatching("publish|attach|detach|waiting").orShould()
                .haveNameMatching("fill.*").andShould().bePublic().check(ALL);
        assertThat(WorkCompletion.class.isSealed()).isTrue();
    }

    /** Recording, impairment and the way to the network are options of the software NIC. */
    @Test
    void apiHasNoOptionsOfOneDevice() {
        noClasses().that(resideInAnyPackage(API)).should().haveNameMatching(
                ".*(Impairment|Loopback|Backend|Capture|DeviceOptions).*").check(ALL);
    }

    /** How much private data fits is decided by the transport. */
    @Test
    void connectionManagerHasNoLimitsOfATransport() {
        noFields().that().areDeclaredInClassesThat().resideInAPackage("io.rdma4j.cm").should()
                .haveNameMatching(".*PRIVATE_DATA.*").check(ALL);
    }

    /** So a device implements nothing only to refuse it. */
    @Test
    void connectionsAndLookUpsAreTwoInterfaces() {
        noClasses().that().areAssignableTo(CmConnection.class).should()
                .beAssignableTo(CmLookup.class).orShould().beAssignableTo(CmDatagrams.class)
                .check(ALL);
    }

    @Test
    void protocolDependsOnTheApiAlone() {
        classes().that().resideInAPackage("io.rdma4j.protocol..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..", "io.rdma4j.protocol..",
                        "io.rdma4j.verbs..", "io.rdma4j.connection..", "io.rdma4j.state..",
                        "org.jspecify.."))
                .check(ALL);
    }

    @Test
    void softwareNicDependsOnProtocolAndApiAlone() {
        classes().that().resideInAPackage("io.rdma4j.softnic..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..", "jdk.net..", "jdk.jfr..",
                        "io.rdma4j.softnic..", "io.rdma4j.protocol..",
                        "io.rdma4j.jdk..", "io.rdma4j.event..", "io.rdma4j.verbs..",
                        "io.rdma4j.state..", "io.rdma4j.connection..",
                        "io.rdma4j.observe..", "io.rdma4j.spi..", "io.rdma4j.device..",
                        "org.jspecify.."))
                .check(ALL);
    }

    @Test
    void nativeDevicesDependOnTheApiAlone() {
        classes().that().resideInAPackage("io.rdma4j.ibverbs..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..", "io.rdma4j.ibverbs..",
                        "io.rdma4j.event..", "io.rdma4j.verbs..", "io.rdma4j.state..",
                        "io.rdma4j.connection..",
                        "io.rdma4j.observe..", "io.rdma4j.spi..", "io.rdma4j.device..",
                        "org.jspecify.."))
                .check(ALL);
    }

    /** Sockets are programs: they see what programs see, and show what they have open as devices do. */
    @Test
    void socketsDependOnTheApiOfProgramsAlone() {
        classes().that().resideInAPackage("io.rdma4j.sockets..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..", "javax.net", "jdk.net",
                        "io.rdma4j.sockets..", "io.rdma4j.verbs..", "io.rdma4j.connection..",
                        "io.rdma4j.cm..", "io.rdma4j.jdk..", "org.jspecify..").or(
                                type(EventClasses.class))
                        .or(type(ShownBean.class)).or(
                                resideInAPackage("jdk.jfr..")))
                .check(ALL);
        noClasses().that().resideOutsideOfPackages("io.rdma4j.sockets..",
                "io.rdma4j.tools.rsocket..").should()
                .dependOnClassesThat(resideInAPackage("io.rdma4j.sockets..")).check(ALL);
    }

    /** Whatever provider of channels the JVM has: it may be the one whose channels need a device. */
    @Test
    void devicesAndSocketsOpenChannelsOfTheJdkInOnePlace() {
        noClasses().that(resideInAnyPackage(LIBRARIES).and(not(type(JdkProvider.class)))
                // They open nothing: a selector names a provider, and the JVM's has to be rdma4j's.
                .and(not(simpleName("InterruptHook"))).and(not(simpleName("Premain")))).should()
                .callMethod(SelectorProvider.class, "provider").check(ALL);
        noClasses().that(resideInAnyPackage(LIBRARIES)).should()
                .callMethodWhere(target(name("open")).and(target(owner(belongToAnyOf(
                        Selector.class, Pipe.class, DatagramChannel.class, SocketChannel.class,
                        ServerSocketChannel.class)))))
                .check(ALL);
    }

    /** The JVM's sockets may be those that go by rules. */
    @Test
    void devicesAndToolsMakeSocketsOfTheJdkInOnePlace() {
        noClasses().that(resideInAnyPackage(LIBRARIES).or(resideInAPackage("io.rdma4j.tools.."))
                .and(not(type(TcpSockets.class))).and(not(assignableTo(Socket.class)))
                .and(not(assignableTo(ServerSocket.class)))).should()
                .callConstructorWhere(target(owner(belongToAnyOf(Socket.class,
                        ServerSocket.class))))
                .check(ALL);
    }

    @Test
    void protocolOfSocketsKnowsNumbersAlone() {
        classes().that().resideInAPackage("io.rdma4j.sockets.protocol..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java.lang", "java.util",
                        "java.util.function", "java.nio", "java.io",
                        "io.rdma4j.sockets.protocol..", "org.jspecify.."))
                .check(ALL);
        noClasses().that().resideInAPackage("io.rdma4j.sockets.protocol..").should()
                .dependOnClassesThat().areAssignableTo(Thread.class)
                .orShould().dependOnClassesThat().areAssignableTo(RandomGenerator.class)
                .orShould().callMethod(System.class, "nanoTime")
                .orShould().callMethod(System.class, "currentTimeMillis").check(ALL);
    }

    /** A rule is asked for each connection, with the address that the program has looked up. */
    @Test
    void rulesOfSocketsKnowAddressesAlone() {
        classes().that().resideInAPackage("io.rdma4j.sockets.rules..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java.lang..", "java.util..",
                        "java.io", "java.net", "java.nio.file", "io.rdma4j.sockets.rules..",
                        "org.jspecify.."))
                .check(ALL);
        noClasses().that().resideInAPackage("io.rdma4j.sockets.rules..").should()
                .callMethodWhere(target(nameMatching("get(All)?ByName|getLocalHost"))
                        .and(target(owner(type(InetAddress.class)))))
                .check(ALL);
    }

    /** Which thread drives does not depend on what its application sees. What a thread awaits beside is only passed on. */
    @Test
    void engineOfSocketsKnowsNoChannel() {
        noClasses().that().resideInAPackage("io.rdma4j.sockets.engine..").should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.sockets",
                        "java.nio.channels..").and(not(type(Selector.class))))
                .orShould().callMethodWhere(target(owner(type(Selector.class))))
                .check(ALL);
    }

    private static final String[] OBJECTS_OF_NATIVE_DEVICES = {"io.rdma4j.ibverbs.verbs..",
        "io.rdma4j.ibverbs.xrc..", "io.rdma4j.ibverbs.queue..", "io.rdma4j.ibverbs.completion..",
        "io.rdma4j.ibverbs.memory..", "io.rdma4j.ibverbs.device..", "io.rdma4j.ibverbs.work.."};

    /** What the packages of native devices say that they do not know. */
    @Test
    void binaryInterfaceAndDiagnosisKnowNoObjectOfTheVerbs() {
        noClasses().that().resideInAnyPackage("io.rdma4j.ibverbs.abi..",
                "io.rdma4j.ibverbs.event..", "io.rdma4j.ibverbs.values..",
                "io.rdma4j.ibverbs.diagnosis..", "io.rdma4j.ibverbs.cm..",
                "io.rdma4j.ibverbs.observe..").should()
                .dependOnClassesThat(resideInAnyPackage(OBJECTS_OF_NATIVE_DEVICES)
                        .or(resideInAPackage("io.rdma4j.ibverbs.provider..")))
                .check(ALL);
        noClasses().that().resideInAPackage("io.rdma4j.ibverbs.diagnosis..").should()
                .dependOnClassesThat(resideInAPackage("java.lang.foreign..")).check(ALL);
    }

    @Test
    void testkitSeesTheApiAndNoDevice() {
        classes().that().resideInAPackage("io.rdma4j.testkit..").should()
                .onlyDependOnClassesThat(
                        resideInAnyPackage("java..", "jdk.jfr..", "io.rdma4j.testkit..",
                                "io.rdma4j.event..", "io.rdma4j.verbs..", "io.rdma4j.connection..",
                                "io.rdma4j.cm..", "org.jspecify..",
                                "org.junit.jupiter.api..", "org.opentest4j..",
                                "org.assertj.core.."))
                .check(ALL);
    }

    @Test
    void nothingThatRunsDependsOnTheTestkit() {
        noClasses().that().resideOutsideOfPackage("io.rdma4j.testkit..").should()
                .dependOnClassesThat(resideInAPackage("io.rdma4j.testkit..")).check(ALL);
    }

    @Test
    void protocolKnowsNoThreadSocketClockRandomSourceOrLogger() {
        noClasses().that().resideInAPackage("io.rdma4j.protocol..").should()
                .dependOnClassesThat(resideInAnyPackage("java.util.concurrent..", "java.net..",
                        "java.nio.channels..", "java.nio.file..", "java.time..", "java.security.."))
                .orShould().dependOnClassesThat().areAssignableTo(Thread.class)
                .orShould().dependOnClassesThat().areAssignableTo(Random.class)
                .orShould().dependOnClassesThat().areAssignableTo(RandomGenerator.class)
                .orShould().dependOnClassesThat().areAssignableTo(System.Logger.class)
                .orShould().callMethod(System.class, "nanoTime")
                .orShould().callMethod(System.class, "currentTimeMillis").check(ALL);
    }

    /** A disk is slow, and a thread that runs the engine runs it for all. */
    @Test
    void protocolAndEngineTouchNoFile() {
        noClasses().that(resideInAnyPackage("io.rdma4j.protocol..", "io.rdma4j.softnic.engine..",
                "io.rdma4j.softnic.queue..").and(not(simpleName("InterruptHook")))).should()
                .dependOnClassesThat(resideInAnyPackage("java.nio.channels..", "java.nio.file..",
                        "java.util.zip..").and(not(type(CRC32.class))).and(not(type(CRC32C.class)))
                        .and(not(type(Selector.class))))
                .orShould().dependOnClassesThat().areAssignableTo(File.class)
                .orShould().dependOnClassesThat().areAssignableTo(InputStream.class)
                .orShould().dependOnClassesThat().areAssignableTo(OutputStream.class)
                .orShould().dependOnClassesThat().areAssignableTo(RandomAccessFile.class)
                .orShould().dependOnClassesThat().areAssignableTo(MappedByteBuffer.class)
                .orShould().callMethod(MemorySegment.class, "force")
                .orShould().callMethod(MemorySegment.class, "load")
                .orShould().callMethod(MemorySegment.class, "unload")
                .orShould().callMethod(MemorySegment.class, "isLoaded").check(ALL);
    }

    /** The one place where mapped memory is written to its file. */
    @Test
    void onlyTheFlusherWritesMappedMemory() {
        noClasses().that().resideInAPackage("io.rdma4j.softnic..").and()
                .doNotHaveSimpleName("FileFlusher").should()
                .callMethod(MemorySegment.class, "force").check(ALL);
    }

    /**
     * The collector frees an automatic arena and a direct buffer when it likes: what a device or a connection has is in an
     * arena that closing it closes. The global arena is compared with, or has a library.
     */
    @Test
    void nativeMemoryIsFreedByClosing() {
        classes().that(resideInAnyPackage(LIBRARIES)).should(
                new ArchCondition<>("allocate no native memory that only the collector frees") {
                    @Override
                    public void check(JavaClass each, ConditionEvents events) {
                        boolean isKnown = MEMORY_OF_THE_PROCESS.contains(each.getSimpleName());
                        each.getMethodCallsFromSelf().stream()
                                .filter(ArchitectureTest::leavesMemory)
                                .forEach(call -> events.add(new SimpleConditionEvent(each, isKnown,
                                        call.getDescription())));
                    }
                }).check(ALL);
    }

    private static boolean leavesMemory(JavaCodeUnitAccess<?> call) {
        String name = call.getName();
        return call.getTargetOwner().isEquivalentTo(ByteBuffer.class)
                ? name.equals("allocateDirect")
                : call.getTargetOwner().isEquivalentTo(Arena.class) && name.equals("ofAuto");
    }

    /** What its comment says: the verbs' values, no packet. */
    @Test
    void workKnowsNoPacket() {
        classes().that().resideInAPackage("io.rdma4j.protocol.work..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..", "io.rdma4j.protocol.work..",
                        "io.rdma4j.protocol.count..", "io.rdma4j.verbs..", "org.jspecify.."))
                .check(ALL);
        classes().that().resideInAPackage("io.rdma4j.protocol.count..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..",
                        "io.rdma4j.protocol.count..", "org.jspecify.."))
                .check(ALL);
    }

    @Test
    void wireKnowsNothingButWireAndMemory() {
        for (String wire : List.of("io.rdma4j.protocol.roce.wire..",
                "io.rdma4j.protocol.iwarp.wire..")) {
            classes().that().resideInAPackage(wire).should()
                    .onlyDependOnClassesThat(resideInAnyPackage("java..", wire,
                            "io.rdma4j.protocol.bytes..", "io.rdma4j.protocol.work..",
                            "io.rdma4j.verbs..", "org.jspecify.."))
                    .check(ALL);
        }
        classes().that().resideInAPackage("io.rdma4j.protocol.bytes..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..",
                        "io.rdma4j.protocol.bytes..", "org.jspecify.."))
                .check(ALL);
    }

    @Test
    void transportsDoNotKnowEachOther() {
        noClasses().that(resideInAnyPackage("io.rdma4j.protocol.iwarp..",
                "io.rdma4j.softnic.iwarp..")).should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.protocol.roce..",
                        "io.rdma4j.protocol.ibcm..", "io.rdma4j.softnic.roce..",
                        "io.rdma4j.softnic.ibcm..", "io.rdma4j.softnic.network",
                        "io.rdma4j.softnic.network.ring..",
                        "io.rdma4j.softnic.network.linux.datagram..",
                        "io.rdma4j.softnic.network.linux.memory..",
                        "io.rdma4j.softnic.network.linux.sharing.."))
                .check(ALL);
        noClasses().that(resideInAnyPackage("io.rdma4j.protocol.roce..",
                "io.rdma4j.protocol.ibcm..", "io.rdma4j.softnic.roce..",
                "io.rdma4j.softnic.ibcm..")).should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.protocol.iwarp..",
                        "io.rdma4j.softnic.iwarp..", "io.rdma4j.softnic.network.stream.."))
                .check(ALL);
    }

    /**
     * Code that all transports share asks for what a device can do, never which transport it has. Native devices are not
     * included: one package drives those of every transport, through one library.
     */
    @Test
    void onlyFamiliesOfDevicesNameTheirTransport() {
        noClasses().that(resideInAnyPackage("io.rdma4j.verbs..", "io.rdma4j.cm..",
                "io.rdma4j.spi..", "io.rdma4j.event..", "io.rdma4j.connection..",
                "io.rdma4j.observe..", "io.rdma4j.protocol..", "io.rdma4j.softnic.."))
                .and().areNotAssignableTo(TransportType.class)
                .and(not(assignableTo(DeviceFamily.class))).should()
                .accessFieldWhere(target(owner(type(TransportType.class)))).check(ALL);
    }

    @Test
    void queuePairsAndTheConnectionManagerDoNotKnowEachOther() {
        noClasses().that().resideInAPackage("io.rdma4j.protocol.roce..").should()
                .dependOnClassesThat(resideInAPackage("io.rdma4j.protocol.ibcm.."))
                .orShould().dependOnClassesThat(resideInAPackage("io.rdma4j.cm..")).check(ALL);
        noClasses().that().resideInAPackage("io.rdma4j.protocol.ibcm..").should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.protocol.roce.rc..",
                        "io.rdma4j.protocol.roce.unreliable..", "io.rdma4j.protocol.work.."))
                .check(ALL);
    }

    @Test
    void onlyTheNetworkKnowsSockets() {
        noClasses().that(resideInAPackage("io.rdma4j.softnic..")
                .and(not(resideInAPackage("io.rdma4j.softnic.network..")))
                // A selector without channels: by it alone the JDK says that a thread is interrupted.
                .and(not(simpleName("InterruptHook")))).should()
                .dependOnClassesThat(resideInAPackage("java.nio.channels..")
                        // What a thread awaits beside is only passed on.
                        .and(not(type(Selector.class))))
                .orShould().callMethodWhere(target(owner(type(Selector.class)))).check(ALL);
    }

    @Test
    void networkKnowsNoQueuePairs() {
        classes().that().resideInAPackage("io.rdma4j.softnic.network..")
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..", "jdk.net..",
                        "io.rdma4j.softnic.network..",
                        "io.rdma4j.softnic.options..", "io.rdma4j.protocol.roce.wire..",
                        "io.rdma4j.protocol.bytes..",
                        "io.rdma4j.verbs..", "org.jspecify..")
                        .or(type(ApplicationMemory.class))
                        .or(type(PayloadTarget.class))
                        // What is lent, and until when, without a word of what it is for.
                        .or(type(Registration.class)).or(type(Registration[].class))
                        .or(type(LendableMemory.class))
                        .or(type(Withdrawal.class))
                        .or(type(SocketErrors.class)).or(type(MemoryErrors.class))
                        .or(type(JdkProvider.class)))
                .check(ALL);
    }

    @Test
    void onlyTheLinuxNetworkAndTheProviderOfNativeDevicesCallTheSystem() {
        noClasses().that().resideOutsideOfPackages("io.rdma4j.softnic.network.linux..",
                "io.rdma4j.ibverbs.abi..", "io.rdma4j.ibverbs.provider..").should()
                .dependOnClassesThat().areAssignableTo(Linker.class).check(ALL);
    }

    /** The engine carries any transport: see the toy link in its tests. */
    @Test
    void engineQueuesAndMemoryKnowNoTransport() {
        noClasses().that().resideInAnyPackage("io.rdma4j.softnic.engine..",
                "io.rdma4j.softnic.queue..", "io.rdma4j.softnic.memory..").should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.protocol.roce..",
                        "io.rdma4j.protocol.ibcm..", "io.rdma4j.protocol.iwarp..",
                        "io.rdma4j.softnic.roce..", "io.rdma4j.softnic.network..",
                        "io.rdma4j.cm.."))
                .check(ALL);
    }

    /** UDP port, flow label and hop limit are RoCE's; others hand on a route and do not look inside. */
    @Test
    void onlyRoceAndItsNetworkKnowPaths() {
        noClasses().that().resideOutsideOfPackages("io.rdma4j.protocol.roce..",
                "io.rdma4j.protocol.ibcm..", "io.rdma4j.softnic.roce..",
                "io.rdma4j.softnic.ibcm..", "io.rdma4j.softnic.network..",
                "io.rdma4j.benchmarks..").should().dependOnClassesThat(type(Path.class))
                .check(ALL);
    }

    /** What is known of the machine, for whoever asks. */
    @Test
    void hostKnowsNoDeviceAndNoTransport() {
        classes().that().resideInAPackage("io.rdma4j.softnic.host..").should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..", "org.jspecify..",
                        "io.rdma4j.softnic.host", "io.rdma4j.softnic.options")
                        .or(simpleName("RouteSocket")))
                .check(ALL);
    }

    @Test
    void queuesAndMemoryKnowNoEngine() {
        noClasses().that().resideInAnyPackage("io.rdma4j.softnic.queue..",
                "io.rdma4j.softnic.memory..").should()
                .dependOnClassesThat(resideInAPackage("io.rdma4j.softnic.engine..")).check(ALL);
    }

    @Test
    void objectsOfTheVerbsKnowNoDeviceNoTransportAndNoNetwork() {
        noClasses().that().resideInAPackage("io.rdma4j.softnic.verbs..").should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.softnic.device..",
                        "io.rdma4j.softnic.roce..", "io.rdma4j.softnic.ibcm..",
                        "io.rdma4j.softnic.iwarp..", "io.rdma4j.softnic.network..",
                        "io.rdma4j.protocol.ibcm..",
                        "io.rdma4j.protocol.iwarp..")
                        // Whether memory is mapped is the system's to say.
                        .and(not(simpleName("AddressSpace"))))
                .check(ALL);
    }

    /** To add a transport is to add a package, and a line where devices are listed. */
    @Test
    void devicesKnowNoTransport() {
        noClasses().that().resideInAPackage("io.rdma4j.softnic.device..").should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.softnic.roce..",
                        "io.rdma4j.softnic.ibcm..", "io.rdma4j.softnic.iwarp..",
                        "io.rdma4j.softnic.network..",
                        "io.rdma4j.protocol.roce..", "io.rdma4j.protocol.ibcm..",
                        "io.rdma4j.protocol.iwarp.."))
                .check(ALL);
        noClasses().that().resideInAPackage("io.rdma4j.softnic.ibcm..").should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.softnic.device..",
                        "io.rdma4j.softnic.roce..", "io.rdma4j.softnic.network.."))
                .check(ALL);
    }

    /** The list of the devices is the one place that names their families. */
    @Test
    void onlyTheProviderNamesTheFamilies() {
        classes().that().resideOutsideOfPackages("io.rdma4j.softnic.provider",
                "io.rdma4j.benchmarks..").should(
                        new ArchCondition<>("know no family of another package") {
                            @Override
                            public void check(JavaClass each, ConditionEvents events) {
                                each.getDirectDependenciesFromSelf().stream()
                                        .filter(dependency -> isFamilyElsewhere(
                                                dependency.getTargetClass(), each))
                                        .forEach(dependency -> events.add(SimpleConditionEvent
                                                .violated(each, dependency.getDescription())));
                            }
                        })
                .check(ALL);
        assertThat(ALL.get(RoceFamily.class).isAssignableTo(DeviceFamily.class)).isTrue();
    }

    private static boolean isFamilyElsewhere(JavaClass family, JavaClass than) {
        return family.isAssignableTo(DeviceFamily.class) && !family.isInterface()
                && !family.getPackageName().equals(than.getPackageName());
    }

    @Test
    void nobodyKnowsWhoListsTheDevices() {
        noClasses().that().resideOutsideOfPackage("io.rdma4j.softnic.provider..").should()
                .dependOnClassesThat(resideInAPackage("io.rdma4j.softnic.provider.."))
                .check(ALL);
    }

    /** What a library consists of is seen from its packages. */
    @Test
    void everyClassOfALibraryHasItsPackage() {
        noClasses().should().resideInAnyPackage("io.rdma4j", "io.rdma4j.protocol",
                "io.rdma4j.softnic", "io.rdma4j.ibverbs").check(ALL);
    }

    /** Its first sentence is what a reader of the folder sees first. */
    @Test
    void everyPackageSaysWhatItIsFor() {
        Set<String> described = ALL.stream()
                .filter(each -> each.getSimpleName().equals("package-info")
                        && each.isAnnotatedWith(NullMarked.class))
                .map(JavaClass::getPackageName).collect(Collectors.toSet());
        assertThat(described).containsAll(ALL.stream()
                .filter(each -> !each.getSimpleName().equals("module-info"))
                .map(JavaClass::getPackageName).collect(Collectors.toSet()));
    }

    /** Roots and the API as well: a slice is a package, of whatever module. */
    @Test
    void packagesFormNoCycles() {
        slices().matching("io.rdma4j.(**)").should().beFreeOfCycles().check(ALL);
    }

    @Test
    void namesSayWhatThingsAre() {
        noClasses().should().haveSimpleNameEndingWith("Impl")
                .orShould().haveSimpleNameEndingWith("Helper")
                .orShould().haveSimpleNameEndingWith("Util")
                .orShould().haveSimpleNameEndingWith("Utils")
                .orShould().haveSimpleNameStartingWith("Abstract")
                .orShould().resideInAnyPackage("..common..", "..misc..", "..util..", "..utils..")
                .check(ALL);
        noClasses().should().haveNameMatching(PRIVATE_WORDS).check(ALL);
        noMembers().should().haveNameMatching(PRIVATE_VERBS).check(ALL);
        // A connection manager is what the standard calls so.
        noClasses().that().haveSimpleNameNotEndingWith("ConnectionManager").and()
                .doNotHaveSimpleName("KernelManager").should().haveSimpleNameEndingWith("Manager")
                .check(ALL);
    }

    /** Which class a name means is known without its package. */
    @Test
    void oneNameIsForOneThing() {
        Map<String, Long> uses = ALL.stream().filter(each -> each.getEnclosingClass().isEmpty())
                .collect(Collectors.groupingBy(JavaClass::getSimpleName, Collectors.counting()));
        uses.remove("package-info");
        assertThat(uses).allSatisfy((name, count) -> assertThat(count).as(name)
                .isEqualTo(USED_TWICE.contains(name) ? 2 : 1));
    }

    /** A class that uses more packages joins what should be several classes. */
    @Test
    void noClassOfALibraryUsesMoreThanElevenPackages() {
        classes().that(resideInAnyPackage(LIBRARIES)).should(
                new ArchCondition<>("use at most 11 packages of the project") {
                    @Override
                    public void check(JavaClass each, ConditionEvents events) {
                        Set<String> used = each.getDirectDependenciesFromSelf().stream()
                                .map(dependency -> dependency.getTargetClass().getPackageName())
                                .filter(name -> name.startsWith("io.rdma4j."))
                                .filter(name -> !name.equals(each.getPackageName()))
                                .collect(Collectors.toSet());
                        events.add(new SimpleConditionEvent(each, used.size() <= 11,
                                each.getName() + " uses " + used));
                    }
                }).check(ALL);
    }

    /** What the tools share is below what they are: it knows no tool, and nothing knows the list of them. */
    @Test
    void sharedPartsOfTheToolsKnowNoTool() {
        classes().that().resideInAnyPackage("io.rdma4j.tools.tcp..", "io.rdma4j.tools.endpoint..",
                "io.rdma4j.tools.options..", "io.rdma4j.tools.output..", "io.rdma4j.tools.timing..")
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage("java..", "io.rdma4j.tools.tcp..",
                        "io.rdma4j.tools.endpoint..", "io.rdma4j.tools.options..",
                        "io.rdma4j.tools.output..", "io.rdma4j.tools.timing..",
                        "io.rdma4j.verbs..", "io.rdma4j.cm..", "io.rdma4j.jdk..",
                        "picocli..", "org.HdrHistogram..", "org.jspecify.."))
                .check(ALL);
        noClasses().that().resideInAPackage("io.rdma4j.tools.*..").should()
                .dependOnClassesThat().haveFullyQualifiedName("io.rdma4j.tools.Main").check(ALL);
    }

    /** A tool can run in another program's JVM: it writes to the streams it was given, and ends by returning. */
    @Test
    void onlyProgramsKnowTheProcess() {
        noClasses().that().resideInAPackage("io.rdma4j.tools..").and()
                .doNotHaveFullyQualifiedName("io.rdma4j.tools.Main").and()
                .doNotHaveFullyQualifiedName("io.rdma4j.tools.Training").should()
                .accessField(System.class, "out").orShould().accessField(System.class, "err")
                .orShould().callMethod(System.class, "exit", int.class).check(ALL);
    }

    @Test
    void toolsUseTheApiAlone() {
        noClasses().that().resideInAnyPackage("io.rdma4j.tools..", "io.rdma4j.examples..").should()
                .dependOnClassesThat(resideInAnyPackage("io.rdma4j.protocol..",
                        "io.rdma4j.softnic..", "io.rdma4j.ibverbs..", "io.rdma4j.spi..")
                        .and(not(resideInAPackage("io.rdma4j.softnic.options"))))
                .check(ALL);
    }

    /** The options of the software NIC are for programs, as the lesson of loss shows. */
    @Test
    void onlyTheLessonOfLossUsesOptionsOfTheSoftwareNic() {
        noClasses().that().resideInAnyPackage("io.rdma4j.tools..", "io.rdma4j.examples..").and()
                .doNotHaveFullyQualifiedName("io.rdma4j.examples.course.Lesson10").should()
                .dependOnClassesThat(resideInAPackage("io.rdma4j.softnic.options")).check(ALL);
    }
}
