package io.rdma4j.verbs;

import java.util.Map;
import java.util.Set;

/**
 * What a device is and can do beyond {@link DeviceAttributes}.
 *
 * <p>C: {@code struct ibv_device_attr_ex}, {@code ibv_query_device_ex}. What this interface does not
 * offer on any device (TSO, RSS, tag matching, raw packets, packet pacing) has no field.
 *
 * @param basic the attributes of {@code ibv_query_device} ({@code orig_attr})
 * @param physicalPortCount ports, numbered from 1 ({@code phys_port_cnt_ex})
 * @param completionTimestampMask the bits of a completion timestamp that count; 0 if there are none
 *        ({@code completion_timestamp_mask})
 * @param clockKhz the rate of the clock that completion timestamps come from, 0 if there is none
 *        ({@code hca_core_clock})
 * @param maxModerationCount the most completions one notification may wait for, 0 for no moderation
 *        ({@code cq_mod_caps.max_cq_count})
 * @param maxModerationPeriodUs the longest a notification may be put off, in microseconds
 *        ({@code cq_mod_caps.max_cq_period})
 * @param maxDeviceMemory bytes of device memory that can be allocated, 0 for none ({@code max_dm_size})
 * @param onDemandPaging what {@link AccessFlag#ON_DEMAND} regions may be used for by each transport; empty for
 *        no on-demand paging ({@code odp_caps.per_transport_caps})
 */
public record ExtendedDeviceAttributes(DeviceAttributes basic, int physicalPortCount,
        long completionTimestampMask, long clockKhz, int maxModerationCount,
        int maxModerationPeriodUs, long maxDeviceMemory,
        Map<QueuePairType, Set<OnDemandCapability>> onDemandPaging) {

    /** Keeps a copy of the map. */
    public ExtendedDeviceAttributes {
        onDemandPaging = Map.copyOf(onDemandPaging);
    }
}
