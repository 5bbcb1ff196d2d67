// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.spi.AbstractSelectableChannel;
import java.nio.channels.spi.AbstractSelector;
import java.nio.channels.spi.SelectorProvider;
import java.util.Set;

/**
 * Notices the interruption of a thread that sleeps in a system call, which {@link Thread#interrupt} does not end.
 *
 * <p>The JDK notifies only selectors and channels, so this is a selector without channels. One thread uses it at a
 * time.
 */
public final class InterruptHook extends AbstractSelector {
    private final Runnable onInterrupt;

    /** @param onInterrupt called by the interrupting thread, or by the interrupted one */
    public InterruptHook(Runnable onInterrupt) {
        super(SelectorProvider.provider());
        this.onInterrupt = onInterrupt;
    }

    /**
     * Starts to watch the calling thread, and rings at once if it is interrupted already. Ends when the thread blocks
     * on another object that the JDK notifies.
     */
    public void watch() {
        begin();
    }

    @Override
    public Selector wakeup() {
        onInterrupt.run();
        return this;
    }

    @Override
    protected void implCloseSelector() {}

    @Override
    protected SelectionKey register(AbstractSelectableChannel channel, int operations,
            Object attachment) {
        throw new UnsupportedOperationException("it has no channels");
    }

    @Override
    public Set<SelectionKey> keys() {
        return Set.of();
    }

    @Override
    public Set<SelectionKey> selectedKeys() {
        return Set.of();
    }

    @Override
    public int selectNow() {
        return 0;
    }

    @Override
    public int select(long timeout) {
        throw new UnsupportedOperationException("it has no channels");
    }

    @Override
    public int select() {
        throw new UnsupportedOperationException("it has no channels");
    }
}
