// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Set;

/**
 * The state of a port.
 *
 * <p>C: {@code struct ibv_port_attr}, {@code ibv_query_port}. The LID and subnet manager fields have a
 * meaning on InfiniBand only and are zero elsewhere.
 *
 * <p>Implemented by rdma4j alone; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface PortAttributes {
    /** {@return its logical state} C: {@code state}. */
    PortState state();

    /** {@return the number of that state in verbs.h, also where it is UNKNOWN} C: {@code state}. */
    int stateCode();

    /**
     * {@return the largest path MTU the device supports} For a number that this version does not know it is the largest
     * known one below, which the device supports as well; {@link Mtu#MTU_256} if there is none. C: {@code max_mtu}.
     */
    Mtu maxMtu();

    /** {@return the number of that MTU as the device gave it, also where it is unknown} C: {@code max_mtu}. */
    int maxMtuCode();

    /**
     * {@return the largest path MTU that fits the interface now} For a number that this version does not know as
     * {@link #maxMtu}. C: {@code active_mtu}.
     */
    Mtu activeMtu();

    /** {@return the number of that MTU as the device gave it, also where it is unknown} C: {@code active_mtu}. */
    int activeMtuCode();

    /** {@return entries of the GID table} C: {@code gid_tbl_len}. */
    int gidTableLength();

    /** {@return capability bits of the port} C: {@code port_cap_flags}. */
    int capabilityFlags();

    /** {@return further ones, of InfiniBand's management alone: zero elsewhere} C: {@code port_cap_flags2}. */
    int capabilityFlags2();

    /** {@return the longest message, in bytes} C: {@code max_msg_sz}. */
    long maxMessageSize();

    /** {@return packets dropped for their P_Key} C: {@code bad_pkey_cntr}. */
    int badPkeyCounter();

    /** {@return packets dropped for their Q_Key} C: {@code qkey_viol_cntr}. */
    int qkeyViolationCounter();

    /** {@return entries of the P_Key table} C: {@code pkey_tbl_len}. */
    int pkeyTableLength();

    /** {@return its local identifier} C: {@code lid}. */
    int lid();

    /** {@return the subnet manager's local identifier} C: {@code sm_lid}. */
    int smLid();

    /** {@return local identifier mask} C: {@code lmc}. */
    int lmc();

    /** {@return virtual lanes} C: {@code max_vl_num}. */
    int maxVirtualLanes();

    /** {@return service level of the subnet manager} C: {@code sm_sl}. */
    int smServiceLevel();

    /** {@return the subnet's propagation delay} C: {@code subnet_timeout}. */
    int subnetTimeoutExponent();

    /** {@return kind of initialization} C: {@code init_type_reply}. */
    int initTypeReply();

    /** {@return link width, a code: 1 is 1X} C: {@code active_width}. */
    int activeWidthCode();

    /** {@return link speed, a code: 1 is 2.5 Gbps} C: {@code active_speed}. */
    int activeSpeedCode();

    /** {@return its physical state} C: {@code phys_state}. */
    PhysicalState physicalState();

    /** {@return the number of that state in verbs.h, also where it is UNKNOWN} C: {@code phys_state}. */
    int physicalStateCode();

    /** {@return the link below} C: {@code link_layer}. */
    LinkLayer linkLayer();

    /** {@return the number of that link in verbs.h, also where it is UNKNOWN} C: {@code link_layer}. */
    int linkLayerCode();

    /** {@return what it demands of those who use it} C: {@code flags}. */
    Set<PortFlag> flags();

    /** {@return the bits of that, also those without a name} C: {@code flags}. */
    int flagBits();
}
