// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.net.SocketOption;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.NetworkChannel;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ScatteringByteChannel;
import java.nio.channels.SelectableChannel;
import java.util.Objects;
import java.util.Set;

/**
 * The channel that one which decides by rules has decided for, and to which it hands everything from then on. Until then there are
 * only the options that it will get. Thread safe.
 *
 * @param <C> channels of the kind that the deciding one is of
 */
final class ChosenChannel<C extends SelectableChannel & ByteChannel & ScatteringByteChannel & GatheringByteChannel & NetworkChannel> {
    private final SelectableChannel decider;
    private final ChannelOptions options;
    private volatile @Nullable C channel;

    /**
     * Of a channel that has not decided.
     *
     * @param decider what programs have, and what closes with the chosen one
     */
    ChosenChannel(SelectableChannel decider, Set<SocketOption<?>> supported) {
        this.decider = decider;
        options = new ChannelOptions(supported);
    }

    /** {@return what it goes over, null while that is open} */
    @Nullable
    C channel() {
        return channel;
    }

    void requireOpen() throws ClosedChannelException {
        if (!decider.isOpen()) {
            throw new ClosedChannelException();
        }
    }

    /** {@return what it goes over} */
    C require() throws ClosedChannelException {
        C made = channel;
        if (made == null) {
            requireOpen();
            throw new NotYetConnectedException();
        }
        return made;
    }

    /** {@return the error} A channel that has closed itself, by an interrupt or because it did not connect, closes the deciding one. */
    IOException ended(IOException error, C made) throws IOException {
        if (!made.isOpen() && decider.isOpen()) {
            decider.close();
        }
        return error;
    }

    // ---------------------------------------------------------------- deciding

    /** It is this one, which was open from the beginning. */
    void begin(C made) {
        channel = made;
    }

    /**
     * It is this one from now on.
     *
     * @param readiness of the deciding channel
     * @throws AsynchronousCloseException if that was closed meanwhile
     */
    C adopt(C made, ChannelReadiness readiness) throws IOException {
        synchronized (decider.blockingLock()) {
            made.configureBlocking(decider.isBlocking());
            channel = made;
        }
        if (!decider.isOpen()) {
            // It was closed meanwhile, by a thread that did not see it.
            made.close();
            throw new AsynchronousCloseException();
        }
        ChannelReadiness own = ChannelReadiness.of(made);
        if (own == null) {
            readiness.onRedirected();
        } else {
            own.forwardTo(readiness);
            readiness.onReady(decider.validOps());
        }
        return made;
    }

    /** {@return the options so far} */
    ChannelOptions options() {
        return options;
    }

    /** {@return one with the options so far} It is closed if it does not take them. */
    C withOptions(C made) throws IOException {
        try {
            options.giveTo(made.supportedOptions(), made::setOption);
            return made;
        } catch (IOException | RuntimeException e) {
            made.close();
            throw e;
        }
    }

    // ---------------------------------------------------------------- its readiness

    private @Nullable ChannelReadiness readiness() {
        C made = channel;
        return made == null ? null : ChannelReadiness.of(made);
    }

    /** As {@link ChannelReadiness#readyOps}; 0 before it is chosen. */
    int readyOps(int operations) {
        ChannelReadiness own = readiness();
        return own == null ? 0 : own.readyOps(operations);
    }

    /** As {@link ChannelReadiness#poll}. */
    void poll() {
        ChannelReadiness own = readiness();
        if (own != null) {
            own.poll();
        }
    }

    /** As {@link ChannelReadiness#delegate}. */
    @Nullable
    SelectableChannel delegate() {
        C made = channel;
        return made == null || ChannelReadiness.of(made) != null ? null : made;
    }

    // ---------------------------------------------------------------- bytes

    int read(ByteBuffer dst) throws IOException {
        Objects.requireNonNull(dst);
        C made = require();
        try {
            return made.read(dst);
        } catch (IOException e) {
            throw ended(e, made);
        }
    }

    long read(ByteBuffer[] dsts, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, dsts.length);
        C made = require();
        try {
            return made.read(dsts, offset, length);
        } catch (IOException e) {
            throw ended(e, made);
        }
    }

    int write(ByteBuffer src) throws IOException {
        Objects.requireNonNull(src);
        C made = require();
        try {
            return made.write(src);
        } catch (IOException e) {
            throw ended(e, made);
        }
    }

    long write(ByteBuffer[] srcs, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, srcs.length);
        C made = require();
        try {
            return made.write(srcs, offset, length);
        } catch (IOException e) {
            throw ended(e, made);
        }
    }

    // ---------------------------------------------------------------- options

    <T> void setOption(SocketOption<T> name, T value) throws IOException {
        C made = channel;
        if (made != null) {
            made.setOption(name, value);
        } else {
            options.change(name, value, decider);
        }
    }

    <T> T getOption(SocketOption<T> name) throws IOException {
        C made = channel;
        return made == null ? options.value(name, decider) : made.getOption(name);
    }

    /** {@return those of the chosen channel; before, what can be kept for it} */
    Set<SocketOption<?>> supportedOptions() {
        C made = channel;
        return made == null ? options.supported() : made.supportedOptions();
    }

    // ---------------------------------------------------------------- the end

    /** Closes it, as the deciding channel was closed. */
    void close() throws IOException {
        C made = channel;
        if (made != null) {
            made.close();
        }
    }

    /** Under the lock of the deciding channel's blocking mode. */
    void configureBlocking(boolean isBlocking, ChannelReadiness readiness) throws IOException {
        C made = channel;
        if (made == null) {
            return;
        }
        if (isBlocking) {
            readiness.releaseDelegate();
        }
        made.configureBlocking(isBlocking);
    }

    @Override
    public String toString() {
        C made = channel;
        return decider.getClass().getSimpleName() + "["
                + (made != null ? made.toString() : decider.isOpen() ? "undecided" : "closed")
                + "]";
    }
}
