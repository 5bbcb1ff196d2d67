// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.DatagramEndpoint;

import java.nio.channels.SelectionKey;

/** The readiness of a channel for datagrams. One that is not bound can be sent from, which binds it. */
final class DatagramReadiness extends ChannelReadiness {
    private final RdmaDatagramChannel channel;

    DatagramReadiness(RdmaDatagramChannel channel) {
        this.channel = channel;
    }

    @Override
    int readyOps(int operations) {
        DatagramEndpoint bound = channel.endpoint();
        int ready = 0;
        if ((operations & SelectionKey.OP_READ) != 0 && bound != null && bound.hasInput()) {
            ready |= SelectionKey.OP_READ;
        }
        if ((operations & SelectionKey.OP_WRITE) != 0
                && (bound == null || bound.hasOutput())) {
            ready |= SelectionKey.OP_WRITE;
        }
        return ready;
    }

    @Override
    void poll() {
        DatagramEndpoint bound = channel.endpoint();
        if (bound != null) {
            bound.poll();
        }
    }
}
