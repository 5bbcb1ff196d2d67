// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.connection.ConnectionParameters;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** One connection, from request to time-wait, seen from one side. */
public interface CmConnection {
    /**
     * {@return how to bring a queue pair up for this connection} The passive side does so before it accepts; the active
     * side does so when the reply has arrived, before it establishes.
     *
     * @param own this side's parameters
     * @param options further choices of the application
     */
    QueuePairBringUp bringUp(ConnectionParameters own, CmOptions options);

    /**
     * Accepts a request (passive side).
     *
     * @throws RdmaException EINVAL if it has no request, or has answered it already; ECONNRESET if the peer has
     *         withdrawn
     */
    void accept(ConnectionParameters parameters, int queuePairNumber) throws RdmaException;

    /**
     * Confirms a reply (active side); the connection is established.
     *
     * @throws RdmaException EINVAL if there is no reply to confirm, ECONNRESET if the peer has withdrawn
     */
    void establish() throws RdmaException;

    /**
     * A packet arrived on the queue pair, so the peer is ready, although its confirmation may be lost. A transport whose
     * messages cannot be lost does nothing. C: {@code rdma_notify} with {@code IBV_EVENT_COMM_EST}.
     *
     * @throws RdmaException EISCONN if the connection is established already
     */
    void communicationEstablished() throws RdmaException;

    /**
     * Refuses a request or a reply.
     *
     * @throws RdmaException EINVAL if there is nothing to answer, ECONNRESET if the peer has withdrawn
     */
    void reject(byte[] privateData) throws RdmaException;

    /**
     * Ends a request whose peer has not answered as if its time were over: {@link Handler#onUnreachable} follows. Does
     * nothing if the peer has said anything. A transport that does not report {@link Handler#onSilence} does nothing.
     */
    default void giveUpUnanswered() {
        // There is no silence to end.
    }

    /**
     * Ends an established connection; the end is reported to the handler.
     *
     * @throws RdmaException EINVAL unless it is established or has ended
     */
    void disconnect() throws RdmaException;

    /** Closes the connection: rejects an unanswered request, or disconnects. Idempotent. */
    void close();

    /** Is notified of what happens to a connection. */
    interface Handler extends UnknownEvents {
        /**
         * The peer accepted and waits until this side is ready (active side): {@link #establish} or
         * {@link #reject} follows. A transport without this step reports {@link #onEstablished} at once.
         */
        void onReply(CmConnection connection, ConnectionParameters parameters);

        /**
         * The connection is established.
         *
         * @param parameters what the peer granted, if {@link #onReply} has not reported it
         */
        void onEstablished(@Nullable ConnectionParameters parameters);

        /** The peer refused. */
        void onRefused(Refusal refusal);

        /**
         * The peer of a request has said nothing for four seconds, though the request was repeated (active side). It is
         * waited for as before, unless {@link #giveUpUnanswered} follows. A transport may not report it.
         */
        default void onSilence(CmConnection connection) {
            // Nobody who knows another way.
        }

        /** The peer did not answer. */
        void onUnreachable(Errno reason);

        /** The connection has ended. */
        void onDisconnected();

        /** No late packet of the connection can arrive any more; its queue pair may be reused. */
        void onTimewaitExit();
    }
}
