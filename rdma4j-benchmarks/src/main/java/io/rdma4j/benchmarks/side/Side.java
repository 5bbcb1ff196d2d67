// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.side;

import io.rdma4j.benchmarks.workload.PairedWorkload;
import io.rdma4j.benchmarks.workload.Settings;
import io.rdma4j.benchmarks.workload.Workload;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.util.concurrent.Callable;

/** One process of a measurement; {@code compare} starts it. */
@Command(name = "side", hidden = true, description = "One process of a measurement.")
public final class Side implements Callable<Integer> {
    /** What a process is in a measurement. */
    public enum Role {
        /** Listens, and ends when the other is done. */
        SERVER,
        /** Goes to the server and measures. */
        CLIENT,
        /** Needs no other process. */
        ALONE
    }

    /** The word in front of the port on which a server listens. */
    public static final String READY = "ready";

    @Parameters(index = "0", description = "${COMPLETION-CANDIDATES}")
    private Repertoire workload = Repertoire.TCP_STREAM;

    @Parameters(index = "1", description = "${COMPLETION-CANDIDATES}")
    private Role role = Role.ALONE;

    @Option(names = "--port", description = "Where the server said it listens.")
    private int port;

    @Option(names = "--size", defaultValue = "64", description = "Bytes of a message.")
    private int sizeBytes;

    @Option(names = "--queue-pairs", defaultValue = "1", description = "Connections.")
    private int queuePairs;

    @Option(names = "--depth", defaultValue = "16", description = "Messages under way on each.")
    private int depth;

    @Option(names = "--list", defaultValue = "1", description = "Messages posted by one call.")
    private int list;

    @Option(names = "--events", description = "Sleep until an event instead of polling.")
    private boolean isByEvents;

    @Option(names = "--warm-up", defaultValue = "1", description = "Seconds before it counts.")
    private double warmUpSeconds;

    @Option(names = "--seconds", defaultValue = "1", description = "Seconds that count.")
    private double seconds;

    @Option(names = "--count-from", defaultValue = "0",
            description = "When it begins to count, in milliseconds since 1970.")
    private long countFromMs;

    /** Called by the command line. */
    public Side() {}

    @Override
    public Integer call() throws Exception {
        Thread.ofPlatform().daemon().start(Side::endWithParent);
        Settings settings = new Settings(sizeBytes, queuePairs, depth, list, !isByEvents,
                warmUpSeconds, seconds, countFromMs);
        Workload chosen = workload.workload();
        if (role == Role.SERVER) {
            if (!(chosen instanceof PairedWorkload paired)) {
                throw new IllegalArgumentException(workload + " needs no server");
            }
            paired.serve(settings, listening -> {
                System.out.println(READY + " " + listening);
                System.out.flush();
            });
        } else {
            System.out.print(chosen.drive(settings, port).toLines());
            System.out.flush();
        }
        return 0;
    }

    /** Standard input ends when the process that started this one does, however that ends. */
    private static void endWithParent() {
        try {
            while (System.in.read() >= 0) {
                // The parent process writes nothing; it closes the stream when it ends.
            }
        } catch (IOException gone) {
            // The same.
        }
        Runtime.getRuntime().halt(3);
    }
}
