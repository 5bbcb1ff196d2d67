// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.OnDemandCapability;
import io.rdma4j.verbs.QueuePairType;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;

/** What a device reports of itself, in the numbers of verbs.h. Keeps copies of the collections. */
public record ReportedDevice(String firmwareVersion, long nodeGuid, long systemImageGuid,
        int vendorId, int vendorPartId, int hardwareVersion, int physicalPortCount,
        int capabilityFlags, int atomicCapabilityCode, int localAckDelayExponent,
        int completionVectors, Map<DeviceLimit, Long> limits, long completionTimestampMask,
        long clockKhz, int maxModerationCount, int maxModerationPeriodUs, long maxDeviceMemory,
        Map<QueuePairType, Integer> onDemandPagingBits) implements DeviceAttributes {
    public ReportedDevice {
        limits = Map.copyOf(limits);
        onDemandPagingBits = Map.copyOf(onDemandPagingBits);
    }

    @Override
    public Set<DeviceCapability> capabilities() {
        return ReportedBits.named(capabilityFlags, DeviceCapability.class, DeviceCapability::bit);
    }

    @Override
    public AtomicCapability atomicCapability() {
        return AtomicCapability.ofCode(atomicCapabilityCode);
    }

    @Override
    public Map<QueuePairType, Set<OnDemandCapability>> onDemandPaging() {
        Map<QueuePairType, Set<OnDemandCapability>> paging = new EnumMap<>(QueuePairType.class);
        onDemandPagingBits.forEach((type, bits) -> {
            Set<OnDemandCapability> named = ReportedBits.named(bits, OnDemandCapability.class,
                    OnDemandCapability::bit);
            if (!named.isEmpty()) {
                paging.put(type, named);
            }
        });
        return Collections.unmodifiableMap(paging);
    }
}
