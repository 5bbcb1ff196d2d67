// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.verbs;

import io.rdma4j.softnic.network.linux.calls.AddressSpace;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/** Whether memory can be registered. Source: IBTA 10.6.3.1 for the rights. */
final class MemoryChecks {
    private static final Thread ANOTHER_THREAD = new Thread();

    private MemoryChecks() {}

    static void check(String operation, MemorySegment segment) throws RdmaException {
        if (segment.byteSize() == 0) {
            throw new RdmaException(Errno.EINVAL, operation, "the segment has no bytes");
        }
        if (!segment.isNative()) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "the segment is on the heap, where memory moves; use native or mapped memory");
        }
        if (!segment.isAccessibleBy(ANOTHER_THREAD)) {
            throw new RdmaException(Errno.EINVAL, operation, "the segment belongs to a confined"
                    + " arena, which only its own thread may use; use a shared, automatic or global one");
        }
        if (!segment.scope().isAlive()) {
            throw new RdmaException(Errno.EINVAL, operation, "the segment's arena is closed");
        }
        if (AddressSpace.isMissing(segment)) {
            throw new RdmaException(Errno.EFAULT, operation, String.format(
                    "0x%x and %d bytes are not all memory of this process", segment.address(),
                    segment.byteSize()));
        }
    }

    static void check(String operation, MemorySegment segment, Set<AccessFlag> access)
            throws RdmaException {
        boolean isWritten = access.contains(AccessFlag.LOCAL_WRITE);
        if (segment.isReadOnly() && isWritten) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "the segment is read-only, so LOCAL_WRITE is not possible");
        }
        if (!isWritten && (access.contains(AccessFlag.REMOTE_WRITE)
                || access.contains(AccessFlag.REMOTE_ATOMIC))) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE beside them");
        }
        if (access.contains(AccessFlag.FLUSH_PERSISTENT) && !segment.isMapped()) {
            throw new RdmaException(Errno.EINVAL, operation, "FLUSH_PERSISTENT needs a segment that"
                    + " maps a file; what is in other memory does not persist");
        }
    }
}
