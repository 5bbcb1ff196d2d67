// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What holds for each type that programs use, so that it can grow and its calls read by themselves; ADR 58 and 59. An exception
 * is listed with its reason.
 */
class ApiRulesTest {
    /** What is closed, or experimental as the rules of flows are; ADR 58 says why of each. */
    private static final Set<String> RECORDS = Set.of("AbsentDevice", "AddressHandleAttributes",
            "EnhancedConnectionOptions", "EthernetAddress", "EthernetMatch", "Fields", "FlowRule",
            "Gid", "Ipv4Match", "Ipv6Match", "MemoryWindowBind", "PortMatch", "PrivateDataLimits",
            "QueuePairCapabilities", "ScatterGatherElement", "SharedReceiveQueueAttributes");

    @Test
    void recordsAreOfWhatIsClosed() {
        assertThat(names(ApiTypes.all().stream().filter(Class::isRecord).map(Class::getSimpleName)))
                .containsExactlyInAnyOrderElementsOf(RECORDS);
    }

    /** Enums whose constants will not become more. */
    private static final Set<String> CLOSED_ENUMS = Set.of("FlushSelectivity",
            "MemoryWindowType", "Mtu", "PathMigrationState", "Protocol", "QueuePairState");

    @Test
    void enumsSayThatTheyCanGrow() {
        Map<String, String> sources = ApiSources.all().stream().collect(
                Collectors.toMap(ApiSources.Source::name, ApiSources.Source::text));
        Set<String> silent = names(ApiTypes.all().stream().filter(Class::isEnum)
                .filter(type -> !javadoc(type, sources)
                        .contains("A later version may add constants"))
                .map(Class::getSimpleName));
        assertThat(silent).containsExactlyInAnyOrderElementsOf(CLOSED_ENUMS);
    }

    /** {@return the Javadoc of a type, in one line} */
    private static String javadoc(Class<?> type, Map<String, String> sources) {
        Class<?> outermost = type.isMemberClass() ? type.getDeclaringClass() : type;
        String text = Objects.requireNonNull(sources.get(outermost.getSimpleName()));
        Matcher declaration = Pattern
                .compile("^ *public (?:[a-z-]+ )*?(?:class|interface|enum|record|@interface) "
                        + type.getSimpleName() + "\\b", Pattern.MULTILINE)
                .matcher(text);
        assertThat(declaration.find()).as(type.getName()).isTrue();
        String before = text.substring(0, declaration.start());
        return before.substring(before.lastIndexOf("/**")).replaceAll("\\s+\\* ?", " ");
    }

    @Test
    void typesSaySinceWhenTheyAreThere() {
        Map<String, String> sources = ApiSources.all().stream().collect(
                Collectors.toMap(ApiSources.Source::name, ApiSources.Source::text));
        assertThat(ApiTypes.all()).filteredOn(type -> !type.isMemberClass())
                .allSatisfy(type -> assertThat(javadoc(type, sources)).as(type.getName())
                        .contains("@since "));
    }

    /** Who implements an interface is broken by an abstract method that is added; what is experimental promises nothing. */
    @Test
    void interfacesSayWhoImplementsThemAndHowTheyGrow() {
        Pattern sentence = Pattern.compile(
                "Implemented by (?:providers|programs|\\{@link CmId} and by programs|rdma4j alone)"
                        + "(; a later version adds methods only as \\{@code default})?\\.");
        Map<String, String> sources = ApiSources.all().stream().collect(
                Collectors.toMap(ApiSources.Source::name, ApiSources.Source::text));
        assertThat(ApiTypes.all())
                .filteredOn(type -> type.isInterface() && !type.isAnnotation() && !type.isSealed()
                        && !type.isAnnotationPresent(FunctionalInterface.class))
                .hasSizeGreaterThan(20).allSatisfy(type -> {
                    String javadoc = javadoc(type, sources);
                    Matcher said = sentence.matcher(javadoc);
                    assertThat(said.find()).as(type.getName()).isTrue();
                    assertThat(said.group(1) == null).as(type.getName())
                            .isEqualTo(javadoc.contains("@Experimental"));
                });
    }

    /** Members stand in another order there, and a jar has no documents beside it. */
    @Test
    void javadocPointsToNothingThatItsReaderDoesNotHave() {
        for (ApiSources.Source source : ApiSources.all()) {
            assertThat(source.javadocs()).as(source.name()).noneMatch(
                    javadoc -> Pattern.compile("(?i)\\b(?:as|see) (?:above|below)\\b|docs/")
                            .matcher(javadoc).find());
        }
    }

