// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import java.io.IOException;
import java.net.SocketException;
import java.net.SocketImpl;

/** What sockets and server sockets of ours are made of, and whether that is closed. */
abstract class SocketImplementation extends SocketImpl {
    private volatile boolean isClosed;

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
}
