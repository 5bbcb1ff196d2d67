package io.rdma4j.verbs;

import java.util.Set;

/**
 * The state of a port.
 *
 * <p>C: {@code struct ibv_port_attr}, {@code ibv_query_port}. The LID and subnet manager fields have a
 * meaning on InfiniBand only and are zero elsewhere.
 *
 * @param state its logical state ({@code state})
 * @param maxMtu the largest path MTU the device supports ({@code max_mtu})
 * @param activeMtu the largest path MTU that fits the interface now ({@code active_mtu})
 * @param gidTableLength entries of the GID table ({@code gid_tbl_len})
 * @param capabilityFlags capability bits of the port ({@code port_cap_flags})
 * @param capabilityFlags2 further ones, of InfiniBand's management alone: zero elsewhere
 *        ({@code port_cap_flags2})
 * @param maxMessageSize the longest message, in bytes ({@code max_msg_sz})
 * @param badPkeyCounter packets dropped for their P_Key ({@code bad_pkey_cntr})
 * @param qkeyViolationCounter packets dropped for their Q_Key ({@code qkey_viol_cntr})
 * @param pkeyTableLength entries of the P_Key table ({@code pkey_tbl_len})
 * @param lid its local identifier ({@code lid})
 * @param smLid the subnet manager's local identifier ({@code sm_lid})
 * @param lmc local identifier mask ({@code lmc})
 * @param maxVirtualLanes virtual lanes ({@code max_vl_num})
 * @param smServiceLevel service level of the subnet manager ({@code sm_sl})
 * @param subnetTimeout the subnet's propagation delay ({@code subnet_timeout})
 * @param initTypeReply kind of initialization ({@code init_type_reply})
 * @param activeWidth link width, a code: 1 is 1X ({@code active_width})
 * @param activeSpeed link speed, a code: 1 is 2.5 Gbps ({@code active_speed})
 * @param physicalState its physical state ({@code phys_state})
 * @param linkLayer the link below ({@code link_layer})
 * @param flags what it demands of those who use it ({@code flags})
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