    /** What is reported as a number can be looked up; a number without a name is UNKNOWN, or null where there is no such constant. */
    @Test
    void lookUpsByNumberHaveOneForm() throws Exception {
        for (Class<?> type : ApiTypes.all().stream().filter(Class::isEnum).toList()) {
            boolean hasUnknown = Stream.of(type.getEnumConstants())
                    .anyMatch(constant -> constant.toString().equals("UNKNOWN"));
            List<Method> lookUps = Stream.of(type.getDeclaredMethods())
                    .filter(method -> method.getName().equals("ofCode")
                            || method.getName().equals("ofNumber"))
                    .toList();
            assertThat(lookUps).as(type.getName()).hasSizeLessThan(2)
                    .hasSizeGreaterThanOrEqualTo(hasUnknown ? 1 : 0);
            for (Method lookUp : lookUps) {
                assertThat(lookUp.getParameterTypes()).containsExactly(int.class);
                Object nameless = lookUp.invoke(null, -7);
                assertThat(nameless == null ? "null" : nameless.toString()).as(type.getName())
                        .isEqualTo(hasUnknown ? "UNKNOWN" : "null");
            }
        }
    }

    @Test
    void noBooleanStandsBesideOtherArguments() {
        // A setter of one flag; to set it alone there is a form without the boolean.
        assertThat(breaking(executable -> executable.getParameterCount() > 1
                && Arrays.asList(executable.getParameterTypes()).contains(boolean.class)))
                .containsExactly("SendWorkRequest.set[SendFlag, boolean]");
    }

    @Test
    void atMostOneArgumentMayBeNullAndItStandsLast() {
        assertThat(breaking(executable -> {
            AnnotatedType[] types = executable.getAnnotatedParameterTypes();
            int last = types.length - 1;
            return Stream.of(types).limit(Math.max(0, last))
                    .anyMatch(type -> type.isAnnotationPresent(Nullable.class));
        })).containsExactly(
                // Node and service as in getaddrinfo, which C programmers know.
                "AddressInfo.resolve[String, String, Hints]",
                "AddressInfo.resolve[String, String]",
                // In the order of C; without a source there is a form without the argument.
                "CmId.resolveAddressInfo[String, String, Hints]",
                "CmId.resolveAddress[InetSocketAddress, InetSocketAddress, Duration]");
    }

    @Test
    void noMoreThanTwoNumbersOf64BitsStandInARow() {
        assertThat(breaking(executable -> {
            int row = 0;
            for (Class<?> type : executable.getParameterTypes()) {
                row = type.equals(long.class) ? row + 1 : 0;
                if (row > 2) {
                    return true;
                }
            }
            return false;
        })).containsExactly(
                // Two groups in the order of the whole interface: region, offset, length; remote address, rkey.
                "QueuePairOperations.postRead[long, MemoryRegion, long, long, long, int, SendFlag[]]",
                "QueuePairOperations.postWrite[long, MemoryRegion, long, long, long, int, SendFlag[]]");
    }

    /** Who knows one method knows the order of the others: what has the same name stands in the same order everywhere. */
    @Test
    void argumentsStandInTheSameOrderEverywhere() {
        Map<String, String> before = new TreeMap<>();
        Set<String> otherwise = new TreeSet<>();
        // The JVM may give them in any order, and the first one is named.
        List<Executable> methods = methods().sorted(Comparator.comparing(ApiRulesTest::text))
                .toList();
        for (Executable executable : methods) {
            List<String> names = Stream.of(executable.getParameters()).map(Parameter::getName)
                    .toList();
            for (int i = 0; i < names.size(); i++) {
                for (String later : names.subList(i + 1, names.size())) {
                    before.putIfAbsent(names.get(i) + ", " + later, text(executable));
                    String first = before.get(later + ", " + names.get(i));
                    if (first != null) {
                        otherwise.add(later + ", " + names.get(i) + ": " + first + " but "
                                + text(executable));
                    }
                }
            }
        }
        assertThat(before).containsKey("remoteAddress, rkey");
        assertThat(otherwise).containsExactly(
                // The length is that of the local memory there and of the remote one here.
                "length, remoteAddress: QueuePairOperations.postRead[long, MemoryRegion, long, long, long, int, SendFlag[]]"
                        + " but SendBatch.flush[long, int, long, Set, FlushSelectivity]",
                "length, rkey: QueuePairOperations.postRead[long, MemoryRegion, long, long, long, int, SendFlag[]]"
                        + " but SendBatch.flush[long, int, long, Set, FlushSelectivity]");
    }

