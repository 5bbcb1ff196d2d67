// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rping;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.tools.endpoint.Establishment;
import io.rdma4j.tools.options.Hosts;
import io.rdma4j.tools.options.Numbers;
import io.rdma4j.tools.options.Patience;
import io.rdma4j.tools.options.Refusal;
import io.rdma4j.tools.options.WholeNumber;
import io.rdma4j.tools.output.OneLine;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Ping-pong by READ and WRITE; talks to the program of that name in rdma-core.
 *
 * <p>Each round the client tells where its message is, the server READs it, the client tells where the
 * answer goes, the server WRITEs it there; a SEND marks the end of each step. Advertisements are 16 bytes:
 * address, key and length, big endian.
 */
@Command(name = "rping", description = "Ping-pong by RDMA READ and WRITE with a C or Java rping.")
public final class Rping implements Callable<Integer> {
    private static final int SMALLEST = 23;
    private static final int LARGEST = 65535;
    private static final int BACKLOG = 3;
    private static final Duration RESOLVE = Duration.ofSeconds(2);

    @Option(names = "-s", description = "Be the server.")
    private boolean isServer;

    @Option(names = "-c", description = "Be the client.")
    private boolean isClient;

    @Option(names = "-a", paramLabel = "ADDR",
            description = "Address to listen on or to connect to (default: all, or loopback).")
    private @Nullable String address;

    @Option(names = "-p", paramLabel = "PORT", defaultValue = "7174",
            converter = Numbers.Port.class,
            description = "Port (default: ${DEFAULT-VALUE}).")
    private int port;

    @Option(names = "-S", paramLabel = "SIZE", defaultValue = "64",
            description = "Bytes of a ping (default: ${DEFAULT-VALUE}).")
    private int size;

    @Option(names = "-C", paramLabel = "COUNT", converter = Numbers.Count.class,
            description = "Pings before the client ends (default: 0, until it is stopped).")
    private int count;

    @Option(names = "-v", description = "Print the ping data.")
    private boolean isVerbose;

    @Option(names = "-V", description = "Compare what comes back with what was sent.")
    private boolean isValidating;

    @Option(names = "-d", description = "Print each step.")
    private boolean isDebugging;

    @Option(names = "-P", description = "Serve many clients, at the same time, until stopped.")
    private boolean isPersistent;

    @Option(names = "-q", description = "Create and modify the queue pair without the connection"
            + " manager's help.")
    private boolean isOwnQueuePair;

    @Option(names = "-I", paramLabel = "ADDR", description = "Local address of the client.")
    private @Nullable String source;

    @Mixin
    private Patience patience = new Patience();

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws Exception {
        WholeNumber.requireRange(spec, "-S", size, SMALLEST, LARGEST);
        Refusal.when(spec, isServer == isClient,
                "either -s, to be the server, or -c, to be the client, is needed");
        Refusal.when(spec, isClient && port == 0,
                "-p must be the server's port, from 1 to 65535, not 0");
        patience.check(spec);
        if (isServer) {
            serve();
        } else {
            ping();
        }
        return 0;
    }

    private void serve() throws Exception {
        InetSocketAddress bound = address == null
                ? new InetSocketAddress(port)
                : new InetSocketAddress(Hosts.resolve(address), port);
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(bound);
            output().debug("rdma_bind_addr successful");
            listener.listen(BACKLOG);
            output().debug("rdma_listen");
            if (isVerbose) {
                output().print("listening on port " + listener.localPort());
            }
            if (isPersistent) {
                serveAll(listener);
            } else {
                serve(listener.awaitRequest());
            }
        }
    }

    private void serveAll(CmId listener) throws RdmaException {
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            try {
                while (true) {
                    CmId request = listener.awaitRequest();
                    clients.execute(() -> serveQuietly(request));
                }
            } finally {
                // Clients are served no longer than the listener exists.
                clients.shutdownNow();
            }
        }
    }

    /** One client of many: its failure is not that of the others. */
    private void serveQuietly(CmId request) {
        try {
            serve(request);
        } catch (RdmaException | RuntimeException e) {
            output().error("rping: " + OneLine.of(e));
        }
    }

    private void serve(CmId request) throws RdmaException {
        try (CmId id = request; RpingSession session = session(id)) {
            output().debug("accepting client connection request");
            session.accept();
            session.serve();
            output().error("server DISCONNECT EVENT...");
            id.disconnect();
        }
    }

    private void ping() throws Exception {
        InetAddress server = address == null
                ? InetAddress.getLoopbackAddress()
                : Hosts.resolve(address);
        InetSocketAddress from = source == null
                ? null
                : new InetSocketAddress(Hosts.resolve(source), 0);
        Establishment.of(reached -> {
            ping(from, new InetSocketAddress(server, port), reached);
            return this;
        });
    }

    private void ping(@Nullable InetSocketAddress from, InetSocketAddress server,
            Runnable reached) throws RdmaException {
        try (CmId id = CmId.create(PortSpace.TCP)) {
            id.resolveAddress(from, server, RESOLVE);
            id.resolveRoute(RESOLVE);
            output().debug("rdma_resolve_addr - rdma_resolve_route successful");
            try (RpingSession session = session(id)) {
                session.connect();
                reached.run();
                output().debug("rdma_connect successful");
                session.ping();
                session.leave();
                output().error("client DISCONNECT EVENT...");
            }
        }
    }

    private RpingSession session(CmId id) throws RdmaException {
        return new RpingSession(id, new RpingSession.Settings(size, count, isValidating, isVerbose,
                isOwnQueuePair, patience.duration()), output());
    }

    private RpingOutput output() {
        return new RpingOutput(spec.commandLine().getOut(), spec.commandLine().getErr(),
                isDebugging);
    }
}
