package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Parameter;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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
    /** Closed values, which programs write and compare; those of flows, whose rules are layouts of packets. */
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

    /** Members stand in another order there, and a jar has no documents beside it. */
    @Test
    void javadocPointsToNothingThatItsReaderDoesNotHave() {
        for (ApiSources.Source source : ApiSources.all()) {
            assertThat(source.javadocs()).as(source.name()).noneMatch(
                    javadoc -> Pattern.compile("(?i)\\bas above\\b|docs/").matcher(javadoc).find());
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
                "CmId.resolveAddress[InetSocketAddress, InetSocketAddress, Duration]",
                // Either of the two, and no device takes an allocator yet.
                "ProtectionDomain.createParentDomain[ThreadDomain, BufferAllocator]");
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

    @Test
    void whatIsStartedCanBeClosed() {
        assertThat(breaking(executable -> executable instanceof Method method
                && method.getName().startsWith("start")
                && !AutoCloseable.class.isAssignableFrom(method.getReturnType())))
                // Experimental, and the form of C; a handler needs no end.
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
                    .matches("(?i).*(timeout|timer|delay|period|speed|latency|interval)");
        })).isEmpty();
    }

    private static boolean isNumber(Class<?> type) {
        return type.equals(int.class) || type.equals(long.class);
    }

    private static Set<String> breaking(Predicate<Executable> rule) {
        return names(ApiTypes.all().stream().filter(type -> !type.isEnum() && !type.isRecord())
                .flatMap(type -> Stream.concat(Stream.of(type.getDeclaredMethods()),
                        Stream.of(type.getDeclaredConstructors())))
                .filter(executable -> Modifier.isPublic(executable.getModifiers())
                        && !executable.isSynthetic())
                .filter(rule).map(ApiRulesTest::text));
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
