package io.rdma4j.spi;

import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.RejectReason;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

/**
 * One connection, from request to time-wait, seen from one side; or one look-up of a datagram service,
 * which has only {@link #accept}, {@link #reject} and {@link #close}.
 */
public interface CmConnection {
    /**
     * {@return the attributes that bring the connection's queue pair to a state, the state included} C:
     * {@code rdma_init_qp_attr}.
     *
     * @param target INIT, RTR or RTS; RTR and RTS once the peer's parameters are known
     * @param own this side's parameters
     */
    QueuePairAttributes queuePairAttributes(QueuePairState target, ConnectionParameters own)
            throws RdmaException;

    /**
     * Accepts a request (passive side); a datagram service says queue pair and Q_Key of its parameters.
     */
    void accept(ConnectionParameters parameters, int queuePairNumber) throws RdmaException;

    /** Confirms a reply (active side); the connection is established. */
    void establish() throws RdmaException;

    /**
     * A packet arrived on the queue pair, so the peer is ready though its word for it may be lost. C:
     * {@code rdma_notify} with {@code IBV_EVENT_COMM_EST}.
     *
     * @throws RdmaException EISCONN if the connection is established already
     */
    void communicationEstablished() throws RdmaException;

    /** Says no, to a request or to a reply; a datagram service has no reasons. */
    void reject(RejectReason reason, byte[] privateData) throws RdmaException;

    /** Ends an established connection; the end is reported to the handler. */
    void disconnect() throws RdmaException;

    /** Forgets the connection: rejects or disconnects it if it is alive. Idempotent. */
    void close();

    /** Hears what becomes of a connection. */
    interface Handler {
        /** The peer accepted (active side); {@link #establish} or {@link #reject} follows. */
        void onReply(CmConnection connection, ConnectionParameters parameters);

        /** The datagram service was found (active side). */
        void onService(DatagramParameters service);

        /** The connection is established (passive side). */
        void onEstablished();

        /**
         * The peer said no.
         *
         * @param reason of a connection IBTA table 108: 8 is nobody listens, 28 the application's own; of a
         *        datagram service table 117
         */
        void onRejected(int reason, byte[] privateData);

        /** The peer did not answer. */
        void onUnreachable(Errno reason);

        /** The connection has ended. */
        void onDisconnected();

        /** Late packets of the connection can no longer arrive; its queue pair may be reused. */
        void onTimewaitExit();
    }
}
