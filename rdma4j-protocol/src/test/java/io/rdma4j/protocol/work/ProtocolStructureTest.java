// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import io.rdma4j.structure.StructureContract;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** The packages of the protocols. */
class ProtocolStructureTest extends StructureContract {
    /** From top to bottom. */
    private static final List<Set<String>> LAYERS = List.of(
            Set.of("protocol.roce.rc", "protocol.roce.unreliable"),
            Set.of("protocol.iwarp", "protocol.roce"),
            Set.of("protocol.iwarp.wire", "protocol.roce.wire"),
            Set.of("protocol.work"),
            Set.of("protocol.bytes", "protocol.count", "protocol.ibcm"));
    /** Circles of more than five classes. They may shrink, and no further one may come. */
    private static final Map<String, Integer> KNOTS = Map.of();
    /** What belongs to the whole process makes tests depend on each other: no further one may come. */
    private static final Set<String> STATE_OF_THE_PROCESS = Set.of();

    ProtocolStructureTest() {
        super(LAYERS, KNOTS, STATE_OF_THE_PROCESS);
    }
}
