// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import io.rdma4j.sockets.RdmaSockets;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;

/** Waits until a channel can do something, where the calls on it do not: what {@code rpoll} is to C programs. */
final class StreamPoll implements AutoCloseable {
    /** How often to look whether the channel was closed, which ends no selection. */
    private static final Duration LOOK = Duration.ofMillis(100);

    private final Selector selector;
    private final SelectionKey key;

    /** @param channel one that does not block, of RDMA or of TCP */
    StreamPoll(SelectableChannel channel) throws IOException {
        selector = RdmaSockets.openSelector();
        try {
            key = channel.register(selector, 0);
        } catch (IOException | RuntimeException e) {
            selector.close();
            throw e;
        }
    }

    /** Returns when the channel is ready, or was closed. */
    void await(int operation) throws IOException {
        if (!key.isValid()) {
            return;
        }
        key.interestOps(operation);
        while (key.isValid() && selector.select(LOOK.toMillis()) == 0) {
            // Nothing is ready yet.
        }
        selector.selectedKeys().clear();
    }

    /** The channel may block again afterwards. */
    @Override
    public void close() throws IOException {
        selector.close();
    }
}
