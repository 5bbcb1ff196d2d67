package io.rdma4j.verbs;

import java.util.Map;
import java.util.Set;

/**
 * What a device is and can do.
 *
 * <p>C: {@code struct ibv_device_attr}, {@code ibv_query_device}. A limit the device does not name is
 * zero.
 *
 * @param firmwareVersion the version of what runs the device ({@code fw_ver})
 * @param nodeGuid the node's identifier ({@code node_guid})
 * @param systemImageGuid the identifier shared by all nodes of one machine ({@code sys_image_guid})
 * @param vendorId the vendor, an IEEE number ({@code vendor_id})
 * @param vendorPartId the vendor's part number ({@code vendor_part_id})
 * @param hardwareVersion the vendor's version ({@code hw_ver})
 * @param physicalPortCount ports, numbered from 1 ({@code phys_port_cnt})
 * @param capabilities what it can do ({@code device_cap_flags})
 * @param atomicCapability how far its atomics are atomic ({@code atomic_cap})
 * @param localAckDelay the delay it may add before it acknowledges: 4.096 us times 2 to this power
 *        ({@code local_ca_ack_delay})
 * @param completionVectors completion vectors ({@code ibv_context.num_comp_vectors})
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
