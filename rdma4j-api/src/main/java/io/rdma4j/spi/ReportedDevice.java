package io.rdma4j.spi;

import io.rdma4j.verbs.AtomicCapability;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.DeviceLimit;
import io.rdma4j.verbs.OnDemandCapability;
import io.rdma4j.verbs.QueuePairType;

import java.util.Map;
import java.util.Set;

/** What a device reports of itself. Keeps copies of the collections. */
public record ReportedDevice(String firmwareVersion, long nodeGuid, long systemImageGuid,
        int vendorId, int vendorPartId, int hardwareVersion, int physicalPortCount,
        Set<DeviceCapability> capabilities, AtomicCapability atomicCapability,
        int localAckDelayExponent,
        int completionVectors, Map<DeviceLimit, Long> limits, long completionTimestampMask,
        long clockKhz, int maxModerationCount, int maxModerationPeriodUs, long maxDeviceMemory,
        Map<QueuePairType, Set<OnDemandCapability>> onDemandPaging) implements DeviceAttributes {
    public ReportedDevice {
        capabilities = Set.copyOf(capabilities);
        limits = Map.copyOf(limits);
        onDemandPaging = Map.copyOf(onDemandPaging);
    }
}
