package io.rdma4j.softnic.device;

import io.rdma4j.softnic.host.HostWatch;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Has open devices look at their network interfaces after each change, and once a second at what they share with other
 * processes. Each device has a thread of its own while it is watched: a look may wait for another process, and must not delay
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

        /** Looks at what it shares with other processes. Called without a lock. */
        void lookAtShared();
    }

    private final long intervalMs;
    private final HostWatch host;
    private final Map<Watched, Watch> watches = new HashMap<>();

    /** @param intervalMs how often a device looks at what it shares, and at its interface without having heard of a change */
    public PortMonitor(long intervalMs, HostWatch host) {
        this.intervalMs = intervalMs;
        this.host = host;
    }

    /** Begins to look at a device: now, and after each change. */
    public synchronized void watch(Watched device) {
        Watch watch = new Watch(device, intervalMs);
        watches.put(device, watch);
        host.watch(watch);
        Thread.ofPlatform().daemon().name("rdma4j-ports").start(watch::look);
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
        private final long intervalMs;
        private final Semaphore changes = new Semaphore(0);
        private volatile boolean isOver;

        Watch(Watched device, long intervalMs) {
            this.device = device;
            this.intervalMs = intervalMs;
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
            boolean isDue = false;
            while (!isOver) {
                try {
                    lookOnce(isDue);
                } catch (RuntimeException | Error notEvenLogged) {
                    // The next look may find memory again, or a working log.
                }
                isDue = !hasChanged();
            }
        }

        /** {@return after a while, whether that was because of a change} */
        private boolean hasChanged() {
            try {
                boolean hasChanged = changes.tryAcquire(intervalMs, TimeUnit.MILLISECONDS);
                changes.drainPermits();
                return hasChanged;
            } catch (InterruptedException e) {
                // No code interrupts this thread on purpose; it ends with its device.
                return true;
            }
        }

        private void lookOnce(boolean isDue) {
            try {
                device.lookAtPort();
                if (isDue) {
                    device.lookAtShared();
                }
            } catch (RuntimeException | Error failed) {
                // The device is being closed at this moment, its owner's watcher fails, or memory is short: it is
                // looked at again next time.
                LOG.log(System.Logger.Level.DEBUG,
                        "the port of " + device.name() + " could not be looked at", failed);
            }
        }
    }
}
