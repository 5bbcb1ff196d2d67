package io.rdma4j.ibverbs.verbs;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/** What is checked of memory before the library sees it. */
final class RegionChecks {
    private RegionChecks() {}

    /** @throws RdmaException EINVAL for memory that cannot be registered with these rights */
    static void check(String operation, MemorySegment segment, Set<AccessFlag> access)
            throws RdmaException {
        String why = reason(segment, access);
        if (why != null) {
            throw new RdmaException(Errno.EINVAL, operation, why);
        }
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
        if ((access.contains(AccessFlag.REMOTE_WRITE) || access.contains(AccessFlag.REMOTE_ATOMIC))
                && !access.contains(AccessFlag.LOCAL_WRITE)) {
            return "REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE as well";
        }
        if (access.contains(AccessFlag.FLUSH_PERSISTENT) && !segment.isMapped()) {
            return "FLUSH_PERSISTENT is for a segment that maps a file";
        }
        return null;
    }
}
