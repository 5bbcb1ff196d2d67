package io.rdma4j.tools.cmtools;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.connection.PortSpace;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;

import java.io.PrintWriter;
import java.net.InetSocketAddress;

/** Accepts whoever comes and lets go whoever leaves, until it is stopped. */
final class CmtimeServer {
    private static final int BACKLOG = 4096;

    private final PrintWriter out;
    private final PrintWriter err;

    CmtimeServer(PrintWriter out, PrintWriter err) {
        this.out = out;
        this.err = err;
    }

    void serve(InetSocketAddress local) throws RdmaException {
        try (EventChannel channel = EventChannel.create();
                CmId listener = CmId.create(channel, PortSpace.TCP)) {
            listener.bindAddress(local);
            listener.listen(BACKLOG);
            out.println("listening on port " + listener.sourcePort());
            out.flush();
            while (true) {
                CmEvent event = channel.awaitEvent();
                boolean isOver;
                try (event) {
                    isOver = handle(event);
                }
                if (isOver) {
                    event.id().close();
                }
            }
        }
    }

    /** {@return whether the id of the event is of no more use} One connection's failure is not the others'. */
    private boolean handle(CmEvent event) {
        CmId id = event.id();
        try {
            switch (event.type()) {
                case CONNECT_REQUEST -> {
                    id.createQueuePair(null, attributes());
                    id.accept();
                }
                case DISCONNECTED -> {
                    id.disconnect();
                    return true;
                }
                case CONNECT_ERROR, UNREACHABLE, REJECTED -> {
                    err.println("event: " + event.type().text() + ", error: " + event.status());
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
