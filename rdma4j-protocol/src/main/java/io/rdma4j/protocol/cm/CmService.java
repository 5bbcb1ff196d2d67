package io.rdma4j.protocol.cm;

import io.rdma4j.cm.ConnectionParameters;

/** A service that connections can be asked of. */
public final class CmService {
    /** Receives requests. Calls come from within calls of the manager. */
    public interface Handler {
        /**
         * A request arrived.
         *
         * @param sourcePort the requester's port
         * @param parameters what it asks for, with its private data
         * @return who hears what becomes of it
         */
        CmConversation.Events onRequest(CmConversation conversation, int sourcePort,
                ConnectionParameters parameters);
    }

    private final ConnectionManager manager;
    private final CmOffer offer;
    private final Handler handler;
    private int unanswered;

    CmService(ConnectionManager manager, CmOffer offer, Handler handler) {
        this.manager = manager;
        this.offer = offer;
        this.handler = handler;
    }

    /** Stops offering the service; requests not yet answered remain. */
    public void close() {
        manager.remove(this);
    }

    CmOffer offer() {
        return offer;
    }

    /** {@return whether one more request may wait} */
    boolean hasRoom() {
        return unanswered < offer.backlog();
    }

    CmConversation.Events onRequest(CmConversation conversation, int sourcePort,
            ConnectionParameters parameters) {
        unanswered++;
        return handler.onRequest(conversation, sourcePort, parameters);
    }

    void onAnswered() {
        unanswered--;
    }
}
