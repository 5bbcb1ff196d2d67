// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.sockets.RdmaServerSocketChannel;
import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.ValueDescriptor;
import org.junit.jupiter.api.Test;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/** The page docs/reference/observability.md says what is so. */
class ObservabilityPageTest {
    private static final Set<String> OF_EVERY_EVENT = Set.of("startTime", "duration",
            "eventThread", "stackTrace");

    private final List<String> page;

    ObservabilityPageTest() throws Exception {
        page = Files.readAllLines(Path.of("..", "docs", "reference", "observability.md"));
    }

    @Test
    void countersAreThoseThereAreInTheirOrder() {
        List<String> rows = page.stream()
                .dropWhile(line -> !line.equals("| counter | counts |")).skip(2)
                .takeWhile(line -> line.startsWith("|")).toList();
        assertThat(rows).containsExactlyElementsOf(Stream.of(Counter.values())
                .map(counter -> "| `" + counter.text() + "` | " + counter.description() + " |")
                .toList());
    }

    @Test
    void eventsAreThoseThereAreWithTheirFields() throws Exception {
        List<String> rows = page.stream().filter(line -> line.startsWith("| `io.rdma4j.")
                && !line.contains(":")).toList();
        try (DeviceContext open = RdmaDevices.find("roce_lo").open();
                RdmaServerSocketChannel socket = RdmaSockets.openServerSocketChannel()) {
            assertThat(open.counters()).containsEntry("link_downed", 0L);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            List<EventType> types = FlightRecorder.getFlightRecorder().getEventTypes().stream()
                    .filter(type -> type.getName().startsWith("io.rdma4j.")).toList();
            assertThat(types).hasSameSizeAs(rows);
            for (EventType type : types) {
                List<String> fields = type.getFields().stream().map(ValueDescriptor::getName)
                        .filter(name -> !OF_EVERY_EVENT.contains(name))
                        .map(name -> "`" + name + "`").toList();
                assertThat(rows).anySatisfy(
                        row -> assertThat(row).startsWith("| `" + type.getName() + "` | ")
                                .endsWith(" | " + String.join(", ", fields) + " |"));
            }
        }
    }
}
