package io.rdma4j.softnic.device;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Checks the network interfaces of open devices periodically, because Java has no notification of their changes. Each device
 * has a thread of its own while it is watched: a look may wait for another process, and must not delay the looks at other
 * devices. Thread safe.
 */
public final class PortMonitor {
    /** That of the process. */
    static final PortMonitor OF_PROCESS = new PortMonitor(1_000);

    private static final System.Logger LOG = System.getLogger(PortMonitor.class.getName());

    /** A device whose interface is checked. */
    public interface Watched {
        /** {@return its name, for the log} */
        String name();

        /** Looks at its interface. Called without a lock. */
        void lookAtPort();
    }

    private final long intervalMs;
    private final Map<Watched, Watch> watches = new HashMap<>();

    public PortMonitor(long intervalMs) {
        this.intervalMs = intervalMs;
    }

    /** Begins to look at a device. */
    public synchronized void watch(Watched device) {
        Watch watch = new Watch(device, intervalMs);
        watches.put(device, watch);
        Thread.ofPlatform().daemon().name("rdma4j-ports").start(watch);
    }

    /** Stops checking a device. A look that has begun goes on. */
    public synchronized void forget(Watched device) {
        Watch watch = watches.remove(device);
        if (watch != null) {
            watch.end();
        }
    }

    /** The looks at one device. */
    private static final class Watch implements Runnable {
        private final Watched device;
        private final long intervalMs;
        private final CountDownLatch end = new CountDownLatch(1);

        Watch(Watched device, long intervalMs) {
            this.device = device;
            this.intervalMs = intervalMs;
        }

        @Override
        public void run() {
            while (goesOn()) {
                try {
                    look();
                } catch (RuntimeException | Error notEvenLogged) {
                    // The next look may find memory again, or a working log.
                }
            }
        }

        /** {@return after a while, whether to look again} */
        private boolean goesOn() {
            try {
                return !end.await(intervalMs, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                // No code interrupts this thread on purpose; it ends with its device.
                return true;
            }
        }

        private void look() {
            try {
                device.lookAtPort();
            } catch (RuntimeException | Error failed) {
                // The device is being closed at this moment, its owner's watcher fails, or memory is short: it is
                // looked at again next time.
                LOG.log(System.Logger.Level.DEBUG,
                        "the port of " + device.name() + " could not be looked at", failed);
            }
        }

        void end() {
            end.countDown();
        }
    }
}
