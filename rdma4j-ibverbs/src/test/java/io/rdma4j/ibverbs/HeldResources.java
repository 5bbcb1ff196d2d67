// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * What a process holds of its machine, as Linux and the C library count it: descriptors, memory, pinned and locked pages,
 * and the kernel's RDMA objects.
 *
 * @param counted what can be counted one by one, and must be as it was
 * @param bytes memory, of which a JVM always takes a little more
 */
record HeldResources(Map<String, Long> counted, Map<String, Long> bytes) {
    private static final Path STATUS = Path.of("/proc/self/status");
    private static final Path MEMORY = Path.of("/proc/meminfo");
    private static final Path MAPPINGS = Path.of("/proc/self/maps");
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Pattern KIBIBYTES = Pattern.compile("(\\w+):\\s+(\\d+) kB");
    private static final Pattern RESOURCE = Pattern.compile("(\\w+) (\\d+)");
    private static final long KIB = 1024;
    /** Of {@code struct mallinfo2}: ten numbers, of which the second last but one counts what is in use. */
    private static final int FIELDS_OF_MALLINFO = 10;
    private static final int IN_MAPPINGS = 4;
    private static final int IN_USE = 7;
    private static final MethodHandle MALLINFO = Linker.nativeLinker().downcallHandle(
            Linker.nativeLinker().defaultLookup().findOrThrow("mallinfo2"),
            FunctionDescriptor.of(MemoryLayout.structLayout(
                    MemoryLayout.sequenceLayout(FIELDS_OF_MALLINFO, ValueLayout.JAVA_LONG))));

    /** {@return what is held now; garbage of Java, which may hold something, is collected first} */
    static HeldResources now(String device) throws IOException, InterruptedException {
        System.gc();
        Map<String, Long> counted = new TreeMap<>(kernelObjects(device));
        counted.putAll(descriptors());
        counted.put("mappings of the device", mappings());
        Map<String, Long> status = kibibytes(STATUS);
        counted.put("pinned KiB", status.getOrDefault("VmPin", 0L));
        counted.put("locked KiB", status.getOrDefault("VmLck", 0L));
        Map<String, Long> bytes = new TreeMap<>();
        // Without pages of files, such as those of the JVM's own code.
        bytes.put("resident", (status.getOrDefault("RssAnon", 0L)
                + status.getOrDefault("RssShmem", 0L)) * KIB);
        bytes.put("allocated in C", allocated());
        bytes.put("kernel objects", kibibytes(MEMORY).getOrDefault("SUnreclaim", 0L) * KIB);
        return new HeldResources(counted, bytes);
    }

    /** {@return how many descriptors there are of each file or kind} */
    private static Map<String, Long> descriptors() throws IOException {
        try (Stream<Path> all = Files.list(DESCRIPTORS)) {
            return all.map(HeldResources::target).collect(Collectors.groupingBy(
                    target -> "descriptors of " + target, TreeMap::new, Collectors.counting()));
        }
    }

    private static String target(Path link) {
        try {
            // Sockets and their like have a number behind their kind.
            return Files.readSymbolicLink(link).toString().replaceAll(":\\[\\d+]$", "");
        } catch (IOException e) {
            return "something just closed";
        }
    }

    /** {@return how many queues of the driver's are mapped} */
    private static long mappings() throws IOException {
        try (Stream<String> lines = Files.lines(MAPPINGS)) {
            return lines.filter(line -> line.contains("/infiniband/")).count();
        }
    }

    private static Map<String, Long> kibibytes(Path file) throws IOException {
        Map<String, Long> found = new TreeMap<>();
        Matcher each = KIBIBYTES.matcher(Files.readString(file));
        while (each.find()) {
            found.put(each.group(1), Long.valueOf(each.group(2)));
        }
        return found;
    }

    /** {@return how many objects the kernel has of a device, of all processes} The command is that of iproute2. */
    private static Map<String, Long> kernelObjects(String device)
            throws IOException, InterruptedException {
        Process process = new ProcessBuilder("rdma", "resource", "show", device)
                .redirectErrorStream(true).start();
        String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("rdma resource show " + device + ": " + told.strip());
        }
        Map<String, Long> found = new TreeMap<>();
        Matcher each = RESOURCE.matcher(told.substring(told.indexOf(device) + device.length()));
        while (each.find()) {
            found.put(each.group(1), Long.valueOf(each.group(2)));
        }
        return found;
    }

    /** {@return the bytes that malloc has given away} It tells of its first arena alone: MALLOC_ARENA_MAX is to be 1. */
    private static long allocated() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment told = (MemorySegment) MALLINFO.invokeExact((SegmentAllocator) arena);
            return told.getAtIndex(ValueLayout.JAVA_LONG, IN_USE)
                    + told.getAtIndex(ValueLayout.JAVA_LONG, IN_MAPPINGS);
        } catch (Throwable e) {
            throw new IllegalStateException("mallinfo2 cannot be called", e);
        }
    }

    /**
     * {@return what a later moment has more of than this one, in words; empty if nothing counts}
     *
     * @param mostBytes how much more memory is none of a leak's
     */
    List<String> leftIn(HeldResources later, long mostBytes) {
        List<String> left = new ArrayList<>();
        later.counted.forEach((what, count) -> {
            long more = count - counted.getOrDefault(what, 0L);
            if (more > 0) {
                left.add(more + " more " + what);
            }
        });
        growth(later).forEach((what, more) -> {
            if (more > mostBytes) {
                left.add((more >> 10) + " KiB more " + what);
            }
        });
        return left;
    }

    /** {@return by how many bytes each kind of memory has grown} */
    Map<String, Long> growth(HeldResources later) {
        Map<String, Long> grown = new TreeMap<>();
        later.bytes.forEach((what, count) -> grown.put(what, count - bytes.getOrDefault(what, 0L)));
        return grown;
    }
}
