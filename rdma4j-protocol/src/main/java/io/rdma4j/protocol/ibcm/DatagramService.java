// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.ibcm;

/** A datagram service that can be looked up. */
public final class DatagramService {
    /** Receives look-ups. Calls come from within calls of the manager. */
    public interface Handler {
        /**
         * A peer looks up the service.
         *
         * @param sourcePort the requester's port
         * @param privateData bytes of its application
         */
        void onRequest(DatagramRequest request, int sourcePort, byte[] privateData);
    }

    private final DatagramServices services;
    private final OfferedService offer;
    private final Handler handler;

    DatagramService(DatagramServices services, ListenSpec offer, Handler handler) {
        this.services = services;
        this.offer = new OfferedService(offer);
        this.handler = handler;
    }

    /**
     * Stops offering the service; look-ups not yet answered remain.
     *
     * @param onNoneLeft called once none is left whose repetition would be answered, perhaps at once: until then they must
     *        come here, as another manager would refuse them
     */
    public void close(Runnable onNoneLeft) {
        services.remove(this);
        offer.close(onNoneLeft);
    }

    ListenSpec offer() {
        return offer.spec();
    }

    /** {@return whether another look-up may wait} */
    boolean hasRoom() {
        return offer.hasRoom();
    }

    void onRequest(DatagramRequest request, int sourcePort, byte[] privateData) {
        offer.onRequest();
        handler.onRequest(request, sourcePort, privateData);
    }

    void onAnswered() {
        offer.onAnswered();
    }

    void onForgotten() {
        offer.onForgotten();
    }
}
