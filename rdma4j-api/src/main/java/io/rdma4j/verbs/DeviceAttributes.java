package io.rdma4j.verbs;

import java.util.Map;
import java.util.Set;

/**
 * What a device is and can do.
 *
 * <p>C: {@code struct ibv_device_attr}, {@code ibv_query_device}. A limit the device does not name is
 * zero.
 *
 * @param firmwareVersion the version of what runs the device
 * @param nodeGuid the node's identifier
 * @param systemImageGuid the identifier shared by all nodes of one machine
 * @param vendorId the vendor, an IEEE number
 * @param vendorPartId the vendor's part number
 * @param hardwareVersion the vendor's version
 * @param physicalPortCount ports, numbered from 1
 * @param capabilities what it can do
 * @param atomicCapability how far its atomics are atomic
 * @param localAckDelay the delay it may add before it acknowledges: 4.096 us times 2 to this power
 * @param completionVectors completion vectors
 * @param limits its limits
 */
public record DeviceAttributes(String firmwareVersion, long nodeGuid, long systemImageGuid,
        int vendorId, int vendorPartId, int hardwareVersion, int physicalPortCount,
        Set<DeviceCapability> capabilities, AtomicCapability atomicCapability, int localAckDelay,
        int completionVectors, Map<DeviceLimit, Long> limits) {

    /** Keeps copies of the collections. */
    public DeviceAttributes {
        capabilities = Set.copyOf(capabilities);
        limits = Map.copyOf(limits);
    }

    /** {@return a limit} */
    public long limit(DeviceLimit limit) {
        return limits.getOrDefault(limit, 0L);
    }
}
