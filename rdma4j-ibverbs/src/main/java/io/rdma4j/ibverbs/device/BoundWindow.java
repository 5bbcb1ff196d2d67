// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.verbs.MemoryRegion;
import org.jspecify.annotations.Nullable;

/** A memory window, as the region to which it may be bound sees it. */
public interface BoundWindow {
    /** {@return the region to which it is bound, null for none} */
    @Nullable
    MemoryRegion boundTo();

    /** Ends its access, with that of the region. */
    void endAccess();
}
