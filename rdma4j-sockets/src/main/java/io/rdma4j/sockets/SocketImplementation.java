// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketImpl;
import java.net.SocketOption;
import java.util.Set;

/** What sockets and server sockets of ours are made of: its options, and whether it is closed. */
abstract class SocketImplementation extends SocketImpl {
    final EndpointOptions options;
    private volatile boolean isClosed;

    /** @param kept the options that it has, or that it can keep until it is decided what it is made of */
    SocketImplementation(Set<SocketOption<?>> kept) {
        options = new EndpointOptions(kept);
    }

    final boolean isClosed() {
        return isClosed;
    }

    final void markClosed() {
        isClosed = true;
    }

    final void requireOpen() throws SocketException {
        if (isClosed) {
            throw new SocketException("Socket closed");
        }
    }

    @Override
    protected void create(boolean isStream) throws IOException {
        if (!isStream) {
            throw new IOException("a socket over RDMA is one of streams");
        }
    }

    // ---------------------------------------------------------------- options

    /** An option has been set. */
    void onOptions() {
        // It counts from the next use on.
    }

    @Override
    public final void setOption(int number, Object value) throws SocketException {
        requireOpen();
        options.set(number, value);
        onOptions();
    }

    @Override
    public final Object getOption(int number) throws SocketException {
        requireOpen();
        return options.get(number);
    }

    @Override
    protected final <T> void setOption(SocketOption<T> name, T value) throws IOException {
        requireOpen();
        options.set(name, value);
        onOptions();
    }

    @Override
    protected final <T> T getOption(SocketOption<T> name) throws IOException {
        requireOpen();
        return options.get(name);
    }

    @Override
    protected final Set<SocketOption<?>> supportedOptions() {
        return options.supported();
    }
}
