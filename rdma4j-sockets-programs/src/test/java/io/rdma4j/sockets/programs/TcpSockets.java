// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.programs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

/** Sees which sockets of TCP a process has, as Linux does; those that listen do not count. */
final class TcpSockets {
    /** As iWARP devices do. */
    private static final String LISTENING = "0A";

    /** Long tables cost time, which a program that runs for long would notice; one that is over soon has to be seen often. */
    private static final long SHORTEST_INTERVAL_NS = 2_000_000;
    private static final long LONGEST_INTERVAL_NS = 1_000_000_000;

    private final ProcessHandle process;
    private final Set<String> seen = new HashSet<>();
    private final Thread watch;
    private volatile boolean isOver;

    /** Looks from now on. */
    TcpSockets(ProcessHandle process) {
        this.process = process;
        watch = Thread.ofPlatform().daemon().start(this::look);
    }

    /** {@return the inodes of those that the process has had} */
    Set<String> end() throws InterruptedException {
        isOver = true;
        LockSupport.unpark(watch);
        watch.join();
        seen.addAll(present(process.pid()));
        return seen;
    }

    private void look() {
        long startNs = System.nanoTime();
        while (!isOver && process.isAlive()) {
            seen.addAll(present(process.pid()));
            LockSupport.parkNanos(Math.clamp((System.nanoTime() - startNs) / 64,
                    SHORTEST_INTERVAL_NS, LONGEST_INTERVAL_NS));
        }
    }

    private static Set<String> present(long process) {
        Set<String> own = new HashSet<>();
        try (Stream<Path> files = Files.list(Path.of("/proc/" + process + "/fd"))) {
            files.forEach(each -> {
                try {
                    own.add(Files.readSymbolicLink(each).toString());
                } catch (IOException e) {
                    // Closed meanwhile.
                }
            });
        } catch (IOException e) {
            // It has ended.
        }
        Set<String> found = new HashSet<>();
        for (String table : List.of("tcp", "tcp6")) {
            try {
                Files.readAllLines(Path.of("/proc/" + process + "/net", table)).stream().skip(1)
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
