// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegionInitAttributes;
import io.rdma4j.verbs.RdmaException;

/** Where a region lies that is to be registered. */
public enum RegionPlace {
    /** In a segment of the process. */
    SEGMENT,
    /** In memory of the device. */
    DEVICE_MEMORY,
    /** In memory of another device. */
    DMA_BUF;

    /**
     * {@return the one that is set}
     *
     * @throws RdmaException EINVAL if none or more than one is set
     */
    public static RegionPlace of(MemoryRegionInitAttributes attributes) throws RdmaException {
        int set = (attributes.segment() == null ? 0 : 1)
                + (attributes.deviceMemory() == null ? 0 : 1)
                + (attributes.dmaBuf() == null ? 0 : 1);
        if (set != 1) {
            throw new RdmaException(Errno.EINVAL, "register memory", "a region lies in one of"
                    + " segment, device memory and dma-buf; " + set + " of them are set");
        }
        if (attributes.segment() != null) {
            return SEGMENT;
        }
        return attributes.deviceMemory() != null ? DEVICE_MEMORY : DMA_BUF;
    }
}
