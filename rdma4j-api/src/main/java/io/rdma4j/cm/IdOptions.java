// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.spi.CmOptions;
import io.rdma4j.verbs.Mtu;
import org.jspecify.annotations.Nullable;

/** The options of an id. */
final class IdOptions {
    volatile int typeOfService;
    volatile boolean reuseAddress;
    volatile boolean addressFamilyOnly;
    volatile @Nullable Integer ackTimeoutExponent;
    volatile @Nullable Mtu pathMtu;
    volatile @Nullable String device;

    /** {@return those a device has to know} */
    CmOptions forDevice() {
        return new CmOptions(typeOfService, ackTimeoutExponent, pathMtu);
    }

    /** {@return the devices that may serve the id} */
    DeviceSelection devices() {
        return DeviceSelection.of(device);
    }
}
