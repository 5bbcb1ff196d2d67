// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Map;
import java.util.Set;

/**
 * What a device is and can do.
 *
 * <p>C: {@code struct} {@index ibv_device_attr} and {@code struct} {@index ibv_device_attr_ex} with its
 * {@index orig_attr of struct ibv_device_attr_ex}, {@index ibv_query_device} and {@index ibv_query_device_ex}, {@code struct}
 * {@index ibv_odp_caps} and {@code struct} {@index ibv_cq_moderation_caps}. Left out
 * is what this interface does not offer on any device (TSO, RSS, tag matching), and what a device says about raw packets
 * and packet pacing.
 *
 * <p>Implemented by rdma4j alone; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface DeviceAttributes {
    /** {@return the version of what runs the device} C: {@index fw_ver of struct ibv_device_attr}. */
    String firmwareVersion();

    /** {@return the node's identifier} C: {@index node_guid of struct ibv_device_attr}. */
    long nodeGuid();

    /** {@return the identifier shared by all nodes of one machine} C: {@index sys_image_guid of struct ibv_device_attr}. */
    long systemImageGuid();

    /** {@return the vendor, an IEEE number} C: {@index vendor_id of struct ibv_device_attr}. */
    int vendorId();

    /** {@return the vendor's part number} C: {@index vendor_part_id of struct ibv_device_attr}. */
    int vendorPartId();

    /** {@return the vendor's version} C: {@index hw_ver of struct ibv_device_attr}. */
    int hardwareVersion();

    /**
     * {@return ports, numbered from 1} C: {@index phys_port_cnt of struct ibv_device_attr},
     * {@index phys_port_cnt_ex of struct ibv_device_attr_ex}.
     */
    int physicalPortCount();

    /** {@return what it can do} C: {@index device_cap_flags of struct ibv_device_attr}. */
    Set<DeviceCapability> capabilities();

    /**
     * {@return the bits of what it can do, also those without a name} C:
     * {@index device_cap_flags of struct ibv_device_attr}.
     */
    int capabilityFlags();

    /** {@return how far its atomics are atomic} C: {@index atomic_cap of struct ibv_device_attr}. */
    AtomicCapability atomicCapability();

    /**
     * {@return the number of that in verbs.h, also where it is UNKNOWN} C: {@index atomic_cap of struct ibv_device_attr}.
     */
    int atomicCapabilityCode();

    /**
     * {@return the delay it may add before it acknowledges: 4.096 us times 2 to this power} C:
     * {@index local_ca_ack_delay of struct ibv_device_attr}.
     */
    int localAckDelayExponent();

    /** {@return completion vectors} C: {@code ibv_context.}{@index num_comp_vectors of struct ibv_context}. */
    int completionVectors();

    /** {@return its limits} */
    Map<DeviceLimit, Long> limits();

    /**
     * {@return the bits of a completion timestamp that count; 0 if there are none} C:
     * {@index completion_timestamp_mask of struct ibv_device_attr_ex}.
     */
    long completionTimestampMask();

    /**
     * {@return the rate of the clock that completion timestamps come from, 0 if there is none} C:
     * {@index hca_core_clock of struct ibv_device_attr_ex}.
     */
    long clockKhz();

    /**
     * {@return the most completions one notification may wait for, 0 for no moderation} C:
     * {@index max_cq_count of struct ibv_cq_moderation_caps} of {@index cq_mod_caps of struct ibv_device_attr_ex}.
     */
    int maxModerationCount();

    /**
     * {@return the longest a notification may be put off, in microseconds} C:
     * {@code cq_mod_caps.}{@index max_cq_period of struct ibv_cq_moderation_caps}.
     */
    int maxModerationPeriodUs();

    /**
     * {@return bytes of device memory that can be allocated, 0 for none} C:
     * {@index max_dm_size of struct ibv_device_attr_ex}.
     */
    long maxDeviceMemory();

    /**
     * {@return what {@link AccessFlag#ON_DEMAND} regions may be used for by each transport; empty for no on-demand paging}
     * C: {@index odp_caps of struct ibv_device_attr_ex} with {@index per_transport_caps of struct ibv_odp_caps}.
     */
    Map<QueuePairType, Set<OnDemandCapability>> onDemandPaging();

    /**
     * {@return the bits of that for each transport that has any, also those without a name} C: {@code
     * odp_caps.per_transport_caps}.
     */
    Map<QueuePairType, Integer> onDemandPagingBits();

    /**
     * {@return a limit, 0 for one that the device does not name}
     *
     * @param limit which
     */
    default long limit(DeviceLimit limit) {
        return limits().getOrDefault(limit, 0L);
    }
}
