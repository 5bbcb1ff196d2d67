// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The active side of the classic pair: connects, sends one message and receives one, disconnects.
 *
 * <p>An active side takes four steps, each answered by an event:
 *
 * <pre>
 * resolveAddress → ADDR_RESOLVED    which device, which local address
 * resolveRoute   → ROUTE_RESOLVED   which path
 * connect        → ESTABLISHED      or REJECTED, UNREACHABLE, CONNECT_ERROR
 * disconnect     → DISCONNECTED
 * </pre>
 *
 * The queue pair and its receives are made once the device is known, before connecting: the server may
 * send the moment the connection stands.
 */
public final class BasicClient {
    private static final Duration TIMEOUT = Duration.ofMillis(500);

    private BasicClient() {}

    /** Connects to a host and a port. */
    public static void main(String[] words) {
        Arguments.run("BasicClient", "HOST PORT", words, arguments -> {
            if (arguments.count() != 2) {
                throw new Arguments.Wrong();
            }
            run(arguments.peer(0), arguments.out());
        });
    }

    /**
     * Runs the exchange once.
     *
     * @throws RdmaException when the connection cannot be made, or ends before a message went each way
     */
    public static void run(InetSocketAddress server, PrintWriter out) throws RdmaException {
        run(server, out, () -> {});
    }

    /**
     * As above.
     *
     * @param connected is run when the connection stands
     */
    public static void run(InetSocketAddress server, PrintWriter out, Runnable connected)
            throws RdmaException {
        run(server, out, connected, Patience.USUAL);
    }

    static void run(InetSocketAddress server, PrintWriter out, Patience patience)
            throws RdmaException {
        run(server, out, () -> {}, patience);
    }

    private static void run(InetSocketAddress server, PrintWriter out, Runnable connected,
            Patience patience) throws RdmaException {
        try (CmEventChannel events = CmEventChannel.create();
                CmId id = CmId.create(events, PortSpace.TCP)) {
            id.resolveAddress(server, TIMEOUT);
            expect(events, CmEventType.ADDR_RESOLVED);
            out.println("address resolved.");
            try (BasicConnection connection = new BasicConnection(id, "active/client", out)) {
                id.resolveRoute(TIMEOUT);
                expect(events, CmEventType.ROUTE_RESOLVED);
                out.println("route resolved.");
                id.connect();
                expect(events, CmEventType.ESTABLISHED);
                connected.run();
                try (Watch watch = new Watch(events)) {
                    connection.send();
                    await(connection.exchange(), "exchange messages", patience);
                    id.disconnect();
                    await(watch.end, "disconnect", patience);
                    out.println("disconnected.");
                }
            }
        }
    }

    /**
     * Hears of the connection's end while the client waits for completions. A server that leaves early does
     * not end the work that is posted here: disconnecting this side too does, which flushes it.
     */
    private static final class Watch implements AutoCloseable {
        final CompletableFuture<Void> end = new CompletableFuture<>();
        private final Thread thread;

        Watch(CmEventChannel events) {
            thread = Thread.ofVirtual().start(() -> {
                try (CmEvent event = events.awaitEvent()) {
                    event.id().disconnect();
                    end.complete(null);
                } catch (RdmaException e) {
                    end.completeExceptionally(e);
                }
            });
        }

        @Override
        public void close() throws RdmaException {
            thread.interrupt();
            try {
                thread.join();
            } catch (InterruptedException e) {
                throw RdmaException.interrupted("run client");
            }
        }
    }

    private static void await(CompletableFuture<Void> outcome, String operation, Patience patience)
            throws RdmaException {
        try {
            outcome.get(patience.limit().toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw RdmaException.interrupted(operation);
        } catch (TimeoutException e) {
            throw new RdmaException(Errno.ETIMEDOUT, operation,
                    "nothing came from the server for " + patience.limit().toMillis()
                            + " ms; it may have been killed",
                    e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RdmaException cause) {
                throw cause;
            }
            throw new IllegalStateException(e);
        }
    }

    /** Waits for the outcome of a step. */
    private static void expect(CmEventChannel events, CmEventType wanted) throws RdmaException {
        boolean hasCome = false;
        while (!hasCome) {
            try (CmEvent event = events.awaitEvent()) {
                if (event.isFailure()) {
                    throw event.failure("connect");
                }
                hasCome = event.type() == wanted;
            }
        }
    }
}
