// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.SocketConnection;
import io.rdma4j.sockets.engine.SocketConnector;

import java.nio.channels.SelectionKey;

/** The readiness of a channel that connects, or is connected. */
final class StreamReadiness extends ChannelReadiness {
    private final RdmaSocketChannel channel;

    StreamReadiness(RdmaSocketChannel channel) {
        this.channel = channel;
    }

    @Override
    int readyOps(int operations) {
        SocketConnector pending = channel.connector();
        if (pending != null) {
            return pending.isDone() ? outcomeOps(pending, operations) : 0;
        }
        SocketConnection made = channel.connection();
        if (made == null) {
            return 0;
        }
        int ready = 0;
        if ((operations & SelectionKey.OP_READ) != 0
                && (channel.isInputShut() || made.hasInput())) {
            ready |= SelectionKey.OP_READ;
        }
        if ((operations & SelectionKey.OP_WRITE) != 0
                && (channel.isOutputShut() || made.hasOutput())) {
            ready |= SelectionKey.OP_WRITE;
        }
        return ready;
    }

    /** As the JDK's: one that stands can be read only once {@code finishConnect} has said so, and what has failed says so by each operation. */
    private static int outcomeOps(SocketConnector done, int operations) {
        return done.isEstablished() ? operations & SelectionKey.OP_CONNECT : operations;
    }

    @Override
    void poll() {
        SocketConnection made = channel.connection();
        if (made != null) {
            made.poll();
        }
    }
}
