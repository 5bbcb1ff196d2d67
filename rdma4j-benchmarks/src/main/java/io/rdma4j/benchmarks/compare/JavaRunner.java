// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.side.Repertoire;
import io.rdma4j.benchmarks.side.Side;
import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Settings;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** A workload in one or two Java processes, all with the same flags of the JVM. */
final class JavaRunner implements Runner {
    private static final Duration SLACK = Duration.ofSeconds(60);

    private final Repertoire workload;
    private final Settings settings;
    private final boolean isPair;
    private final List<String> properties;
    private final Map<String, String> environment;

    private JavaRunner(Repertoire workload, Settings settings, boolean isPair,
            List<String> properties, Map<String, String> environment) {
        this.workload = workload;
        this.settings = settings;
        this.isPair = isPair;
        this.properties = properties;
        this.environment = environment;
    }

    static JavaRunner pair(Repertoire workload, Settings settings) {
        return new JavaRunner(workload, settings, true, List.of(), Map.of());
    }

    static JavaRunner alone(Repertoire workload, Settings settings) {
        return new JavaRunner(workload, settings, false, List.of(), Map.of());
    }

    /** {@return the same with an option of the JVM} */
    JavaRunner with(String option) {
        List<String> more = new ArrayList<>(properties);
        more.add(option);
        return new JavaRunner(workload, settings, isPair, more, environment);
    }

    /** {@return the same with other environment variables} */
    JavaRunner with(Map<String, String> variables) {
        return new JavaRunner(workload, settings, isPair, properties, variables);
    }

    /** {@return the same that begins to count at a time} */
    JavaRunner withCountFrom(long epochMs) {
        return new JavaRunner(workload, settings.withCountFrom(epochMs), isPair, properties,
                environment);
    }

    /** {@return how long it takes to be warm} */
    double warmUpSeconds() {
        return settings.warmUpSeconds();
    }

    @Override
    public Optional<String> obstacle() {
        return Optional.empty();
    }

    @Override
    public Figures run() throws IOException, InterruptedException {
        if (!isPair) {
            try (ChildProcess alone = start(Side.Role.ALONE, 0)) {
                return Figures.of(alone.awaitSuccess());
            }
        }
        try (ChildProcess server = start(Side.Role.SERVER, 0)) {
            String ready = server.awaitLine(line -> line.startsWith(Side.READY + " "));
            int port = Integer.parseInt(ready.substring(Side.READY.length() + 1));
            try (ChildProcess client = start(Side.Role.CLIENT, port)) {
                return Figures.of(client.awaitSuccess());
            } catch (IOException | InterruptedException e) {
                server.end();
                throw e;
            }
        }
    }

    private ChildProcess start(Side.Role role, int port) throws IOException {
        List<String> command = new ArrayList<>(Launch.java());
        command.addAll(properties);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Launch.MAIN, "side",
                workload.name(), role.name().toLowerCase(Locale.ROOT), "--port=" + port));
        command.addAll(settings.options());
        double untilCount = Math.max(settings.warmUpSeconds(),
                (settings.countFromMs() - System.currentTimeMillis()) / 1000.0);
        Duration limit = SLACK
                .plusMillis((long) (1000 * (untilCount + settings.seconds())));
        return ChildProcess.start(command, environment, limit);
    }
}
