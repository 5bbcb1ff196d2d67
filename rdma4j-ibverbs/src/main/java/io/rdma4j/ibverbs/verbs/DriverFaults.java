package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;

import java.util.Collections;
import java.util.Set;

/**
 * What the driver of a device does wrong, and is done right here. The faults were seen with Linux 6.1 and rdma-core 44; a
 * driver that has been mended is not hurt by the remedy.
 *
 * @param losesLateWork whether what is posted in state ERR never completes. siw's library puts it into a queue that the
 *        kernel does not look at any more
 * @param confusesFlags whether a receive that a SEND with invalidation met is marked as {@code IBV_WC_IP_CSUM_OK}. rxe gives
 *        programs the flag's number in the kernel; only a device that checks no checksums can mean that by it
 */
record DriverFaults(boolean losesLateWork, boolean confusesFlags) {
    private static final int SIW = 0x626d74;
    private static final Set<DeviceCapability> CHECKSUMS = Set.of(DeviceCapability.UD_IP_CSUM,
            DeviceCapability.RC_IP_CSUM, DeviceCapability.RAW_IP_CSUM);

    static DriverFaults of(DeviceAttributes device) {
        return new DriverFaults(device.vendorId() == SIW,
                Collections.disjoint(device.capabilities(), CHECKSUMS));
    }
}
