package io.rdma4j.verbs;

import java.util.Set;

/**
 * The state of a port.
 *
 * <p>C: {@code struct ibv_port_attr}, {@code ibv_query_port}. The LID and subnet manager fields have a
 * meaning on InfiniBand only and are zero elsewhere.
 *
 * @param state its logical state
 * @param maxMtu the largest path MTU the device supports
 * @param activeMtu the largest path MTU that fits the interface now
 * @param gidTableLength entries of the GID table
 * @param capabilityFlags capability bits of the port
 * @param capabilityFlags2 further ones, of InfiniBand's management alone: zero elsewhere
 * @param maxMessageSize the longest message, in bytes
 * @param badPkeyCounter packets dropped for their P_Key
 * @param qkeyViolationCounter packets dropped for their Q_Key
 * @param pkeyTableLength entries of the P_Key table
 * @param lid its local identifier
 * @param smLid the subnet manager's local identifier
 * @param lmc local identifier mask
 * @param maxVirtualLanes virtual lanes
 * @param smServiceLevel service level of the subnet manager
 * @param subnetTimeout the subnet's propagation delay
 * @param initTypeReply kind of initialization
 * @param activeWidth link width, a code: 1 is 1X
 * @param activeSpeed link speed, a code: 1 is 2.5 Gbps
 * @param physicalState its physical state
 * @param linkLayer the link below
 * @param flags what it demands of those who use it
 */
public record PortAttributes(PortState state, Mtu maxMtu, Mtu activeMtu, int gidTableLength,
        int capabilityFlags, int capabilityFlags2, long maxMessageSize, int badPkeyCounter,
        int qkeyViolationCounter,
        int pkeyTableLength, int lid, int smLid, int lmc, int maxVirtualLanes, int smServiceLevel,
        int subnetTimeout, int initTypeReply, int activeWidth, int activeSpeed,
        PhysicalState physicalState, LinkLayer linkLayer, Set<PortFlag> flags) {

    /** Keeps a copy of the flags. */
    public PortAttributes {
        flags = Set.copyOf(flags);
    }
}
