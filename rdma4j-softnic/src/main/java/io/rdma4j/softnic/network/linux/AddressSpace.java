package io.rdma4j.softnic.network.linux;

import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

/**
 * What the process has mapped. A segment need not lie there: {@link MemorySegment#reinterpret(long)} believes what it is
 * told, and an access ends the JVM.
 */
public final class AddressSpace {
    private static final boolean IS_LINUX = System.getProperty("os.name", "").equals("Linux");
    private static final Path MAPS = Path.of("/proc/self/maps");

    private AddressSpace() {}

    /** Where native access is enabled. */
    private static final class Native {
        private static final int MS_ASYNC = 1;
        private static final MethodHandle MSYNC = LinuxCalls.plain("msync", JAVA_INT, JAVA_LONG,
                JAVA_LONG, JAVA_INT);
        private static final long PAGE_BYTES = pageBytes();

        /** getpagesize(2). */
        private static long pageBytes() {
            try {
                return (int) LinuxCalls.plain("getpagesize", JAVA_INT).invokeExact();
            } catch (Throwable t) {
                throw new IllegalStateException(t);
            }
        }

        /** msync(2), which asks whether every page is mapped, and with this flag does nothing else. */
        static boolean isMapped(long address, long length) {
            long start = address & -PAGE_BYTES;
            try {
                return (int) MSYNC.invokeExact(start, address - start + length, MS_ASYNC) == 0;
            } catch (Throwable t) {
                throw new IllegalStateException(t);
            }
        }
    }

    /**
     * {@return whether it is known that a native segment lies, in whole or in part, where nothing is mapped} On other
     * systems than Linux that is never known. Without native access only of segments that belong to no arena, or to the
     * global one, for it takes a while.
     */
    public static boolean isMissing(MemorySegment segment) {
        if (!IS_LINUX) {
            return false;
        }
        if (AddressSpace.class.getModule().isNativeAccessEnabled()) {
            // A filter of system calls may refuse to answer.
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
            // Nobody can tell.
            return true;
        }
    }
}
