// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.workload;

import com.sun.management.ThreadMXBean;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;

/** The time that counts: first a warm-up that does not, then the measurement. One thread. */
public final class Stretch {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** It looks at the network interfaces once a second, whether anything is sent or not, and leaves 640 B each time. */
    private static final String INTERFACE_WATCHER = "rdma4j-ports";

    private final long warmUpNs;
    private final long lengthNs;
    private final long mostOfEach;
    private final long bornNs = System.nanoTime();
    private long startNs;
    private long endNs;
    private long startCount;
    private long endCount;
    private long startAllocated;
    private long endAllocated;
    private boolean isCounting;
    private long watcher = -1;

    /** Starts the warm-up. */
    public Stretch(Settings settings) {
        this(settings, Long.MAX_VALUE);
    }

    /**
     * As above, for work that uses up something.
     *
     * @param mostOfEach how much may be done in the warm-up, and as much again in the measurement
     */
    public Stretch(Settings settings, long mostOfEach) {
        warmUpNs = warmUpNs(settings);
        lengthNs = (long) (settings.seconds() * 1e9);
        this.mostOfEach = mostOfEach;
    }

    private static long warmUpNs(Settings settings) {
        long shortest = (long) (settings.warmUpSeconds() * 1e9);
        if (settings.countFromMs() == 0) {
            return shortest;
        }
        long left = (settings.countFromMs() - System.currentTimeMillis()) * 1_000_000;
        if (left < shortest) {
            throw new IllegalStateException("this began " + (shortest - left) / 1_000_000
                    + " ms too late to be warm when it is to count");
        }
        return left;
    }

    /**
     * {@return whether work goes on}
     *
     * @param count what was done so far
     */
    public boolean goesOn(long count) {
        return goesOn(count, System.nanoTime());
    }

    /** As above for a caller that knows the time. */
    public boolean goesOn(long count, long nowNs) {
        if (!isCounting) {
            if (nowNs - bornNs >= warmUpNs || count >= mostOfEach) {
                isCounting = true;
                watcher = find(INTERFACE_WATCHER);
                startCount = count;
                startAllocated = allocatedBytes();
                startNs = System.nanoTime();
            }
            return true;
        }
        if (nowNs - startNs < lengthNs && count - startCount < mostOfEach) {
            return true;
        }
        endNs = nowNs;
        endCount = count;
        endAllocated = allocatedBytes();
        return false;
    }

    /** {@return what threads have allocated that have to do with operations} */
    private long allocatedBytes() {
        return THREADS.getTotalThreadAllocatedBytes()
                - (watcher < 0 ? 0 : THREADS.getThreadAllocatedBytes(watcher));
    }

    /** {@return a thread's number, -1 if there is none of that name} */
    private static long find(String name) {
        for (ThreadInfo thread : THREADS.getThreadInfo(THREADS.getAllThreadIds())) {
            if (thread != null && thread.getThreadName().equals(name)) {
                return thread.getThreadId();
            }
        }
        return -1;
    }

    /** {@return whether the warm-up is over} */
    public boolean isCounting() {
        return isCounting;
    }

    /** {@return how much was done in a second} */
    public double perSecond() {
        return (endCount - startCount) * 1e9 / (endNs - startNs);
    }

    /**
     * {@return bytes that the Java threads of this process allocated for each of what was done, without the one
     * that looks at the network interfaces}
     *
     * @param each how much of the count is one operation
     */
    public double allocated(double each) {
        double operations = (endCount - startCount) / each;
        return operations > 0 ? (endAllocated - startAllocated) / operations : 0;
    }
}
