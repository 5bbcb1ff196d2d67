// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

import io.rdma4j.connection.ConnectionParameters;

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
    private final OfferedService offer;
    private final Handler handler;

    CmService(IbConnectionManager manager, ListenSpec offer, Handler handler) {
        this.manager = manager;
        this.offer = new OfferedService(offer);
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
        offer.close(onNoneLeft);
    }

    ListenSpec offer() {
        return offer.spec();
    }

    /** {@return whether another request may wait} */
    boolean hasRoom() {
        return offer.hasRoom();
    }

    IbCmConnection.Events onRequest(IbCmConnection connection, int sourcePort,
            ConnectionParameters parameters) {
        offer.onRequest();
        return handler.onRequest(connection, sourcePort, parameters);
    }

    void onAnswered() {
        offer.onAnswered();
        offer.onForgotten();
    }
}
