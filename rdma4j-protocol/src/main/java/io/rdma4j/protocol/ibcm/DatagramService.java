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
    private final ListenSpec offer;
    private final Handler handler;
    private int unanswered;

    DatagramService(DatagramServices services, ListenSpec offer, Handler handler) {
        this.services = services;
        this.offer = offer;
        this.handler = handler;
    }

    /** Stops offering the service; look-ups not yet answered remain. */
    public void close() {
        services.remove(this);
    }

    ListenSpec offer() {
        return offer;
    }

    /** {@return whether another look-up may wait} */
    boolean hasRoom() {
        return unanswered < offer.backlog();
    }

    void onRequest(DatagramRequest request, int sourcePort, byte[] privateData) {
        unanswered++;
        handler.onRequest(request, sourcePort, privateData);
    }

    void onAnswered() {
        unanswered--;
    }
}
