// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.compare;

import io.rdma4j.benchmarks.workload.Figures;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A program as server and as client. */
final class ToolRunner implements Runner {
    /** What its client said, as figures. Some of these programs stumble at the very end, with all said. */
    interface Reading {
        Figures of(List<String> lines) throws IOException;
    }

    private static final String PORT = "PORT";
    private static final Duration LIMIT = Duration.ofSeconds(45);
    private static final Duration START = Duration.ofSeconds(10);

    private final Tool tool;
    private final List<String> server;
    private final List<String> client;
    private final Map<String, String> environment;
    private final Reading reading;

    /**
     * @param server arguments, with the word PORT where it belongs
     * @param client arguments likewise
     */
    ToolRunner(Tool tool, List<String> server, List<String> client,
            Map<String, String> environment, Reading reading) {
        this.tool = tool;
        this.server = server;
        this.client = client;
        this.environment = environment;
        this.reading = reading;
    }

    @Override
    public Optional<String> obstacle() {
        return tool.obstacle();
    }

    @Override
    public Figures run() throws IOException, InterruptedException {
        int port = freePort();
        try (ChildProcess listening = start(server, port)) {
            awaitListener(port);
            try (ChildProcess measuring = start(client, port)) {
                return reading.of(measuring.awaitEnd());
            } finally {
                listening.end();
            }
        }
    }

    private ChildProcess start(List<String> arguments, int port) throws IOException {
        List<String> command = new ArrayList<>(List.of(tool.name()));
        for (String argument : arguments) {
            command.add(argument.equals(PORT) ? Integer.toString(port) : argument);
        }
        return ChildProcess.start(command, environment, LIMIT);
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    /** Looks into the system's table, for a connection would be taken for the client's. */
    private void awaitListener(int port) throws IOException {
        String address = String.format(":%04X 0", port);
        long startNs = System.nanoTime();
        while (!Machine.text("/proc/net/tcp").contains(address)
                && !Machine.text("/proc/net/tcp6").contains(address)) {
            if (System.nanoTime() - startNs > START.toNanos()) {
                throw new IOException(tool.name() + " does not listen on TCP port " + port);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }
}
