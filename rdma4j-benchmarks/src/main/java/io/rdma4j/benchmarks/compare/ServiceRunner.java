// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.service.ServiceCommand;
import io.rdma4j.benchmarks.service.ServiceSettings;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Quantity;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A server process and clients that are all started at once when it listens, all with the same flags of the JVM. */
final class ServiceRunner implements Runner {
    private static final Duration SLACK = Duration.ofSeconds(90);

    private final ServiceSettings settings;
    private final int processes;
    private final int besideByTcp;
    private final List<String> properties;

    private ServiceRunner(ServiceSettings settings, int processes, int besideByTcp,
            List<String> properties) {
        this.settings = settings;
        this.processes = processes;
        this.besideByTcp = besideByTcp;
        this.properties = properties;
    }

    /** @param processes of clients */
    static ServiceRunner of(ServiceSettings settings, int processes) {
        return new ServiceRunner(settings, processes, 0, List.of());
    }

    /** {@return the same with more options of the JVM} */
    ServiceRunner with(List<String> options) {
        List<String> more = new ArrayList<>(properties);
        more.addAll(options);
        return new ServiceRunner(settings, processes, besideByTcp, more);
    }

    /** {@return the same with clients that use TCP, which are counted apart} */
    ServiceRunner besideTcpClients(int count) {
        return new ServiceRunner(settings, processes, count, properties);
    }

    @Override
    public Optional<String> obstacle() {
        return Optional.empty();
    }

    @Override
    public Figures run() throws IOException, InterruptedException {
        List<ChildProcess> clients = new ArrayList<>();
        try (ChildProcess server = start(settings, "server", List.of())) {
            try {
                String ready = server
                        .awaitLine(line -> line.startsWith(ServiceCommand.READY + " "));
                String port = ready.substring(ServiceCommand.READY.length() + 1);
                long startMs = System.currentTimeMillis();
                server.send(Long.toString(startMs));
                List<String> where = List.of("--port=" + port, "--start=" + startMs);
                for (int i = 0; i < processes + besideByTcp; i++) {
                    clients.add(start(i < processes ? settings : settings.overTcp(), "client",
                            where));
                }
                return sum(server, clients);
            } finally {
                clients.forEach(ChildProcess::end);
                server.end();
            }
        } finally {
            clients.forEach(ChildProcess::close);
        }
    }

    private Figures sum(ChildProcess server, List<ChildProcess> clients)
            throws IOException, InterruptedException {
        Map<Quantity, Double> sums = new EnumMap<>(Quantity.class);
        double beside = 0;
        for (int i = 0; i < clients.size(); i++) {
            Figures figures = Figures.of(clients.get(i).awaitSuccess());
            if (i < processes) {
                figures.values().forEach((quantity, value) -> sums.merge(quantity, value,
                        quantity == Quantity.LATENCY_99_NS ? Math::max : Double::sum));
            } else {
                beside += figures.value(Quantity.WARM_PER_SECOND).orElseThrow();
            }
        }
        double serverShare = Double.parseDouble(server
                .awaitLine(line -> line.startsWith("figure " + Quantity.CPU_SHARE + " "))
                .split(" ", 3)[2]);
        double share = sums.getOrDefault(Quantity.CPU_SHARE, 0.0) + serverShare;
        Figures all = new Figures();
        sums.forEach(all::with);
        all.with(Quantity.CPU_SHARE, share);
        double perSecond = sums.getOrDefault(Quantity.WARM_PER_SECOND, 0.0);
        if (perSecond > 0 && besideByTcp == 0) {
            all.with(Quantity.CPU_NS, share * 1e9 / perSecond);
        }
        if (besideByTcp > 0) {
            all.with(Quantity.WARM_BESIDE_PER_SECOND, beside);
        }
        return all;
    }

    private ChildProcess start(ServiceSettings which, String role, List<String> more)
            throws IOException {
        List<String> command = new ArrayList<>(Launch.java());
        command.addAll(properties);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Launch.MAIN, "service",
                role));
        command.addAll(which.options());
        command.addAll(more);
        return ChildProcess.start(command, Map.of(),
                SLACK.plusMillis((long) (1000 * settings.seconds())));
    }
}
