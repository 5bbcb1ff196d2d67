// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory that a device allocates for a region: for providers' {@code ProtectionDomain.allocateRegion}. */
public final class RegionMemory {
    private static final long PAGE = 4096;
    private static final long HUGE_PAGE = 2L << 20;

    private RegionMemory() {}

    /**
     * {@return zeroed memory, aligned to a page, or to a huge page if it fills one}
     *
     * @param operation for errors
     * @throws RdmaException EINVAL for less than one byte, ENOMEM if the system has not so much
     */
    public static MemorySegment allocate(Arena arena, String operation, long byteSize)
            throws RdmaException {
        if (byteSize < 1) {
            throw new RdmaException(Errno.EINVAL, operation,
                    "a region has at least 1 byte, not " + byteSize);
        }
        try {
            return arena.allocate(byteSize, byteSize < HUGE_PAGE ? PAGE : HUGE_PAGE);
        } catch (OutOfMemoryError tooMuch) {
            throw new RdmaException(Errno.ENOMEM, operation,
                    "the system has no " + byteSize + " bytes of native memory", tooMuch);
        } catch (IllegalArgumentException tooLong) {
            throw new RdmaException(Errno.ENOMEM, operation,
                    byteSize + " bytes are more than a process can have", tooLong);
        }
    }
}
