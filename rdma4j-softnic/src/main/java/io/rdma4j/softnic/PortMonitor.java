package io.rdma4j.softnic;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Looks at the network interfaces of open devices now and then, for nobody tells a Java program of their
 * changes. One thread for all devices of the process, which ends with the last.
 */
final class PortMonitor {
    private static final System.Logger LOG = System.getLogger(PortMonitor.class.getName());
    private static final long INTERVAL_MS = 1_000;
    private static final List<SoftNic> WATCHED = new ArrayList<>();
    private static @Nullable Thread thread;

    private PortMonitor() {}

    static void watch(SoftNic nic) {
        synchronized (WATCHED) {
            WATCHED.add(nic);
            if (thread == null) {
                thread = Thread.ofPlatform().daemon().name("rdma4j-ports")
                        .start(PortMonitor::run);
            }
        }
    }

    static void forget(SoftNic nic) {
        synchronized (WATCHED) {
            WATCHED.remove(nic);
            WATCHED.notifyAll();
        }
    }

    private static void run() {
        while (true) {
            List<SoftNic> open;
            synchronized (WATCHED) {
                try {
                    WATCHED.wait(INTERVAL_MS);
                } catch (InterruptedException e) {
                    // Nobody has a reason to; the thread ends with the devices.
                }
                if (WATCHED.isEmpty()) {
                    thread = null;
                    return;
                }
                open = List.copyOf(WATCHED);
            }
            open.forEach(PortMonitor::look);
        }
    }

    private static void look(SoftNic nic) {
        try {
            nic.onPort(nic.device().view());
        } catch (RuntimeException closing) {
            // The device is being closed at this moment, or its owner's watcher fails: the others go on.
            LOG.log(System.Logger.Level.DEBUG, "the port of " + nic.device().name()
                    + " could not be looked at", closing);
        }
    }
}
