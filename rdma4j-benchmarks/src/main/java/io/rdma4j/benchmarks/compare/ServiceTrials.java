// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.service.ServiceSettings;
import io.rdma4j.benchmarks.service.Shape;
import io.rdma4j.benchmarks.service.Work;
import io.rdma4j.benchmarks.workload.Quantity;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The trials of the service: what a user has who runs one, from cold clients to warm ones. */
final class ServiceTrials {
    /** How a client reaches the server. */
    enum Path {
        /** Two processes of a machine, by themselves. */
        MEMORY,
        /** Through the network stack. */
        NETWORK,
        /** iWARP. */
        IWARP,
        /** No rdma4j. */
        TCP;

        /** {@return the options of the JVM that choose it} */
        private List<String> options() {
            return switch (this) {
                case NETWORK -> List.of("-Drdma4j.loopback=network");
                case IWARP -> List.of("-Drdma4j.device=iwarp");
                case MEMORY, TCP -> List.of();
            };
        }
    }

    private static final String PREFIX = "service-";
    private static final double COLD_SECONDS = 10;
    private static final double COLD_SECONDS_OF_MANY = 20;
    private static final int MANY = 32;

    private final List<Trial> trials = new ArrayList<>();
    private final double warmUpSeconds;
    private final double seconds;

    private ServiceTrials(double warmUpSeconds, double seconds) {
        this.warmUpSeconds = warmUpSeconds;
        this.seconds = seconds;
    }

    /** {@return all, or those for a first look} */
    static List<Trial> all(boolean isQuick, double warmUpSeconds, double seconds) {
        ServiceTrials all = new ServiceTrials(warmUpSeconds, seconds);
        for (int processes : isQuick ? new int[]{1, 8} : new int[]{1, 2, 8, MANY}) {
            for (Path path : Path.values()) {
                if (!isQuick || path == Path.MEMORY || path == Path.TCP) {
                    all.keyValue(path, processes, false);
                    if (path != Path.TCP) {
                        all.keyValue(path, processes, true);
                    }
                }
            }
        }
        for (Path path : isQuick ? List.of(Path.MEMORY, Path.TCP)
                : List.of(Path.MEMORY, Path.IWARP, Path.TCP)) {
            all.shapes(path);
        }
        all.idle();
        return all.trials;
    }

    /** {@return the name of a trial of the key-value service} */
    static String keyValue(Path path, boolean isWildcard, int processes) {
        return PREFIX + word(path) + (isWildcard ? "-wildcard-" : "-") + processes;
    }

    /** {@return the name of a trial of another shape} */
    static String shape(Path path, String what) {
        return PREFIX + word(path) + "-" + what;
    }

    private static String word(Path path) {
        return path.name().toLowerCase(Locale.ROOT);
    }

    private static String who(Path path) {
        return switch (path) {
            case MEMORY -> Catalogue.RDMA4J + ", memory";
            case NETWORK -> Catalogue.RDMA4J + ", network";
            case IWARP -> Catalogue.RDMA4J + ", iWARP";
            case TCP -> "TCP, Java NIO";
        };
    }

    private ServiceSettings settings(Path path, Shape shape, Work work, double coldSeconds) {
        ServiceSettings settings = ServiceSettings.of(shape, work,
                coldSeconds + 2 * warmUpSeconds + seconds, seconds);
        return path == Path.TCP ? settings.overTcp() : settings;
    }

    private void add(String id, Path path, String work, Quantity chief, ServiceRunner runner) {
        trials.add(new Trial(id, who(path), work, chief, runner.with(path.options())));
    }

    private void keyValue(Path path, int processes, boolean isWildcard) {
        // With more processes than processors it takes as much longer until the compilers of each are done.
        double cold = (processes >= MANY ? COLD_SECONDS_OF_MANY : COLD_SECONDS)
                + (processes > 2 ? 12 * warmUpSeconds : 0);
        ServiceSettings settings = settings(path, Shape.ONE_THREAD, Work.KEY_VALUE, cold);
        add(keyValue(path, isWildcard, processes), path,
                "key-value service, " + processes + (processes == 1 ? " client" : " clients")
                        + (isWildcard ? ", server at the wildcard address" : ""),
                Quantity.WARM_PER_SECOND,
                ServiceRunner.of(isWildcard ? settings.atWildcard() : settings, processes));
    }

    private void shapes(Path path) {
        echo(path, "workers-1", "three workers, 1 client of 1 connection", 1,
                settings(path, Shape.THREE_WORKERS, Work.ECHO, COLD_SECONDS));
        echo(path, "workers-8", "three workers, 1 client of 8 connections", 1,
                settings(path, Shape.THREE_WORKERS, Work.ECHO, COLD_SECONDS).withConnections(8));
        echo(path, "workers-3x2", "three workers, 3 clients of 2 connections", 3,
                settings(path, Shape.THREE_WORKERS, Work.ECHO, COLD_SECONDS).withConnections(2));
        ServiceSettings virtual = settings(path, Shape.VIRTUAL_THREADS, Work.ECHO, COLD_SECONDS);
        for (int count : new int[]{1, 16, 64}) {
            echo(path, "virtual-" + count,
                    "virtual threads on both sides, " + count
                            + (count == 1 ? " connection" : " connections"),
                    1, virtual.withConnections(count).withVirtualClients());
        }
        echo(path, "virtual-server-4", "virtual threads at the server, 4 platform threads", 1,
                virtual.withConnections(4));
        if (path != Path.IWARP) {
            // Not over iWARP, which takes the port itself at which the sockets listen.
            ServiceSettings selector = settings(path, Shape.SELECTOR, Work.ECHO, COLD_SECONDS)
                    .withConnections(2);
            add(shape(path, "selector-2"), path, "one selector, 2 connections beside 2 of TCP",
                    Quantity.WARM_PER_SECOND, ServiceRunner.of(selector, 1).besideTcpClients(1));
            ServiceSettings interpreted = settings(path, Shape.ONE_THREAD, Work.ECHO, 0);
            add(shape(path, "interpreted-1"), path, "one thread, 1 client, both interpreted",
                    Quantity.WARM_PER_SECOND,
                    ServiceRunner.of(interpreted, 1).with(List.of("-Xint")));
        }
    }

    private void echo(Path path, String what, String work, int processes,
            ServiceSettings settings) {
        add(shape(path, what), path, "echo of 64 B, " + work, Quantity.WARM_PER_SECOND,
                ServiceRunner.of(settings, processes));
    }

    private void idle() {
        ServiceSettings silent = settings(Path.MEMORY, Shape.ONE_THREAD, Work.ECHO, COLD_SECONDS)
                .atWildcard().withConnections(MANY).withSilentClients();
        add(shape(Path.MEMORY, "idle-32"), Path.MEMORY,
                "server at the wildcard address, 32 silent connections", Quantity.CPU_SHARE,
                ServiceRunner.of(silent, 1));
    }
}
