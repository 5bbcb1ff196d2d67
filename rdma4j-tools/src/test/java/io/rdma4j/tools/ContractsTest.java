// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.sockets.RdmaServerSocketChannel;
import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.testkit.Wait;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.ValueDescriptor;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.management.Descriptor;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.ArrayType;
import javax.management.openmbean.CompositeType;
import javax.management.openmbean.OpenType;
import javax.management.openmbean.SimpleType;
import javax.management.openmbean.TabularType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What programs and monitors rely on and no compiler sees is what {@code docs/reference/contracts.txt} says: names of counters, events of
 * the Flight Recorder, beans, system properties and services. Who means a change copies {@code target/contracts.txt} over it.
 */
class ContractsTest {
    private static final Path KEPT = Path.of("..", "docs", "reference", "contracts.txt");
    private static final Path FOUND = Path.of("target", "contracts.txt");
    private static final String DEVICE = "io.rdma4j:type=Device,name=roce_lo";
    private static final String SOCKETS = "io.rdma4j:type=Sockets";
    private static final Pattern PROPERTY = Pattern.compile("\"(rdma4j(?:\\.[A-Za-z]+)+)\"");
    private static final Set<String> OF_EVERY_EVENT = Set.of("startTime", "duration",
            "eventThread", "stackTrace");
    private static final List<String> MODULES = List.of("rdma4j-api", "rdma4j-softnic",
            "rdma4j-ibverbs", "rdma4j-sockets", "rdma4j-disni");

    @Test
    void contractsThatAreNoJavaAreWhatIsWrittenDown() throws Exception {
        List<String> lines = new ArrayList<>();
        try (DeviceContext open = RdmaDevices.find("roce_lo").open();
                RdmaServerSocketChannel listener = RdmaSockets.openServerSocketChannel()) {
            listener.bind(new InetSocketAddress(Loopback.OWN, 0));
            lines.addAll(counters(open));
            events().forEach(lines::add);
            lines.addAll(bean(DEVICE));
            lines.addAll(bean(SOCKETS));
        }
        properties().forEach(property -> lines.add("property " + property));
        for (String module : MODULES) {
            services(module).forEach(lines::add);
        }
        Files.write(FOUND, lines);
        assertThat(lines)
                .as("contracts that are no Java; if the change is meant, copy %s to %s", FOUND,
                        KEPT)
                .containsExactlyElementsOf(Files.readAllLines(KEPT));
    }

    @Test
    void pageListsEveryProperty() throws Exception {
        List<String> page = Files.readAllLines(KEPT.resolveSibling("observability.md"));
        for (String property : properties()) {
            assertThat(page).as(property)
                    .anyMatch(line -> line.matches("\\| `" + Pattern.quote(property) + "[=`].*"));
        }
    }

    /** Or a program that sets it is warned that it does not exist. */
    @Test
    void listOfKnownPropertiesHasEach() throws Exception {
        Path list = Path.of("..", "rdma4j-api", "src", "main", "java", "io", "rdma4j", "verbs",
                "PropertyNames.java");
        assertThat(propertiesIn(Stream.of(list)))
                .containsExactlyInAnyOrderElementsOf(properties());
        List<String> unread = new ArrayList<>(propertiesIn(Stream.of(list)));
        for (String module : MODULES) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "main", "java"))) {
                unread.removeAll(propertiesIn(files.filter(file -> !file.equals(list))));
            }
        }
        assertThat(unread).isEmpty();
    }

    /** {@return each counter, with who counts it} */
    private static List<String> counters(DeviceContext roce) throws RdmaException {
        Map<String, Set<String>> byWhom = new LinkedHashMap<>();
        byWhom.put("roce", roce.counters().keySet());
        byWhom.putAll(ofQueuePairs("roce", roce));
        try (DeviceContext iwarp = RdmaDevices.find("iwarp_lo").open()) {
            byWhom.put("iwarp", iwarp.counters().keySet());
            byWhom.putAll(ofQueuePairs("iwarp", iwarp));
        }
        return roce.counters().keySet().stream().map(counter -> "counter " + counter
                + byWhom.entrySet().stream().filter(entry -> entry.getValue().contains(counter))
                        .map(Map.Entry::getKey).collect(Collectors.joining(" ", " ", "")))
                .toList();
    }

    private static Map<String, Set<String>> ofQueuePairs(String family, DeviceContext context)
            throws RdmaException {
        Map<String, Set<String>> byType = new LinkedHashMap<>();
        try (ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue queue = context.createCompletionQueue(16)) {
            for (QueuePairType type : family.equals("roce")
                    ? List.of(QueuePairType.RC, QueuePairType.UC, QueuePairType.UD)
                    : List.of(QueuePairType.RC)) {
                try (QueuePair queuePair = domain.createQueuePair(
                        new QueuePairInitAttributes().type(type).completionQueue(queue))) {
                    byType.put(family + "/" + type, queuePair.counters().keySet());
                }
            }
        }
        return byType;
    }

    private static Stream<String> events() {
        return FlightRecorder.getFlightRecorder().getEventTypes().stream()
                .filter(type -> type.getName().startsWith("io.rdma4j."))
                .sorted(Comparator.comparing(EventType::getName))
                .map(type -> "event " + type.getName() + fields(type));
    }

    private static String fields(EventType type) {
        return type.getFields().stream().filter(field -> !OF_EVERY_EVENT.contains(field.getName()))
                .map(ContractsTest::text).reduce("", (former, field) -> former + " " + field);
    }

    private static String text(ValueDescriptor field) {
        return field.getName() + ":" + field.getTypeName();
    }

    private static List<String> bean(String named) throws JMException {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName(named);
        Wait.until("the bean is there", () -> server.isRegistered(name));
        List<String> lines = new ArrayList<>();
        for (MBeanAttributeInfo attribute : server.getMBeanInfo(name).getAttributes()) {
            Descriptor descriptor = attribute.getDescriptor();
            lines.add("attribute " + attribute.getName() + " "
                    + text((OpenType<?>) descriptor.getFieldValue("openType")));
        }
        lines.sort(null);
        lines.addFirst("bean " + named);
        return lines;
    }

    private static String text(OpenType<?> type) {
        return switch (type) {
            case SimpleType<?> simple -> simple.getTypeName();
            case ArrayType<?> array -> "array of " + text(array.getElementOpenType());
            case TabularType table -> "table of " + text(table.getRowType());
            case CompositeType row -> row.keySet().stream().sorted()
                    .map(item -> item + ":" + text(row.getType(item))).toList().toString();
            default -> throw new AssertionError(type);
        };
    }

    /** {@return the system properties that the sources of the interface and the providers name} */
    private static Set<String> properties() throws IOException {
        Set<String> properties = new TreeSet<>();
        for (String module : MODULES) {
            try (Stream<Path> files = Files.walk(Path.of("..", module, "src", "main", "java"))) {
                properties.addAll(propertiesIn(files));
            }
        }
        return properties;
    }

    private static List<String> propertiesIn(Stream<Path> files) {
        return files.filter(file -> file.toString().endsWith(".java")).map(ContractsTest::read)
                .flatMap(text -> PROPERTY.matcher(text).results())
                .map((MatchResult match) -> match.group(1)).distinct().toList();
    }

    private static Stream<String> services(String module) throws IOException {
        Path folder = Path.of("..", module, "src", "main", "resources", "META-INF", "services");
        if (!Files.isDirectory(folder)) {
            return Stream.of();
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.sorted().toList().stream().flatMap(file -> read(file).lines()
                    .map(line -> "service " + file.getFileName() + " " + line));
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }
}
