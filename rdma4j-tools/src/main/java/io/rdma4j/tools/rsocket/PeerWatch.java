// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.rsocket;

import java.io.IOException;
import java.nio.channels.Channel;
import java.time.Duration;

/** Closes a channel whose peer says nothing for too long, which ends the thread that waits in it. */
final class PeerWatch implements AutoCloseable {
    private static final int LOOKS = 20;

    private final Channel channel;
    private final Duration patience;
    private final Thread thread;
    private volatile long movedNs = System.nanoTime();
    private volatile boolean isOver;

    PeerWatch(Channel channel, Duration patience) {
        this.channel = channel;
        this.patience = patience;
        thread = Thread.ofVirtual().start(this::look);
    }

    /** The peer lives: bytes have come, or have found room. */
    void moved() {
        movedNs = System.nanoTime();
    }

    private void look() {
        try {
            while (System.nanoTime() - movedNs < patience.toNanos()) {
                Thread.sleep(patience.dividedBy(LOOKS));
            }
            isOver = true;
            channel.close();
        } catch (InterruptedException | IOException e) {
            // There is nothing left to watch.
        }
    }

    /** {@return whether it has closed the channel} */
    boolean isOver() {
        return isOver;
    }

    /** {@return why a transfer has failed} */
    IOException cause(IOException failure) {
        return isOver
                ? new IOException(
                        "nothing came from the peer for " + patience.toSeconds() + " s", failure)
                : failure;
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
