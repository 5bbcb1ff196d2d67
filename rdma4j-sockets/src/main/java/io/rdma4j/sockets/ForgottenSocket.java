// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets;

import org.jspecify.annotations.Nullable;

import java.lang.ref.Cleaner;

/**
 * Closes what a socket holds once nobody refers to the socket any more, though nobody has closed it: sockets over TCP are closed then as
 * well. Channels are not, those over TCP neither. Thread safe.
 */
final class ForgottenSocket implements Runnable {
    private static final Cleaner CLEANER = Cleaner.create();

    private final Cleaner.Cleanable cleanable;
    private volatile @Nullable Runnable closing;

    /** @param socket is not kept by this */
    ForgottenSocket(Object socket) {
        cleanable = CLEANER.register(socket, this);
    }

    /** What closes all that the socket holds from now on. It must not refer to the socket, and need not wait for anything. */
    void closesBy(Runnable action) {
        closing = action;
    }

    /** The socket is closed. */
    void forget() {
        closing = null;
        cleanable.clean();
    }

    @Override
    public void run() {
        Runnable last = closing;
        if (last != null) {
            last.run();
        }
    }
}
