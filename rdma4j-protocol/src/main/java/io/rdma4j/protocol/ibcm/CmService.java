// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;
import org.jspecify.annotations.Nullable;

/** A service that accepts connection requests. */
public final class CmService {
    /** Receives requests. Calls come from within calls of the manager. */
    public interface Handler {
        /**
         * A request arrived.
         *
         * @param sourcePort the requester's port
         * @param parameters what it asks for, with its private data
         * @return the handler of its events
         */
        IbCmConnection.Events onRequest(IbCmConnection connection, int sourcePort,
                ConnectionParameters parameters);
    }

    private final IbConnectionManager manager;
    private final ListenSpec offer;
    private final Handler handler;
    private int unanswered;
    private @Nullable Runnable onUnneeded;

    CmService(IbConnectionManager manager, ListenSpec offer, Handler handler) {
        this.manager = manager;
        this.offer = offer;
        this.handler = handler;
    }

    /**
     * Stops offering the service; requests not yet answered remain.
     *
     * @param onNoneLeft called once none of them is left, perhaps at once: until then their repetitions must come here, as
     *        another manager would refuse them
     */
    public void close(Runnable onNoneLeft) {
        manager.remove(this);
        onUnneeded = onNoneLeft;
        finishIfUnneeded();
    }

    private void finishIfUnneeded() {
        Runnable told = onUnneeded;
        if (told != null && unanswered == 0) {
            onUnneeded = null;
            told.run();
        }
    }

    ListenSpec offer() {
        return offer;
    }

    /** {@return whether another request may wait} */
    boolean hasRoom() {
        return unanswered < offer.backlog();
    }

    IbCmConnection.Events onRequest(IbCmConnection connection, int sourcePort,
            ConnectionParameters parameters) {
        unanswered++;
        return handler.onRequest(connection, sourcePort, parameters);
    }

    void onAnswered() {
        unanswered--;
        finishIfUnneeded();
    }
}
