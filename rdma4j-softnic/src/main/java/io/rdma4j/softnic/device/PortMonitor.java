package io.rdma4j.softnic.device;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Checks the network interfaces of open devices periodically, because Java has no notification of their changes.
 * One thread serves all devices of the process and ends with the last one. Thread safe.
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
    private final List<Watched> watched = new ArrayList<>();
    private @Nullable Thread thread;

    public PortMonitor(long intervalMs) {
        this.intervalMs = intervalMs;
    }

    /** Begins to look at a device. */
    public synchronized void watch(Watched device) {
        watched.add(device);
        if (thread == null) {
            thread = Thread.ofPlatform().daemon().name("rdma4j-ports").start(this::run);
        }
    }

    /** Stops checking a device. */
    public synchronized void forget(Watched device) {
        watched.remove(device);
        notifyAll();
    }

    private void run() {
        while (true) {
            synchronized (this) {
                try {
                    wait(intervalMs);
                } catch (InterruptedException e) {
                    // No code interrupts this thread on purpose; it ends with the devices.
                }
                if (watched.isEmpty()) {
                    thread = null;
                    return;
                }
            }
            try {
                lookAtAll();
            } catch (RuntimeException | Error notEvenLogged) {
                // The next check may find memory again, or a working log.
            }
        }
    }

    private void lookAtAll() {
        List<Watched> open;
        synchronized (this) {
            open = List.copyOf(watched);
        }
        open.forEach(PortMonitor::look);
    }

    private static void look(Watched device) {
        try {
            device.lookAtPort();
        } catch (RuntimeException | Error failed) {
            // The device is being closed at this moment, its owner's watcher fails, or memory is short: the others
            // are looked at, and this one again next time.
            LOG.log(System.Logger.Level.DEBUG,
                    "the port of " + device.name() + " could not be looked at", failed);
        }
    }
}
