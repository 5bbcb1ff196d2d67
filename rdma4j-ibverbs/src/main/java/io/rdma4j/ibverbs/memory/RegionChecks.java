// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.memory;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/** The checks of memory before it is passed to the library. */
public final class RegionChecks {
    private static final String NEEDS_LOCAL_WRITE = "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE as well";

    private RegionChecks() {}

    /** @throws RdmaException EINVAL for memory that cannot be registered with these rights */
    public static void check(String operation, MemorySegment segment, Set<AccessFlag> access)
            throws RdmaException {
        String why = reason(segment, access);
        if (why != null) {
            throw new RdmaException(Errno.EINVAL, operation, why);
        }
    }

    /** @throws RdmaException EINVAL for a range of a dma-buf that cannot be registered with these rights */
    public static void checkDmaBuf(String operation, int fd, long offset, long length,
            Set<AccessFlag> access) throws RdmaException {
        String why = reason(fd, offset, length, access);
        if (why != null) {
            throw new RdmaException(Errno.EINVAL, operation, why);
        }
    }

    private static @Nullable String reason(int fd, long offset, long length,
            Set<AccessFlag> access) {
        if (fd < 0) {
            return fd + " is no file descriptor; a dma-buf's is from 0";
        }
        if (offset < 0) {
            return "the offset must be from 0, not " + offset;
        }
        if (length < 1) {
            return "the region must have at least 1 byte, not " + length;
        }
        return isWrittenByPeersAlone(access) ? NEEDS_LOCAL_WRITE : null;
    }

    private static boolean isWrittenByPeersAlone(Set<AccessFlag> access) {
        return (access.contains(AccessFlag.REMOTE_WRITE)
                || access.contains(AccessFlag.REMOTE_ATOMIC))
                && !access.contains(AccessFlag.LOCAL_WRITE);
    }

    private static @Nullable String reason(MemorySegment segment,
            Set<AccessFlag> access) {
        if (!segment.isNative()) {
            return "the segment is on the heap, where the garbage collector moves it; allocate it"
                    + " from an Arena";
        }
        if (segment.byteSize() == 0) {
            return "the segment has no bytes";
        }
        if (!segment.scope().isAlive()) {
            return "the segment's arena is closed";
        }
        if (!segment.isAccessibleBy(Thread.ofVirtual().unstarted(() -> {}))) {
            return "the segment's arena is confined to one thread; use Arena.ofShared, ofAuto or"
                    + " global";
        }
        boolean isWritten = access.contains(AccessFlag.LOCAL_WRITE)
                || access.contains(AccessFlag.REMOTE_WRITE)
                || access.contains(AccessFlag.REMOTE_ATOMIC);
        if (segment.isReadOnly() && isWritten) {
            return "the segment is read-only, and the access includes writing";
        }
        if (isWrittenByPeersAlone(access)) {
            return NEEDS_LOCAL_WRITE;
        }
        if (access.contains(AccessFlag.FLUSH_PERSISTENT) && !segment.isMapped()) {
            return "FLUSH_PERSISTENT is for a segment that maps a file";
        }
        return null;
    }
}
