// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.net.SocketException;
import java.net.SocketOption;
import java.nio.channels.NetworkChannel;
import java.util.concurrent.TimeUnit;

/**
 * What the sockets of channels of every kind are made of: the options of the channel with the exceptions of sockets, and the time that a
 * call may take, which the channel does not have. Thread safe.
 */
final class SocketOfChannel {
    private final NetworkChannel channel;
    private volatile int timeoutMs;

    SocketOfChannel(NetworkChannel channel) {
        this.channel = channel;
    }

    void requireOpen() throws SocketException {
        if (isClosed()) {
            throw new SocketException("Socket is closed");
        }
    }

    boolean isClosed() {
        return !channel.isOpen();
    }

    <T> void set(SocketOption<T> name, T value) throws SocketException {
        SocketExceptions.translatedAll(() -> channel.setOption(name, value));
    }

    <T> T get(SocketOption<T> name) throws SocketException {
        return SocketExceptions.translatedAll(() -> channel.getOption(name));
    }

    /**
     * Sets the size of a buffer.
     *
     * @throws IllegalArgumentException with the text {@code otherwise} if it is not positive
     */
    void setSize(SocketOption<Integer> name, int bytes, String otherwise) throws SocketException {
        if (bytes <= 0) {
            throw new IllegalArgumentException(otherwise);
        }
        set(name, bytes);
    }

    /** Sets how long a call may take, 0 for no limit. */
    void setTimeoutMs(int milliseconds) throws SocketException {
        requireOpen();
        if (milliseconds < 0) {
            throw new IllegalArgumentException("timeout < 0");
        }
        timeoutMs = milliseconds;
    }

    int timeoutMs() throws SocketException {
        requireOpen();
        return timeoutMs;
    }

    /** {@return how long a call may take; {@link Long#MAX_VALUE} for no limit} */
    long timeoutNs() {
        return nanoseconds(timeoutMs);
    }

    /** {@return a time in the unit of channels; {@link Long#MAX_VALUE} for 0, which is no limit} */
    static long nanoseconds(int milliseconds) {
        return milliseconds == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(milliseconds);
    }
}
