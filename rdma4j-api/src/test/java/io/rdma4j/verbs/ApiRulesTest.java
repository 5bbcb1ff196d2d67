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
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
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
