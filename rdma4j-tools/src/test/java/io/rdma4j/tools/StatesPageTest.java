// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.state.Transitions;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page docs/reference/states.md shows the tables of states that the code asks. Who means a change copies {@code target/states.md} over
 * it.
 */
class StatesPageTest {
    private static final Path KEPT = Path.of("..", "docs", "reference", "states.md");
    private static final Path FOUND = Path.of("target", "states.md");
    private static final String HEAD = """
            # States

            Generated from the tables that the code asks for each change of state (`Transitions`); `StatesPageTest` checks that this page is what they
            say. A state without an entry for an event stays as it is, or refuses the event by an error.
            """;

    /** What has states, by its class. */
    private static final Map<String, String> MACHINES = new LinkedHashMap<>();

    static {
        MACHINES.put("io.rdma4j.cm.IdStep",
                "Ids of the connection manager (`CmId`), over any device");
        MACHINES.put("io.rdma4j.protocol.ibcm.IbCmConnection",
                "Connections of RoCE by the IB connection manager");
        MACHINES.put("io.rdma4j.softnic.iwarp.IwarpConnection",
                "Connections of software iWARP, from the set-up on");
        MACHINES.put("io.rdma4j.ibverbs.cm.NativeConnection", "Connections of native devices");
        MACHINES.put("io.rdma4j.spi.InfinibandTransitions",
                "Queue pairs of RoCE and InfiniBand, by the state that a program asks for");
        MACHINES.put("io.rdma4j.softnic.iwarp.IwarpTransitions",
                "Queue pairs of software iWARP, by the state that a program asks for");
    }

    @Test
    void pageIsWhatTheTablesSay() throws Exception {
        List<String> lines = new ArrayList<>(HEAD.lines().toList());
        for (Map.Entry<String, String> each : MACHINES.entrySet()) {
            lines.add("");
            lines.add("## " + each.getValue());
            lines.add("");
            add(table(Class.forName(each.getKey())), lines);
        }
        Files.write(FOUND, lines);
        assertThat(Files.readAllLines(KEPT)).containsExactlyElementsOf(lines);
    }

    @Test
    void eachTableIsOnThePage() {
        assertThat(MainClasses.ALL.stream()
                .filter(each -> each.getFields().stream()
                        .anyMatch(field -> field.getRawType().isEquivalentTo(Transitions.class)
                                && field.getModifiers().toString().contains("STATIC")))
                .map(each -> each.getName())).containsExactlyInAnyOrderElementsOf(
                        MACHINES.keySet());
    }

    private static Transitions<?, ?> table(Class<?> of) throws ReflectiveOperationException {
        for (Field field : of.getDeclaredFields()) {
            if (field.getType() == Transitions.class && Modifier.isStatic(field.getModifiers())) {
                field.setAccessible(true);
                return (Transitions<?, ?>) field.get(null);
            }
        }
        throw new IllegalStateException(of + " has no table");
    }

    private static <S extends Enum<S>, E extends Enum<E>> void add(Transitions<S, E> table,
            List<String> lines) {
        lines.add("```mermaid");
        lines.add("stateDiagram-v2");
        for (S from : table.states()) {
            Map<S, List<E>> by = new LinkedHashMap<>();
            for (E event : table.events()) {
                S to = table.next(from, event);
                if (to != null) {
                    by.computeIfAbsent(to, _ -> new ArrayList<>()).add(event);
                }
            }
            by.forEach((to, events) -> lines.add("    " + from + " --> " + to + ": "
                    + events.stream().map(Enum::name).collect(Collectors.joining(", "))));
        }
        lines.add("```");
        lines.add("");
        lines.add("| event | " + table.states().stream().map(Enum::name)
                .collect(Collectors.joining(" | ")) + " |");
        lines.add("|---|" + "---|".repeat(table.states().size()));
        for (E event : table.events()) {
            lines.add("| " + event + " | " + table.states().stream().map(from -> {
                S to = table.next(from, event);
                return to == null ? "" : to.name();
            }).collect(Collectors.joining(" | ")) + " |");
        }
    }
}
