// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.compare.Goal.Bound;
import io.rdma4j.benchmarks.compare.Goal.Kind;
import io.rdma4j.benchmarks.compare.ServiceTrials.Path;
import io.rdma4j.benchmarks.workload.Quantity;

import java.util.ArrayList;
import java.util.List;

/** What is sought of the service on two processors, against TCP of the same shape and flags. */
final class ServiceGoals {
    private final List<Goal> goals = new ArrayList<>();

    private ServiceGoals() {}

    static List<Goal> all() {
        ServiceGoals all = new ServiceGoals();
        all.wildcard();
        all.cold();
        all.shapes();
        all.warm();
        return all.goals;
    }

    private void wildcard() {
        for (Path path : List.of(Path.MEMORY, Path.NETWORK, Path.IWARP)) {
            add("service: wildcard server against the same at one address, 1 client, " + word(path),
                    ServiceTrials.keyValue(path, true, 1), Quantity.WARM_PER_SECOND,
                    ServiceTrials.keyValue(path, false, 1), 0.95);
        }
    }

    private void cold() {
        add("service: eight cold clients in memory, first 5 s, against TCP",
                ServiceTrials.keyValue(Path.MEMORY, false, 8), Quantity.FIRST_5_S_PER_SECOND,
                ServiceTrials.keyValue(Path.TCP, false, 8), 1.0);
        add("… first 10 s", ServiceTrials.keyValue(Path.MEMORY, false, 8),
                Quantity.FIRST_10_S_PER_SECOND, ServiceTrials.keyValue(Path.TCP, false, 8), 1.0);
        add("… thirty-two, first 20 s", ServiceTrials.keyValue(Path.MEMORY, false, 32),
                Quantity.FIRST_20_S_PER_SECOND, ServiceTrials.keyValue(Path.TCP, false, 32), 1.0);
        add("… echo of 64 B, both processes interpreted",
                ServiceTrials.shape(Path.MEMORY, "interpreted-1"), Quantity.WARM_PER_SECOND,
                ServiceTrials.shape(Path.TCP, "interpreted-1"), 0.3);
    }

    private void shapes() {
        double[] sought = {2, 1.5, 1};
        int[] connections = {1, 16, 64};
        for (int i = 0; i < sought.length; i++) {
            String what = "virtual-" + connections[i];
            ofShape("service: virtual threads, " + connections[i] + " connections, warm", what,
                    Quantity.WARM_PER_SECOND, sought[i]);
            ofShape("… first 5 s", what, Quantity.FIRST_5_S_PER_SECOND, 0.7);
        }
        ofShape("service: three workers, three clients, first 5 s", "workers-3x2",
                Quantity.FIRST_5_S_PER_SECOND, 1.0);
        ofShape("service: one selector, RDMA beside TCP against TCP beside TCP", "selector-2",
                Quantity.WARM_PER_SECOND, 1.0);
        ofShape("… TCP beside RDMA", "selector-2", Quantity.WARM_BESIDE_PER_SECOND, 1.0);
    }

    private void ofShape(String what, String shape, Quantity quantity, double limit) {
        add(what, ServiceTrials.shape(Path.MEMORY, shape), quantity,
                ServiceTrials.shape(Path.TCP, shape), limit);
    }

    private void warm() {
        double[] sought = {10, 6, 3};
        int[] clients = {1, 2, 8};
        for (int i = 0; i < sought.length; i++) {
            add("service: " + clients[i] + " warm in memory, against TCP",
                    ServiceTrials.keyValue(Path.MEMORY, false, clients[i]),
                    Quantity.WARM_PER_SECOND, ServiceTrials.keyValue(Path.TCP, false, clients[i]),
                    sought[i]);
            for (Path path : List.of(Path.NETWORK, Path.IWARP)) {
                add("… " + word(path), ServiceTrials.keyValue(path, false, clients[i]),
                        Quantity.WARM_PER_SECOND,
                        ServiceTrials.keyValue(Path.TCP, false, clients[i]), 1.0);
            }
        }
        goals.add(processorTime("service: processor time an operation, 8 warm in memory", 0.5,
                Path.MEMORY));
        goals.add(processorTime("… network", 1.0, Path.NETWORK));
        goals.add(new Goal("service: idle, wildcard server with 32 silent connections",
                Kind.TARGET, ServiceTrials.shape(Path.MEMORY, "idle-32"), Quantity.CPU_SHARE, null,
                Bound.AT_MOST, 0.5));
    }

    private static Goal processorTime(String what, double limit, Path path) {
        return new Goal(what, Kind.TARGET, ServiceTrials.keyValue(path, false, 8), Quantity.CPU_NS,
                ServiceTrials.keyValue(Path.TCP, false, 8), Bound.AT_MOST, limit);
    }

    private static String word(Path path) {
        return switch (path) {
            case MEMORY -> "memory";
            case NETWORK -> "network";
            case IWARP -> "iWARP";
            case TCP -> "TCP";
        };
    }

    private void add(String what, String trial, Quantity quantity, String against, double limit) {
        goals.add(new Goal(what, Kind.TARGET, trial, quantity, against, Bound.AT_LEAST, limit));
    }
}
