// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce.rc;

import io.rdma4j.protocol.work.Memory;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.verbs.AccessFlag;

/** Checks accesses of the peer: both the queue pair and the memory have to allow them. IBTA 9.7.4.1.5. */
final class RemoteAccess {
    private final RcAttributes attributes;
    private final Memory memory;
    /** The location of the last allowed access. */
    final MemoryReference target = new MemoryReference();

    RemoteAccess(RcAttributes attributes, Memory memory) {
        this.attributes = attributes;
        this.memory = memory;
    }

    /** {@return whether an access is allowed} With length 0 no key is checked, and there is no target. */
    boolean allows(AccessFlag needed, int rkey, long address, long length) {
        // [IBTA 9.7.4-4]
        return attributes.allows(needed)
                && (length == 0 || memory.remote(rkey, address, length, needed, target));
    }

    /** {@return whether a packet of a request that was allowed still finds its memory} */
    boolean stillAllows(AccessFlag needed, int rkey, long address, int length) {
        return memory.remote(rkey, address, length, needed, target);
    }

    /** {@return the length of the whole memory of a key, -1 if that is not allowed} */
    long allowedWhole(AccessFlag needed, int rkey) {
        return attributes.allows(needed) ? memory.remoteWhole(rkey, needed, target) : -1;
    }
}
