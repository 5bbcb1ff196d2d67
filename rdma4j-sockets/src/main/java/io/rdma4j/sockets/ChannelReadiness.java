// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import io.rdma4j.sockets.engine.ReadinessListener;
import org.jspecify.annotations.Nullable;

import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Arrays;

/**
 * What a selector sees of a channel: whether it is ready now, and who is told when it becomes ready. A channel has one for its
 * life, and an {@link RdmaSelector} takes each channel that has one.
 *
 * <p>Thread safe.
 */
abstract class ChannelReadiness implements ReadinessListener {
    private static final int INPUT = SelectionKey.OP_READ | SelectionKey.OP_ACCEPT;
    private static final int OUTPUT = SelectionKey.OP_WRITE | SelectionKey.OP_CONNECT;
    private static final Listener[] NOBODY = {};

    private volatile Listener[] listeners = NOBODY;

    /** A key, or the readiness of a channel that stands before this one. */
    interface Listener {
        /** Operations are ready, perhaps. Neither waits nor calls back. */
        void onReady(int operations);

        /** Another channel stands for it now. */
        void onRedirected();

        /** The keys of the channel that stands for it must be gone when this returns, if theirs are cancelled. */
        void onRelease();

        /** {@return whether a selector waits for it} */
        boolean isSelected();
    }

    /** A channel that programs do not see by its class. */
    interface Owner {
        ChannelReadiness readiness();
    }

    /** A channel of a connection that has one. */
    abstract static class OfStreams extends SocketChannel {
        OfStreams(SelectorProvider provider) {
            super(provider);
        }

        abstract ChannelReadiness readiness();
    }

    /** A listening channel that has one. */
    abstract static class OfListeners extends ServerSocketChannel {
        OfListeners(SelectorProvider provider) {
            super(provider);
        }

        abstract ChannelReadiness readiness();
    }

    /** A channel for datagrams that has one. */
    abstract static class OfDatagrams extends DatagramChannel {
        OfDatagrams(SelectorProvider provider) {
            super(provider);
        }

        abstract ChannelReadiness readiness();
    }

    /** Tells the listeners of one channel what the channel behind it tells. */
    private record Forwarding(ChannelReadiness to) implements Listener {
        @Override
        public void onReady(int operations) {
            to.onReady(operations);
        }

        @Override
        public void onRedirected() {
            to.onRedirected();
        }

        @Override
        public void onRelease() {
            to.releaseDelegate();
        }

        @Override
        public boolean isSelected() {
            return to.isSelected();
        }
    }

    /** {@return that of a channel, null if it has none} */
    static @Nullable ChannelReadiness of(SelectableChannel channel) {
        return switch (channel) {
            case OfStreams stream -> stream.readiness();
            case OfListeners listening -> listening.readiness();
            case OfDatagrams datagrams -> datagrams.readiness();
            case Owner other -> other.readiness();
            default -> null;
        };
    }

    /**
     * {@return those of the operations that are ready now} Not asked while there is a {@link #delegate}. May take locks of the
     * connection; called without one of them.
     *
     * @param operations as in {@link SelectionKey}
     */
    abstract int readyOps(int operations);

    /** Looks for news, and so runs the device of a channel that was ready lately. */
    void poll() {
        // There is no device.
    }

    /** {@return the channel of the JDK's that is waited for instead, null if there is none} It does not block. */
    @Nullable
    SelectableChannel delegate() {
        return null;
    }

    @Override
    public final void onReady(boolean hasInput, boolean hasOutput) {
        onReady((hasInput ? INPUT : 0) | (hasOutput ? OUTPUT : 0));
    }

    /** Tells that operations are ready now, perhaps, or that the channel is closed, which ends selections. */
    final void onReady(int operations) {
        for (Listener each : listeners) {
            each.onReady(operations);
        }
    }

    @Override
    public final boolean isSelected() {
        for (Listener each : listeners) {
            if (each.isSelected()) {
                return true;
            }
        }
        return false;
    }

    /** Tells that there is a {@link #delegate} now. */
    final void onRedirected() {
        for (Listener each : listeners) {
            each.onRedirected();
        }
    }

    /**
     * Frees the {@link #delegate} of the keys that selectors have for it, if those of this channel are cancelled: then it can block.
     * May be called in {@code implConfigureBlocking}.
     */
    final void releaseDelegate() {
        for (Listener each : listeners) {
            each.onRelease();
        }
    }

    /** Tells the listeners of a channel that stands before this one, too. */
    final void forwardTo(ChannelReadiness to) {
        add(new Forwarding(to));
    }

    final synchronized void add(Listener listener) {
        Listener[] more = Arrays.copyOf(listeners, listeners.length + 1);
        more[listeners.length] = listener;
        listeners = more;
    }

    final synchronized void remove(Listener listener) {
        listeners = Arrays.stream(listeners).filter(each -> !each.equals(listener))
                .toArray(Listener[]::new);
    }
}
