// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.util.concurrent.atomic.AtomicInteger;

/** A channel of no device that becomes ready when a test says so, and counts how often it is polled. */
final class SwitchedChannel extends BareChannel {
    final AtomicInteger polls = new AtomicInteger();
    volatile boolean isReady;
    /** Run each time a selector looks at it. */
    volatile Runnable onLook = () -> {};
    private final ChannelReadiness readiness = new ChannelReadiness() {
        @Override
        int readyOps(int operations) {
            onLook.run();
            return isReady ? operations : 0;
        }

        @Override
        void poll() {
            polls.incrementAndGet();
        }
    };

    SwitchedChannel() throws IOException {
        configureBlocking(false);
    }

    void becomeReady() {
        isReady = true;
        mark();
    }

    /** Has selectors look at it. */
    void mark() {
        readiness.onReady(SelectionKey.OP_READ);
    }

    @Override
    public ChannelReadiness readiness() {
        return readiness;
    }

    @Override
    protected void implConfigureBlocking(boolean isBlocking) {}

    @Override
    protected void implCloseSelectableChannel() {}
}
