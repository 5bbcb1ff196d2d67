// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.memory;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ScatterGatherList;

/** Checks that the memory of a request still exists, and that its length fits 32 bits. */
public final class RegionLiveness {
    private RegionLiveness() {}

    /**
     * Looks at the first elements.
     *
     * @throws RdmaException EFAULT if an arena was closed, EMSGSIZE if an element is too long
     */
    public static void check(DomainServices domain, ScatterGatherList elements, int count,
            String operation) throws RdmaException {
        for (int i = 0; i < count; i++) {
            if (elements.length(i) > Elements.LONGEST) {
                throw new RdmaException(Errno.EMSGSIZE, operation, "element " + i + " has "
                        + elements.length(i) + " bytes; at most " + Elements.LONGEST
                        + " are possible");
            }
            NativeMemoryRegion region = domain.regions().find(elements.lkey(i));
            if (region != null && !region.isAlive()) {
                region.endAccess();
                throw new RdmaException(Errno.EFAULT, operation,
                        "the memory of element " + i + " is not registered any more: its arena is"
                                + " closed, or reregistering failed; close regions before their"
                                + " arenas");
            }
        }
    }
}
