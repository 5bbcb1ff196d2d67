// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The passive side of the classic pair: listens, accepts, sends one message and receives one.
 *
 * <p>Everything that happens to connections arrives as an event in one channel:
 *
 * <pre>
 * CONNECT_REQUEST   a client asks; the event brings an id for the new connection
 *                   → make what the connection needs, post a receive, accept
 * ESTABLISHED       both sides are ready → send
 * DISCONNECTED      the client has ended → disconnect this side too, and free everything
 * </pre>
 *
 * Each event must be acknowledged; closing it, here by {@code try}, does that. An id with an event that is
 * not acknowledged cannot be closed, so the end of a connection waits until the event is.
 *
 * <p>What goes wrong with one connection is said and ends that connection; the server goes on. So does a client
 * that stays for too long: it may have been killed, and would stay for ever. An event may also be about the listener: its address
 * may come back, but without its device there is nothing left to wait for.
 */
public final class BasicServer {
    private final PrintWriter out;
    private final Patience patience;
    private final Map<CmId, BasicConnection> connections = new HashMap<>();

    private BasicServer(PrintWriter out, Patience patience) {
        this.out = out;
        this.patience = patience;
    }

    /** Listens on all addresses at the port given, or at any, for ever. */
    public static void main(String[] words) {
        Arguments.run("BasicServer", "[PORT]", words,
                arguments -> run(new InetSocketAddress(arguments.port(0, 0)), Integer.MAX_VALUE,
                        arguments.out(), listener -> {}));
    }

    /**
     * Serves a number of connections.
     *
     * @param address where to listen; port 0 for any
     * @param connectionCount how many accepted connections to see the end of before it ends
     * @param onListening gets the listener once clients can connect
     * @throws RdmaException ENODEV if the device of the listener was removed
     */
    public static void run(InetSocketAddress address, int connectionCount, PrintWriter out,
            Consumer<CmId> onListening) throws RdmaException {
        run(address, connectionCount, out, onListening, Patience.USUAL);
    }

    static void run(InetSocketAddress address, int connectionCount, PrintWriter out,
            Consumer<CmId> onListening, Patience patience) throws RdmaException {
        try (CmEventChannel events = CmEventChannel.create();
                CmId listener = CmId.create(events, PortSpace.TCP)) {
            listener.bindAddress(address);
            listener.listen(10);
            out.println("listening on port " + listener.localPort() + ".");
            onListening.accept(listener);
            BasicServer server = new BasicServer(out, patience);
            try {
                server.serve(events, listener, connectionCount);
            } finally {
                server.endAll();
            }
        }
    }

    private void serve(CmEventChannel events, CmId listener, int connectionCount)
            throws RdmaException {
        int ended = 0;
        while (ended < connectionCount) {
            CmEvent event = events.awaitEvent();
            boolean hasEnded;
            try (event) {
                if (event.type() == CmEventType.DEVICE_REMOVAL && event.id().equals(listener)) {
                    throw event.failure("listen");
                }
                hasEnded = onEvent(event);
            }
            if (hasEnded && end(event.id())) {
                ended++;
            }
        }
    }

    /** {@return whether the connection has ended} */
    private boolean onEvent(CmEvent event) {
        try {
            return handle(event);
        } catch (RdmaException e) {
            // A client that has gone away meanwhile, for instance.
            out.println("connection failed: " + e.getMessage());
            return true;
        }
    }

    private boolean handle(CmEvent event) throws RdmaException {
        switch (event.type()) {
            case CONNECT_REQUEST -> {
                out.println("received connection request.");
                accept(event.id());
            }
            case ESTABLISHED -> connection(event.id()).send();
            case DISCONNECTED -> {
                out.println("peer disconnected.");
                event.id().disconnect();
            }
            case TIMEWAIT_EXIT, ADDR_CHANGE, UNKNOWN -> {
                // The first is for programs that reuse queue pairs; the others end neither a connection nor the listener.
            }
            default -> out.println("connection failed: " + event.description());
        }
        return switch (event.type()) {
            case CONNECT_REQUEST, ESTABLISHED, TIMEWAIT_EXIT, ADDR_CHANGE, UNKNOWN -> false;
            default -> true;
        };
    }

    private void accept(CmId id) throws RdmaException {
        BasicConnection connection = new BasicConnection(id, "passive/server", out);
        try {
            id.accept(new ConnectionParameters());
        } catch (RdmaException e) {
            connection.close();
            throw e;
        }
        connections.put(id, connection);
        connection.exchange().exceptionally(failure -> {
            onFailure(id, failure.getMessage());
            return null;
        });
        connection.end().orTimeout(patience.limit().toMillis(), TimeUnit.MILLISECONDS)
                .exceptionally(late -> {
                    onFailure(id, "a client has not ended after " + patience.limit().toMillis()
                            + " ms; it may have been killed");
                    return null;
                });
    }

    /** Disconnecting brings DISCONNECTED, at the latest when the peer has not answered. */
    private void onFailure(CmId id, @Nullable String reason) {
        out.println(reason);
        try {
            id.disconnect();
        } catch (RdmaException e) {
            out.println(e.getMessage());
        }
    }

    private BasicConnection connection(CmId id) {
        BasicConnection connection = connections.get(id);
        if (connection == null) {
            throw new IllegalStateException("no connection of this id");
        }
        return connection;
    }

    /** {@return whether it was a connection, and not a request that was never accepted} */
    private boolean end(CmId id) throws RdmaException {
        BasicConnection connection = connections.remove(id);
        if (connection != null) {
            connection.close();
        }
        id.close();
        return connection != null;
    }

    private void endAll() throws RdmaException {
        for (CmId id : List.copyOf(connections.keySet())) {
            end(id);
        }
    }
}
