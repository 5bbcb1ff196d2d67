// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit.junit;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.RdmaException;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Two synchronous ids that are connected with each other. Each has a queue pair of the default size.
 *
 * @param client the one that has connected
 * @param server the one that has accepted
 * @since 0.1.0
 */
public record ConnectedIds(CmId client, CmId server) implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    /**
     * {@return two new ones}
     *
     * @param address where the server listens meanwhile, with port 0 for any
     * @throws RdmaException as the steps of {@link CmId}; ETIMEDOUT is unusual: on a network that loses nearly everything
     */
    static ConnectedIds at(InetSocketAddress address) throws RdmaException {
        CmId client = CmId.create(PortSpace.TCP);
        boolean isConnected = false;
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(address);
            listener.listen(1);
            client.resolveAddress(listener.localAddress(), LIMIT);
            client.resolveRoute(LIMIT);
            client.createQueuePair();
            CompletableFuture<CmId> accepting = CompletableFuture
                    .supplyAsync(() -> accepted(listener));
            client.connect();
            ConnectedIds connected = new ConnectedIds(client, result(accepting));
            isConnected = true;
            return connected;
        } finally {
            if (!isConnected) {
                client.close();
            }
        }
    }

    private static CmId accepted(CmId listener) {
        try {
            CmId server = listener.pollRequest(LIMIT);
            if (server == null) {
                throw new IllegalStateException("no request has come within " + LIMIT);
            }
            server.createQueuePair();
            server.accept();
            return server;
        } catch (RdmaException e) {
            throw new IllegalStateException(e.getMessage(), e);
        }
    }

    private static CmId result(CompletableFuture<CmId> accepting) {
        try {
            return accepting.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (InterruptedException | ExecutionException | TimeoutException e) {
            throw new IllegalStateException("the server's side of the connection was not made", e);
        }
    }

    /** Closes both. Idempotent. */
    @Override
    public void close() throws RdmaException {
        try (server) {
            client.close();
        }
    }
}
