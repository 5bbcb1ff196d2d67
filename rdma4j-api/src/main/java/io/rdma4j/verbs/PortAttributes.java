// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Set;

/**
 * The state of a port.
 *
 * <p>C: {@code struct} {@index ibv_port_attr}, {@index ibv_query_port}. The LID and subnet manager fields have a
 * meaning on InfiniBand only and are zero elsewhere.
 *
 * <p>Implemented by rdma4j alone; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface PortAttributes {
    /** {@return its logical state} C: {@index state of struct ibv_port_attr}. */
    PortState state();

    /** {@return the number of that state in verbs.h, also where it is UNKNOWN} C: {@index state of struct ibv_port_attr}. */
    int stateCode();

    /**
     * {@return the largest path MTU the device supports} For a number that this version does not know it is the largest
     * known one below, which the device supports as well; {@link Mtu#MTU_256} if there is none. C:
     * {@index max_mtu of struct ibv_port_attr}.
     */
    Mtu maxMtu();

    /**
     * {@return the number of that MTU as the device gave it, also where it is unknown} C:
     * {@index max_mtu of struct ibv_port_attr}.
     */
    int maxMtuCode();

    /**
     * {@return the largest path MTU that fits the interface now} For a number that this version does not know as
     * {@link #maxMtu}. C: {@index active_mtu of struct ibv_port_attr}.
     */
    Mtu activeMtu();

    /**
     * {@return the number of that MTU as the device gave it, also where it is unknown} C:
     * {@index active_mtu of struct ibv_port_attr}.
     */
    int activeMtuCode();

    /** {@return entries of the GID table} C: {@index gid_tbl_len of struct ibv_port_attr}. */
    int gidTableLength();

    /** {@return capability bits of the port} C: {@index port_cap_flags of struct ibv_port_attr}. */
    int capabilityFlags();

    /**
     * {@return further ones, of InfiniBand's management alone: zero elsewhere} C:
     * {@index port_cap_flags2 of struct ibv_port_attr}.
     */
    int capabilityFlags2();

    /** {@return the longest message, in bytes} C: {@index max_msg_sz of struct ibv_port_attr}. */
    long maxMessageSize();

    /** {@return packets dropped for their P_Key} C: {@index bad_pkey_cntr of struct ibv_port_attr}. */
    int badPkeyCounter();

    /** {@return packets dropped for their Q_Key} C: {@index qkey_viol_cntr of struct ibv_port_attr}. */
    int qkeyViolationCounter();

    /** {@return entries of the P_Key table} C: {@index pkey_tbl_len of struct ibv_port_attr}. */
    int pkeyTableLength();

    /** {@return its local identifier} C: {@index lid of struct ibv_port_attr}. */
    int lid();

    /** {@return the subnet manager's local identifier} C: {@index sm_lid of struct ibv_port_attr}. */
    int smLid();

    /** {@return local identifier mask} C: {@index lmc of struct ibv_port_attr}. */
    int lmc();

    /** {@return virtual lanes} C: {@index max_vl_num of struct ibv_port_attr}. */
    int maxVirtualLanes();

    /** {@return service level of the subnet manager} C: {@index sm_sl of struct ibv_port_attr}. */
    int smServiceLevel();

    /** {@return the subnet's propagation delay} C: {@index subnet_timeout of struct ibv_port_attr}. */
    int subnetTimeoutExponent();

    /** {@return kind of initialization} C: {@index init_type_reply of struct ibv_port_attr}. */
    int initTypeReply();

    /** {@return link width, a code: 1 is 1X} C: {@index active_width of struct ibv_port_attr}. */
    int activeWidthCode();

    /** {@return link speed, a code: 1 is 2.5 Gbps} C: {@index active_speed of struct ibv_port_attr}. */
    int activeSpeedCode();

    /** {@return its physical state} C: {@index phys_state of struct ibv_port_attr}. */
    PhysicalState physicalState();

    /**
     * {@return the number of that state in verbs.h, also where it is UNKNOWN} C:
     * {@index phys_state of struct ibv_port_attr}.
     */
    int physicalStateCode();

    /** {@return the link below} C: {@index link_layer of struct ibv_port_attr}. */
    LinkLayer linkLayer();

    /**
     * {@return the number of that link in verbs.h, also where it is UNKNOWN} C:
     * {@index link_layer of struct ibv_port_attr}.
     */
    int linkLayerCode();

    /** {@return what it demands of those who use it} C: {@index flags of struct ibv_port_attr}. */
    Set<PortFlag> flags();

    /** {@return the bits of that, also those without a name} C: {@index flags of struct ibv_port_attr}. */
    int flagBits();
}
