package io.rdma4j.sockets.programs;

import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.RdmaDevices;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Runs a program, and prints how many bytes the device has carried and how many TCP connections the process has had. */
public final class Observed {
    private static final String DEVICE = "roce_lo";
    /** As iWARP devices do. */
    private static final String LISTENING = "0A";
    private static final long INTERVAL_NS = 50_000_000;

    private Observed() {}

    /** @param arguments the name of a class, and its arguments */
    public static void main(String[] arguments) throws Exception {
        AtomicBoolean isOver = new AtomicBoolean();
        Set<String> sockets = new HashSet<>();
        Thread watch = Thread.ofPlatform().daemon().start(() -> {
            while (!isOver.get()) {
                sockets.addAll(tcpSockets());
                LockSupport.parkNanos(INTERVAL_NS);
            }
        });
        // A device counts as long as it is open.
        try (DeviceContext context = RdmaDevices.find(DEVICE).open()) {
            Class.forName(arguments[0]).getMethod("main", String[].class).invoke(null,
                    (Object) Stream.of(arguments).skip(1).toArray(String[]::new));
            System.out.println("RDMA bytes " + context.counters().get("sent_bytes"));
        }
        isOver.set(true);
        watch.join();
        System.out.println("TCP connections " + sockets.size());
        System.exit(0);
    }

    /** {@return the inodes of the process's own sockets of TCP that do not listen} */
    private static Set<String> tcpSockets() {
        Set<String> own = new HashSet<>();
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            files.forEach(each -> {
                try {
                    own.add(Files.readSymbolicLink(each).toString());
                } catch (IOException e) {
                    // Closed meanwhile.
                }
            });
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        Set<String> found = new HashSet<>();
        for (String table : List.of("/proc/self/net/tcp", "/proc/self/net/tcp6")) {
            try {
                Files.readAllLines(Path.of(table)).stream().skip(1)
                        .map(line -> line.strip().split("\\s+"))
                        .filter(columns -> !columns[3].equals(LISTENING))
                        .map(columns -> "socket:[" + columns[9] + "]").filter(own::contains)
                        .forEach(found::add);
            } catch (IOException e) {
                // No IPv6.
            }
        }
        return found;
    }
}
