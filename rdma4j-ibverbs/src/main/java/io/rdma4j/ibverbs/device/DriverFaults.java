// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;

import java.util.Collections;
import java.util.Set;

/**
 * Faults of a device's driver that are worked around here. They were seen with Linux 6.1 and rdma-core 44; the workarounds
 * do no harm with a fixed driver.
 *
 * @param losesLateRequests whether requests that are posted after the kernel has entered state ERR never complete. siw's library
 *        puts them into a queue that the kernel no longer reads. It also leaves a send there for which the kernel returns
 *        an error because the connection is ending, and then names no refused request
 * @param confusesFlags whether the receive of a SEND with invalidation is marked as {@code IBV_WC_IP_CSUM_OK}. rxe passes
 *        the kernel's value of the flag to programs, which is unambiguous only on a device that does not check checksums
 */
public record DriverFaults(boolean losesLateRequests, boolean confusesFlags) {
    private static final int SIW = 0x626d74;
    private static final Set<DeviceCapability> CHECKSUMS = Set.of(DeviceCapability.UD_IP_CSUM,
            DeviceCapability.RC_IP_CSUM, DeviceCapability.RAW_IP_CSUM);

    public static DriverFaults of(DeviceAttributes device) {
        return new DriverFaults(device.vendorId() == SIW,
                Collections.disjoint(device.capabilities(), CHECKSUMS));
    }
}
