package io.rdma4j.protocol.cm;

import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

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
    private final long id;
    private final @Nullable Gid address;
    private final int backlog;
    private final Handler handler;
    private int unanswered;

    CmService(ConnectionManager manager, long id, @Nullable Gid address, int backlog,
            Handler handler) {
        this.manager = manager;
        this.id = id;
        this.address = address;
        this.backlog = backlog;
        this.handler = handler;
    }

    /** Stops offering the service; requests not yet answered remain. */
    public void close() {
        manager.remove(this);
    }

    boolean serves(long wantedId, Gid destination) {
        return id == wantedId && (address == null || address.equals(destination));
    }

    boolean conflictsWith(long otherId, @Nullable Gid otherAddress) {
        return id == otherId
                && (address == null || otherAddress == null || address.equals(otherAddress));
    }

    /** {@return whether one more request may wait} */
    boolean hasRoom() {
        return unanswered < backlog;
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
