// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.structure.StructureContract;

import java.util.List;
import java.util.Map;
import java.util.Set;

/** The packages of the software NIC. */
class SoftnicStructureTest extends StructureContract {
    /** From top to bottom. */
    private static final List<Set<String>> LAYERS = List.of(
            Set.of("softnic.provider"),
            Set.of("softnic.iwarp", "softnic.roce"),
            Set.of("softnic.device", "softnic.network.linux.datagram"),
            Set.of("softnic.host", "softnic.ibcm", "softnic.network.linux.memory"),
            Set.of("softnic.network.linux.route", "softnic.network.linux.sharing",
                    "softnic.network.linux.stream", "softnic.verbs"),
            Set.of("softnic.network.linux.calls", "softnic.network.ring", "softnic.network.stream"),
            Set.of("softnic.engine", "softnic.network"),
            Set.of("softnic.memory", "softnic.observe.jfr", "softnic.observe.jmx",
                    "softnic.options",
                    "softnic.queue"));
    /** Circles of more than five classes. They may shrink, and no further one may come. */
    private static final Map<String, Integer> KNOTS = Map.of();
    /** What belongs to the whole process makes tests depend on each other: no further one may come. */
    private static final Set<String> STATE_OF_THE_PROCESS = Set.of("DropEvent.PROBE",
            "HostWatch.OF_PROCESS", "InterruptStatus.OF_THREAD", "IwarpFamily.IWARP",
            "Limits.LIMITS",
            "LinuxNetwork.hasWorked", "LinuxStreams.hasWorked", "PcapWriter.OPEN",
            "PortMonitor.OF_PROCESS", "ReceiverNotReadyEvent.PROBE", "RetransmissionEvent.PROBE",
            "SelectorDescriptors.KNOWN",
            "RoceFamily.ROCE", "SharedPort.ofProcess", "SoftNic.OPEN", "Ways.OF_LINK");

    SoftnicStructureTest() {
        super(LAYERS, KNOTS, STATE_OF_THE_PROCESS);
    }
}
