package io.rdma4j.softnic;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Looks at the network interfaces of open devices now and then, for nobody tells a Java program of their
 * changes. One thread for all devices of the process, which ends with the last.
 */
final class PortMonitor {
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
            open.forEach(nic -> nic.onPort(PortView.of(nic.device())));
        }
    }
}
