// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs;

import io.rdma4j.structure.StructureContract;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** The packages of native devices. */
class IbverbsStructureTest extends StructureContract {
    /** From top to bottom. */
    private static final List<Set<String>> LAYERS = List.of(
            Set.of("ibverbs.provider"),
            Set.of("ibverbs.verbs"),
            Set.of("ibverbs.cm", "ibverbs.xrc"),
            Set.of("ibverbs.queue"),
            Set.of("ibverbs.completion"),
            Set.of("ibverbs.memory"),
            Set.of("ibverbs.device"),
            Set.of("ibverbs.event", "ibverbs.values", "ibverbs.work"),
            Set.of("ibverbs.abi", "ibverbs.diagnosis", "ibverbs.observe"));
    /** Circles of more than five classes. They may shrink, and no further one may come. */
    private static final Map<String, Integer> KNOTS = Map.of();
    /** What belongs to the whole process makes tests depend on each other: no further one may come. */
    private static final Set<String> STATE_OF_THE_PROCESS = Set.of("ObservedDevices.OF_PROCESS",
            "RegionTable.TAKEN_AWAY");

    IbverbsStructureTest() {
        super(LAYERS, KNOTS, STATE_OF_THE_PROCESS);
    }
}
