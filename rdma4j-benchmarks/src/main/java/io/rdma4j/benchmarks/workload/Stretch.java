package io.rdma4j.benchmarks.workload;

import com.sun.management.ThreadMXBean;

import java.lang.management.ManagementFactory;

/** The time that counts: first a warm-up that does not, then the measurement. One thread. */
public final class Stretch {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final long warmUpNs;
    private final long lengthNs;
    private final long bornNs = System.nanoTime();
    private long startNs;
    private long endNs;
    private long startCount;
    private long endCount;
    private long startAllocated;
    private long endAllocated;
    private boolean isCounting;

    /** Starts the warm-up. */
    public Stretch(Settings settings) {
        warmUpNs = (long) (settings.warmUpSeconds() * 1e9);
        lengthNs = (long) (settings.seconds() * 1e9);
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
            if (nowNs - bornNs >= warmUpNs) {
                isCounting = true;
                startCount = count;
                startAllocated = THREADS.getTotalThreadAllocatedBytes();
                startNs = System.nanoTime();
            }
            return true;
        }
        if (nowNs - startNs < lengthNs) {
            return true;
        }
        endNs = nowNs;
        endCount = count;
        endAllocated = THREADS.getTotalThreadAllocatedBytes();
        return false;
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
     * {@return bytes that all Java threads of this process allocated for each of what was done}
     *
     * @param each how much of the count is one operation
     */
    public double allocated(double each) {
        double operations = (endCount - startCount) / each;
        return operations > 0 ? (endAllocated - startAllocated) / operations : 0;
    }
}
