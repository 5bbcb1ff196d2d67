// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.sockets.engine;

import io.rdma4j.sockets.protocol.RsocketStream;

/**
 * Whether threads of the application copy from or to the memory of a connection, without its lock, and what has to wait until they have ended. Not thread safe:
 * its connection guards it.
 */
final class Copying {
    private final SocketEngine engine;
    private final ConnectionProgress progress;
    private final Runnable freeing;
    private boolean isReading;
    private boolean isWriting;
    private boolean owesInputShutdown;
    private boolean owesDisconnect;
    private boolean owesFreeing;

    /** @param freeing frees the memory, in the thread of the engine */
    Copying(SocketEngine engine, ConnectionProgress progress, Runnable freeing) {
        this.engine = engine;
        this.progress = progress;
        this.freeing = freeing;
    }

    void startReading() {
        isReading = true;
    }

    /** Does what has waited for that, and gives the peer its credits. */
    void stopReading(RsocketStream open) {
        isReading = false;
        settle(open);
    }

    void startWriting() {
        isWriting = true;
    }

    /** As {@link #stopReading}. */
    void stopWriting(RsocketStream open) {
        isWriting = false;
        settle(open);
    }

    /** {@return whether no thread copies} */
    private boolean hasEnded() {
        return !isReading && !isWriting;
    }

    /** Ends the input, as soon as nobody reads. */
    void shutdownInput(RsocketStream open) {
        if (isReading) {
            owesInputShutdown = true;
        } else {
            open.shutdownInput();
        }
    }

    /** Ends the stream, as soon as nobody copies. */
    void disconnect(RsocketStream open) {
        if (hasEnded()) {
            open.disconnect();
        } else {
            owesDisconnect = true;
        }
    }

    /** {@return whether the stream ends as soon as nobody copies} */
    boolean owesDisconnect() {
        return owesDisconnect;
    }

    /** {@return whether the memory may be freed} If not, that is done as soon as it may. */
    boolean mayFree() {
        if (!hasEnded()) {
            owesFreeing = true;
            return false;
        }
        return true;
    }

    private void settle(RsocketStream open) {
        if (!isReading && owesInputShutdown) {
            owesInputShutdown = false;
            open.shutdownInput();
        }
        if (hasEnded() && owesDisconnect) {
            owesDisconnect = false;
            open.disconnect();
        }
        if (hasEnded() && owesFreeing) {
            owesFreeing = false;
            engine.execute(freeing);
            return;
        }
        progress.transmit(open);
    }
}
