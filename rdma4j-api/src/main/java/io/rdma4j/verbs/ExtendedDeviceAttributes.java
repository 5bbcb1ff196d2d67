package io.rdma4j.verbs;

import java.util.Map;
import java.util.Set;

/**
 * What a device is and can do beyond {@link DeviceAttributes}.
 *
 * <p>C: {@code struct ibv_device_attr_ex}, {@code ibv_query_device_ex}. What this interface does not
 * offer on any device (TSO, RSS, tag matching, raw packets, packet pacing) has no field.
 *
 * @param basic the attributes of {@code ibv_query_device}
 * @param physicalPortCount ports, numbered from 1 ({@code phys_port_cnt_ex})
 * @param completionTimestampMask the bits of a completion timestamp that count; 0 if there are none
 * @param clockKhz the rate of the clock that completion timestamps come from, 0 if there is none
 * @param maxModerationCount the most completions one notification may wait for, 0 for no moderation
 * @param maxModerationPeriodUs the longest a notification may be put off, in microseconds
 * @param maxDeviceMemory bytes of device memory that can be allocated, 0 for none
 * @param onDemandPaging what {@link AccessFlag#ON_DEMAND} regions may be used for by each transport;
 *        empty for no on-demand paging
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
