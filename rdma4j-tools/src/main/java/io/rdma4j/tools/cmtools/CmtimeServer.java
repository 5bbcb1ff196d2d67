// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmEventChannel;
import io.rdma4j.cm.CmEventType;
import io.rdma4j.cm.CmId;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;

import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.util.HashSet;
import java.util.Set;

/** Accepts clients and their disconnects, until it is stopped or has no device any more. */
final class CmtimeServer {
    private static final int BACKLOG = 4096;

    private final PrintWriter out;
    private final PrintWriter err;
    /** The connections that have not ended. */
    private final Set<CmId> connections = new HashSet<>();

    CmtimeServer(PrintWriter out, PrintWriter err) {
        this.out = out;
        this.err = err;
    }

    void serve(InetSocketAddress local) throws RdmaException {
        try (CmEventChannel channel = CmEventChannel.create();
                CmId listener = CmId.create(channel, PortSpace.TCP)) {
            listener.bindAddress(local);
            listener.listen(BACKLOG);
            out.println("listening on port " + listener.localPort());
            out.flush();
            try {
                serve(channel, listener);
            } finally {
                for (CmId connection : connections) {
                    connection.close();
                }
            }
        }
    }

    private void serve(CmEventChannel channel, CmId listener) throws RdmaException {
        while (true) {
            CmEvent event = channel.awaitEvent();
            boolean isOver;
            try (event) {
                if (event.type() == CmEventType.DEVICE_REMOVAL && event.id().equals(listener)) {
                    throw event.failure("listen");
                }
                isOver = handle(event);
            }
            if (isOver) {
                connections.remove(event.id());
                event.id().close();
            }
        }
    }

    /**
     * {@return whether the id of the event is no longer needed} The failure of one connection does not affect
     * the others.
     */
    private boolean handle(CmEvent event) {
        CmId id = event.id();
        try {
            switch (event.type()) {
                case CONNECT_REQUEST -> {
                    connections.add(id);
                    id.createQueuePair(attributes());
                    id.accept();
                }
                case DISCONNECTED -> {
                    id.disconnect();
                    return true;
                }
                case DEVICE_REMOVAL -> {
                    return true;
                }
                case CONNECT_ERROR, UNREACHABLE, REJECTED -> {
                    err.println("event: " + event.type().text() + ", error: " + event.status()
                            + ": " + event.description());
                    err.flush();
                    return true;
                }
                default -> {
                    // Nothing to do for the others.
                }
            }
            return false;
        } catch (RdmaException e) {
            err.println("cmtime: " + e.getMessage());
            err.flush();
            return true;
        }
    }

    static QueuePairInitAttributes attributes() {
        return new QueuePairInitAttributes().capabilities(QueuePairCapabilities.ofDepth(1, 1));
    }
}
