// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools;

import io.rdma4j.structure.StructureContract;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** The packages of the tools. */
class ToolsStructureTest extends StructureContract {
    /** From top to bottom. */
    private static final List<Set<String>> LAYERS = List.of(
            Set.of("tools"),
            Set.of("tools.basic", "tools.cmtools", "tools.demo", "tools.devices", "tools.doctor",
                    "tools.perftest", "tools.pingpong", "tools.rping", "tools.rsocket",
                    "tools.stat"),
            Set.of("tools.tcp"),
            Set.of("tools.endpoint", "tools.options", "tools.output", "tools.timing"));
    /** Circles of more than five classes. They may shrink, and no further one may come. */
    private static final Map<String, Integer> KNOTS = Map.of();
    /** What belongs to the whole process makes tests depend on each other: no further one may come. */
    private static final Set<String> STATE_OF_THE_PROCESS = Set.of("Main.COMMANDS");

    ToolsStructureTest() {
        super(LAYERS, KNOTS, STATE_OF_THE_PROCESS);
    }
}
