// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Checks whether memory is mapped. A segment can be outside of mapped memory, because {@link
 * MemorySegment#reinterpret(long)} checks nothing; an access would then end the JVM.
 */
public final class AddressSpace {
    private static final boolean IS_LINUX = System.getProperty("os.name", "").equals("Linux");
    private static final Path MAPS = Path.of("/proc/self/maps");

    private AddressSpace() {}

    /** Loaded only if native access is enabled. */
    private static final class Native {
        private static final int MS_ASYNC = 1;
        private static final CFunction MSYNC = CFunction.ofInt("msync");
        private static final long PAGE_BYTES = CFunction.ofInt("getpagesize").call();

        /** msync(2) with this flag only checks whether every page is mapped. */
        static boolean isMapped(long address, long length) {
            long start = address & -PAGE_BYTES;
            return MSYNC.call(start, address - start + length, MS_ASYNC) == 0;
        }
    }

    /**
     * {@return whether a native segment is known to be, in whole or in part, outside of mapped memory} On other systems
     * than Linux this is never known. Without native access it is checked only for segments of no arena or of the global
     * one, because the check is slow.
     */
    public static boolean isMissing(MemorySegment segment) {
        if (!IS_LINUX) {
            return false;
        }
        if (AddressSpace.class.getModule().isNativeAccessEnabled()) {
            // A system call filter may refuse the call.
            return !Native.isMapped(segment.address(), segment.byteSize()) && !isListed(segment);
        }
        return segment.scope().equals(Arena.global().scope()) && !isListed(segment);
    }

    /** Looks into the list of mappings, which is in order. */
    static boolean isListed(MemorySegment segment) {
        long from = segment.address();
        long end = from + segment.byteSize();
        try (BufferedReader maps = Files.newBufferedReader(MAPS, StandardCharsets.ISO_8859_1)) {
            for (String line = maps.readLine(); line != null; line = maps.readLine()) {
                int dash = line.indexOf('-');
                long mappedFrom = Long.parseUnsignedLong(line, 0, dash, 16);
                long mappedEnd = Long.parseUnsignedLong(line, dash + 1, line.indexOf(' '), 16);
                if (Long.compareUnsigned(mappedFrom, from) <= 0
                        && Long.compareUnsigned(from, mappedEnd) < 0) {
                    from = mappedEnd;
                }
                if (Long.compareUnsigned(from, end) >= 0) {
                    return true;
                }
            }
            return false;
        } catch (IOException unreadable) {
            // Not known.
            return true;
        }
    }
}
