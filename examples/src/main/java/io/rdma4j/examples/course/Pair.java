// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.examples.course;

import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** Two connected ids in one program, by the steps of lesson 3 with synchronous ids. */
final class Pair implements AutoCloseable {
    static final Duration TIMEOUT = Duration.ofSeconds(2);

    final CmId client;
    final CmId server;

    private Pair(CmId client, CmId server) {
        this.client = client;
        this.server = server;
    }

    /** Connects two ids, each with a queue pair as the other. */
    static Pair connect(InetAddress address) throws Exception {
        return connect(address, new QueuePairInitAttributes());
    }

    static Pair connect(InetAddress address, QueuePairInitAttributes attributes) throws Exception {
        CmId client = CmId.create(PortSpace.TCP);
        try (CmId listener = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(new InetSocketAddress(address, 0));
            listener.listen(1);
            client.resolveAddress(listener.localAddress(), TIMEOUT);
            client.createQueuePair(attributes);
            client.resolveRoute(TIMEOUT);
            // Each side waits for the other, so each has a thread.
            FutureTask<CmId> accepting = new FutureTask<>(() -> accept(listener, attributes));
            Thread.ofVirtual().start(accepting);
            client.connect();
            return new Pair(client, accepting.get());
        } catch (RdmaException | InterruptedException | ExecutionException e) {
            client.close();
            throw e;
        }
    }

    private static CmId accept(CmId listener, QueuePairInitAttributes attributes)
            throws RdmaException {
        CmId id = listener.awaitRequest();
        id.createQueuePair(attributes);
        id.accept();
        return id;
    }

    /** Disconnects and closes both. */
    @Override
    public void close() throws RdmaException {
        try (client; server) {
            client.disconnect();
            client.closeQueuePair();
            server.closeQueuePair();
        }
    }
}
