// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Opens and closes every object of a device of the system thousands of times, and tells of each kind of object what was
 * left behind: descriptors, objects of the kernel, pinned and locked pages, memory.
 *
 * <p>{@code java -Drdma4j.test.native.device=rxe0 -Drdma4j.test.native.address=10.77.0.11 io.rdma4j.ibverbs.NativeLeaks
 * [TIMES [REGEX]]}: does it 10,000 times, or TIMES, with the objects in whose name the regular expression is found. The heap
 * must be of fixed size and touched, and the C library is to have one arena ({@code MALLOC_ARENA_MAX=1}).
 */
public final class NativeLeaks {
    private static final int USUAL_TIMES = 10_000;
    private static final int LONG_SHARE = 10;
    /** Of all times, those that go first, in which JVM and libraries take what they keep. */
    private static final int WARM_UP_SHARE = 10;
    /** What a JVM and a kernel take for themselves meanwhile, and what an object may leave: less than any of them. */
    private static final long MOST_BYTES = 1 << 20;
    private static final int MOST_BYTES_EACH = 24;
    private static final int LEAKS = 1;
    private static final int UNUSABLE = 2;

    private final String device;
    private int leaks;

    private NativeLeaks(String device) {
        this.device = device;
    }

    /** Ends with status 0 if nothing was left, 1 if something was, 2 if nothing could be tried. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        int times = arguments.length > 0 ? Integer.parseInt(arguments[0]) : USUAL_TIMES;
        Pattern wanted = Pattern.compile(arguments.length > 1 ? arguments[1] : "");
        NativeLeaks run;
        try {
            NativeSubject subject = NativeSubject.ofSystem();
            run = new NativeLeaks(subject.device().name());
            try (ObjectCycles cycles = new ObjectCycles(subject.device(), subject.address())) {
                for (Map.Entry<String, ObjectCycles.Kind> each : cycles.kinds().entrySet()) {
                    if (wanted.matcher(each.getKey()).find()) {
                        run.tryOut(each.getKey(), each.getValue(), times);
                    }
                }
            }
        } catch (RdmaException e) {
            System.err.println(e.getMessage());
            System.exit(UNUSABLE);
            return;
        }
        System.out.println(run.leaks == 0 ? "nothing was left" : run.leaks + " leak(s)");
        System.exit(run.leaks == 0 ? 0 : LEAKS);
    }

    private void tryOut(String name, ObjectCycles.Kind kind, int times)
            throws IOException, InterruptedException {
        int count = kind.isLong() ? Math.max(1, times / LONG_SHARE) : times;
        long startNs = System.nanoTime();
        try {
            repeat(kind.cycle(), Math.max(1, count / WARM_UP_SHARE));
            HeldResources before = HeldResources.now(device);
            repeat(kind.cycle(), count);
            HeldResources after = HeldResources.now(device);
            if (!left(before, after, count).isEmpty()) {
                // What is taken once and for all is not taken twice.
                before = after;
                repeat(kind.cycle(), count);
                after = HeldResources.now(device);
            }
            tell(name, count, startNs, before, after);
        } catch (RdmaException e) {
            boolean isLacking = e.errno() == Errno.EOPNOTSUPP;
            leaks += isLacking ? 0 : 1;
            System.out.println((isLacking ? "not supported " : "FAILED        ") + name + ": "
                    + e.getMessage());
        }
    }

    private void tell(String name, int count, long startNs, HeldResources before,
            HeldResources after) {
        List<String> left = left(before, after, count);
        String grown = before.growth(after).entrySet().stream()
                .map(each -> each.getKey() + String.format(" %+d KiB", each.getValue() >> 10))
                .collect(Collectors.joining(", "));
        System.out.printf("%s %6d times, %4d s, %s: %s%n", left.isEmpty() ? "ok    " : "LEAK  ",
                count, (System.nanoTime() - startNs) / 1_000_000_000, name,
                left.isEmpty() ? grown : String.join(", ", left) + "; " + grown);
        leaks += left.isEmpty() ? 0 : 1;
    }

    private static List<String> left(HeldResources before, HeldResources after, int count) {
        return before.leftIn(after, MOST_BYTES + (long) MOST_BYTES_EACH * count);
    }

    private static void repeat(ObjectCycles.Cycle cycle, int times) throws RdmaException {
        for (int i = 0; i < times; i++) {
            cycle.run();
        }
    }
}