    /** As api.txt says them. */
    @Test
    void whatIsNotExperimentalNamesNothingThatIs() throws Exception {
        List<String> lines = Files.readAllLines(Path.of("api.txt"));
        Pattern head = Pattern.compile("^@Experimental .*?(io\\.rdma4j\\.[\\w.$]+).*");
        Set<String> experimental = lines.stream().map(head::matcher).filter(Matcher::matches)
                .map(found -> found.group(1)).collect(Collectors.toSet());
        assertThat(experimental).contains("io.rdma4j.verbs.Flow",
                "io.rdma4j.verbs.PortMatch$Fields");
        boolean isInside = false;
        for (String line : lines) {
            isInside = line.startsWith("    ") ? isInside : line.startsWith("@Experimental");
            if (!isInside && !line.strip().startsWith("@Experimental")) {
                for (String type : experimental) {
                    assertThat(line).doesNotContainPattern(Pattern.quote(type) + "(?![\\w$])");
                }
            }
        }
    }

    @Test
    void numbersOfObjectsSayThatTheyAreNumbers() {
        assertThat(breaking(executable -> executable instanceof Method method
                && isNumber(method.getReturnType())
                && method.getName().matches("(?i).*(queuepair|receivequeue|domain|event)")))
                .isEmpty();
    }

    @Test
    void whatIsStartedCanBeClosed() {
        assertThat(breaking(executable -> executable instanceof Method method
                && method.getName().startsWith("start")
                && !AutoCloseable.class.isAssignableFrom(method.getReturnType())))
                // The form of C; poll(int, CompletionHandler) needs no end.
                .containsExactly("ExtendedCompletionQueue.startPoll[]");
    }

    /** An array or a boxed number is garbage at each call; {@code AllocationTest} of each provider measures the calls themselves. */
    @Test
    void whatIsCalledForEachMessageNeedsNoArrayAndNoBoxedNumber() {
        Set<Class<?>> hot = Set.of(SendWorkRequest.class, ReceiveWorkRequest.class, SendBatch.class,
                CompletionQueue.class, SharedReceiveQueue.class, QueuePair.class,
                WorkCompletion.class, CompletionHandler.class);
        assertThat(breaking(executable -> {
            if (!hot.contains(executable.getDeclaringClass())) {
                return false;
            }
            boolean isBoxed = Stream.of(executable.getParameterTypes())
                    .anyMatch(type -> Number.class.isAssignableFrom(type));
            return isBoxed || (executable.isVarArgs() && !hasFormWithoutArray(executable));
        })).containsExactly(
                // A window is bound for many messages.
                "QueuePair.bindMemoryWindow[long, MemoryWindow, MemoryWindowBind, SendFlag[]]");
    }

    private static boolean hasFormWithoutArray(Executable executable) {
        return Stream.of(executable.getDeclaringClass().getDeclaredMethods())
                .anyMatch(other -> other.getName().equals(executable.getName())
                        && !other.isVarArgs()
                        && other.getParameterCount() >= executable.getParameterCount() - 1);
    }

    @Test
    void timesSayTheirUnit() {
        assertThat(breaking(executable -> {
            boolean isNumber = executable instanceof Method method
                    && (isNumber(method.getReturnType()) || (method.getParameterCount() == 1
                            && isNumber(method.getParameterTypes()[0])));
            return isNumber && executable.getName()
                    .matches("(?i).*(timeout|timer|delay|period|speed|latency|interval|ratelimit)");
        })).isEmpty();
    }

    private static boolean isNumber(Class<?> type) {
        return type.equals(int.class) || type.equals(long.class);
    }

    private static Set<String> breaking(Predicate<Executable> rule) {
        return names(methods().filter(rule).map(ApiRulesTest::text));
    }

    /** {@return what programs call; records have the order of what they are a copy of} */
    private static Stream<Executable> methods() {
        return ApiTypes.all().stream().filter(type -> !type.isEnum() && !type.isRecord())
                .flatMap(type -> Stream.concat(Stream.of(type.getDeclaredMethods()),
                        Stream.of(type.getDeclaredConstructors())))
                .filter(executable -> Modifier.isPublic(executable.getModifiers())
                        && !executable.isSynthetic());
    }

    private static Set<String> names(Stream<String> names) {
        return names.collect(Collectors.toCollection(TreeSet::new));
    }

    private static String text(Executable executable) {
        List<String> parameters = Stream.of(executable.getParameters()).map(Parameter::getType)
                .map(Class::getSimpleName).toList();
        return executable.getDeclaringClass().getSimpleName() + "."
                + (executable instanceof Method method ? method.getName() : "new") + parameters;
    }
}
