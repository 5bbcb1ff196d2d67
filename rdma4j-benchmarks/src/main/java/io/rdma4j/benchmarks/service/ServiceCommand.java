// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.service;

import io.rdma4j.benchmarks.workload.Figures;
import io.rdma4j.benchmarks.workload.Quantity;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.Callable;

/** One process of the service; {@code compare} starts it. */
@Command(name = "service", hidden = true, description = "One process of the service.")
public final class ServiceCommand implements Callable<Integer> {
    /** What a process is. */
    public enum Role {
        /** Serves until standard input says when to measure, and ends after that. */
        SERVER,
        /** Works and measures. */
        CLIENT
    }

    /** The word in front of the port on which a server listens. */
    public static final String READY = "ready";

    private static final InetAddress LOOPBACK = InetAddress.ofLiteral("127.0.0.1");
    private static final InetAddress ANY = InetAddress.ofLiteral("0.0.0.0");

    @Parameters(index = "0", description = "${COMPLETION-CANDIDATES}")
    private Role role = Role.CLIENT;

    @Option(names = "--port", description = "Where the server said it listens.")
    private int port;

    @Option(names = "--start",
            description = "When clients were started, in milliseconds since 1970.")
    private long startMs;

    @Option(names = "--tcp", description = "Use TCP.")
    private boolean isTcp;

    @Option(names = "--shape", description = "The server's threads: ${COMPLETION-CANDIDATES}.")
    private Shape shape = Shape.ONE_THREAD;

    @Option(names = "--work", description = "${COMPLETION-CANDIDATES}")
    private Work work = Work.KEY_VALUE;

    @Option(names = "--wildcard", description = "Listen at all addresses.")
    private boolean isWildcard;

    @Option(names = "--connections", defaultValue = "1", description = "Of a client.")
    private int connections;

    @Option(names = "--virtual", description = "Clients use virtual threads.")
    private boolean isVirtual;

    @Option(names = "--silent", description = "Clients only connect.")
    private boolean isSilent;

    @Option(names = "--seconds", defaultValue = "10", description = "How long clients work.")
    private double seconds;

    @Option(names = "--warm", defaultValue = "5",
            description = "The last part of it, which counts as warm.")
    private double warmSeconds;

    /** Called by the command line. */
    public ServiceCommand() {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        ServiceSettings settings = new ServiceSettings(isTcp, shape, work, isWildcard, connections,
                isVirtual, isSilent, seconds, warmSeconds);
        if (role == Role.SERVER) {
            Thread.ofPlatform().daemon().start(() -> measure(settings));
            ServiceServer server = isTcp ? new TcpServer(shape, work)
                    : new RdmaServer(shape, work);
            server.run(new InetSocketAddress(isWildcard ? ANY : LOOPBACK, 0), listening -> {
                System.out.println(READY + " " + listening);
                System.out.flush();
            });
        } else {
            InetSocketAddress server = new InetSocketAddress(LOOPBACK, port);
            System.out.print(new ClientProcess(settings, server, startMs).run().toLines());
            System.out.flush();
        }
        return 0;
    }

    /** A server is told on standard input when its clients start; the process ends when that ends. */
    private static void measure(ServiceSettings settings) {
        int status = 3;
        try {
            long started = Long.parseLong(readLine());
            long endMs = started + (long) (1000 * settings.seconds());
            double share = ProcessorTime
                    .between(endMs - (long) (1000 * settings.warmSeconds()), endMs).share();
            System.out.print(new Figures().with(Quantity.CPU_SHARE, share).toLines());
            System.out.flush();
            status = 0;
            while (System.in.read() >= 0) {
                // Clients that are late are served until the parent closes the stream.
            }
        } catch (IOException | NumberFormatException gone) {
            // The parent has ended.
        }
        Runtime.getRuntime().halt(status);
    }

    private static String readLine() throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = System.in.read(); next >= 0 && next != '\n'; next = System.in.read()) {
            line.append((char) next);
        }
        return line.toString();
    }
}
