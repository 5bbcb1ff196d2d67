// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.structure.StructureContract;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** The packages of sockets. */
class SocketsStructureTest extends StructureContract {
    /** From top to bottom. */
    private static final List<Set<String>> LAYERS = List.of(
            Set.of("sockets.launch"),
            Set.of("sockets"),
            Set.of("sockets.engine"),
            Set.of("sockets.observe.jfr", "sockets.observe.jmx", "sockets.protocol",
                    "sockets.rules", "sockets.udp"));
    /** Circles of more than five classes. They may shrink, and no further one may come. */
    private static final Map<String, Integer> KNOTS = Map.of();
    /** What belongs to the whole process makes tests depend on each other: no further one may come. */
    private static final Set<String> STATE_OF_THE_PROCESS = Set.of("DatagramPeerEvent.PROBE",
            "DatagramSocketCloseEvent.PROBE", "OfProcess.ENGINE", "SocketAcceptEvent.PROBE",
            "SocketCloseEvent.PROBE", "SocketConnectEvent.PROBE");

    SocketsStructureTest() {
        super(LAYERS, KNOTS, STATE_OF_THE_PROCESS);
    }
}
