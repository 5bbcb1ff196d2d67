// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.device;

import io.rdma4j.softnic.host.HostWatch;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Has open devices look at their network interfaces after each change, and once a second at what changes without a
 * message. Each device has a thread of its own while it is watched: a look may wait for another process, and must not delay
 * the looks at other devices. Thread safe.
 */
public final class PortMonitor {
    /** That of the process. */
    static final PortMonitor OF_PROCESS = new PortMonitor(1_000, HostWatch.OF_PROCESS);

    private static final System.Logger LOG = System.getLogger(PortMonitor.class.getName());

    /** A device whose interface is checked. */
    public interface Watched {
        /** {@return its name, for the log} */
        String name();

        /** Looks at its interface. Called without a lock. */
        void lookAtPort();

        /** Looks at what changes without a message: what other processes have given back, and what it does not use any more. Called without a lock. */
        void lookRegularly();
    }

    private final long intervalNs;
    private final HostWatch host;
    private final Map<Watched, Watch> watches = new HashMap<>();

    /** @param intervalMs the time between two regular looks */
    public PortMonitor(long intervalMs, HostWatch host) {
        intervalNs = TimeUnit.MILLISECONDS.toNanos(intervalMs);
        this.host = host;
    }

    /** Begins to look at a device: now, and after each change. */
    public synchronized void watch(Watched device) {
        Watch watch = new Watch(device, intervalNs);
        boolean isWatched = false;
        try {
            watches.put(device, watch);
            host.watch(watch);
            Thread.ofPlatform().daemon().name("rdma4j-ports").start(watch::look);
            isWatched = true;
        } finally {
            if (!isWatched) {
                // There is no thread for it, perhaps.
                forget(device);
            }
        }
    }

    /** Stops checking a device. A look that has begun goes on. */
    public synchronized void forget(Watched device) {
        Watch watch = watches.remove(device);
        if (watch != null) {
            host.forget(watch);
            watch.end();
        }
    }

    /** The looks at one device. It is run when the interfaces have changed. */
    private static final class Watch implements Runnable {
        private final Watched device;
        private final long intervalNs;
        private final Semaphore changes = new Semaphore(0);
        private volatile boolean isOver;

        Watch(Watched device, long intervalNs) {
            this.device = device;
            this.intervalNs = intervalNs;
        }

        @Override
        public void run() {
            changes.release();
        }

        void end() {
            isOver = true;
            changes.release();
        }

        /** Looks until {@link #end}. */
        void look() {
            boolean hasChanged = true;
            long dueNs = System.nanoTime() + intervalNs;
            while (!isOver) {
                if (hasChanged) {
                    // After a failure it is looked at again next time.
                    hasChanged = !succeeds(device::lookAtPort);
                }
                if (System.nanoTime() - dueNs >= 0) {
                    succeeds(device::lookRegularly);
                    dueNs = System.nanoTime() + intervalNs;
                }
                hasChanged |= awaitChange(dueNs);
            }
        }

        /** {@return whether there was a change before it was time to look regularly} */
        private boolean awaitChange(long dueNs) {
            try {
                boolean hasChanged = changes.tryAcquire(dueNs - System.nanoTime(),
                        TimeUnit.NANOSECONDS);
                changes.drainPermits();
                return hasChanged;
            } catch (InterruptedException e) {
                // No code interrupts this thread on purpose; it ends with its device.
                return true;
            }
        }

        private boolean succeeds(Runnable look) {
            try {
                look.run();
                return true;
            } catch (RuntimeException | Error failed) {
                // The device is being closed at this moment, its owner's watcher fails, or memory is short.
                logFailure(failed);
                return false;
            }
        }

        private void logFailure(Throwable failed) {
            try {
                LOG.log(System.Logger.Level.DEBUG,
                        "the port of " + device.name() + " could not be looked at", failed);
            } catch (RuntimeException | Error notEvenLogged) {
                // The next look may find memory again, or a working log.
            }
        }
    }
}
