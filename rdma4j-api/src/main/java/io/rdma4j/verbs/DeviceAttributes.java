// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.util.Map;
import java.util.Set;

/**
 * What a device is and can do.
 *
 * <p>C: {@code struct ibv_device_attr} and {@code struct ibv_device_attr_ex} with its {@code orig_attr}, {@code ibv_query_device} and
 * {@code ibv_query_device_ex}. Left out is what this interface does not offer on any device (TSO, RSS, tag matching), and what
 * a device says about raw packets and packet pacing.
 *
 * <p>Implemented by rdma4j alone; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface DeviceAttributes {
    /** {@return the version of what runs the device} C: {@code fw_ver}. */
    String firmwareVersion();

    /** {@return the node's identifier} C: {@code node_guid}. */
    long nodeGuid();

    /** {@return the identifier shared by all nodes of one machine} C: {@code sys_image_guid}. */
    long systemImageGuid();

    /** {@return the vendor, an IEEE number} C: {@code vendor_id}. */
    int vendorId();

    /** {@return the vendor's part number} C: {@code vendor_part_id}. */
    int vendorPartId();

    /** {@return the vendor's version} C: {@code hw_ver}. */
    int hardwareVersion();

    /** {@return ports, numbered from 1} C: {@code phys_port_cnt}, {@code phys_port_cnt_ex}. */
    int physicalPortCount();

    /** {@return what it can do} C: {@code device_cap_flags}. */
    Set<DeviceCapability> capabilities();

    /** {@return the bits of what it can do, also those without a name} C: {@code device_cap_flags}. */
    int capabilityFlags();

    /** {@return how far its atomics are atomic} C: {@code atomic_cap}. */
    AtomicCapability atomicCapability();

    /** {@return the number of that in verbs.h, also where it is UNKNOWN} C: {@code atomic_cap}. */
    int atomicCapabilityCode();

    /**
     * {@return the delay it may add before it acknowledges: 4.096 us times 2 to this power} C: {@code local_ca_ack_delay}.
     */
    int localAckDelayExponent();

    /** {@return completion vectors} C: {@code ibv_context.num_comp_vectors}. */
    int completionVectors();

    /** {@return its limits} */
    Map<DeviceLimit, Long> limits();

    /** {@return the bits of a completion timestamp that count; 0 if there are none} C: {@code completion_timestamp_mask}. */
    long completionTimestampMask();

    /**
     * {@return the rate of the clock that completion timestamps come from, 0 if there is none} C: {@code hca_core_clock}.
     */
    long clockKhz();

    /**
     * {@return the most completions one notification may wait for, 0 for no moderation} C: {@code cq_mod_caps.max_cq_count}.
     */
    int maxModerationCount();

    /** {@return the longest a notification may be put off, in microseconds} C: {@code cq_mod_caps.max_cq_period}. */
    int maxModerationPeriodUs();

    /** {@return bytes of device memory that can be allocated, 0 for none} C: {@code max_dm_size}. */
    long maxDeviceMemory();

    /**
     * {@return what {@link AccessFlag#ON_DEMAND} regions may be used for by each transport; empty for no on-demand paging}
     * C: {@code odp_caps.per_transport_caps}.
     */
    Map<QueuePairType, Set<OnDemandCapability>> onDemandPaging();

    /**
     * {@return the bits of that for each transport that has any, also those without a name} C: {@code
     * odp_caps.per_transport_caps}.
     */
    Map<QueuePairType, Integer> onDemandPagingBits();

    /** {@return a limit, 0 for one that the device does not name} */
    default long limit(DeviceLimit limit) {
        return limits().getOrDefault(limit, 0L);
    }
}
