// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.structure.StructureContract;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** The packages of the API. */
class ApiStructureTest extends StructureContract {
    /** From top to bottom. */
    private static final List<Set<String>> LAYERS = List.of(
            Set.of("cm"),
            Set.of("device", "spi"),
            Set.of("connection", "observe.jfr"),
            Set.of("verbs"),
            Set.of("event", "observe.registry"),
            Set.of("jdk", "observe.jmx", "state"));
    /** Circles of more than five classes. They may shrink, and no further one may come. */
    private static final Map<String, Integer> KNOTS = Map.of("verbs", 29);
    /** What belongs to the whole process makes tests depend on each other: no further one may come. */
    private static final Set<String> STATE_OF_THE_PROCESS = Set.of("AsynchronousEvent.PROBE",
            "Clock.THREAD", "ConnectionEvent.PROBE", "EventDetails.NONE",
            "Fallbacks.OF_PROCESS", "FlightEvents.CLASSES", "FlightEvents.STATISTICS",
            "PortTable.HELD",
            "QueuePairStateEvent.PROBE", "RdmaDevices.found", "RegisteredBean.WAITING",
            "RegisteredBean.isStarted", "ServiceLookupEvent.PROBE", "SharedDevice.OPEN",
            "TcpSockets.areServersRouted", "TcpSockets.areSocketsRouted");

    ApiStructureTest() {
        super(LAYERS, KNOTS, STATE_OF_THE_PROCESS);
    }
}
