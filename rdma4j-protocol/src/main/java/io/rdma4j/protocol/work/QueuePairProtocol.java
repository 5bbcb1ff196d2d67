package io.rdma4j.protocol.work;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;

/**
 * The protocol of one queue pair. One caller at a time; time is an argument.
 *
 * <p>After every call but {@link #pollTransmit} the host polls for packets until there is none, and then
 * asks for {@link #deadlineNs}.
 */
public interface QueuePairProtocol {
    /** {@return the state} */
    QueuePairState state();

    /**
     * Applies attributes that were checked, and moves to a state.
     *
     * @param next the state after the call, possibly the same
     */
    void modify(QueuePairAttributes attributes, QueuePairState next, long nowNs);

    /** Says where packets to the peer travel. */
    void route(Path path);

    /** Sets the attributes the protocol knows. */
    void query(QueuePairAttributes into);

    /** A packet for this queue pair arrived, from its peer if it has one. */
    void onPacket(PacketView packet, long nowNs);

    /** Send requests were posted. */
    void onSendPosted(long nowNs);

    /** Receive requests were posted. */
    void onReceivePosted(long nowNs);

    /** {@return whether {@link #onReceivePosted} makes a difference now} */
    boolean wantsReceiveDoorbell();

    /**
     * What {@link QueuePairHost#flush} was to write is written, or could not be.
     *
     * @param ticket the number it was asked for with, perhaps long ago
     */
    default void onFlushed(long ticket, FlushOutcome outcome) {
        // Most services have no FLUSH.
    }

    /**
     * Builds the next packet to send.
     *
     * @return false if there is none now; ask again after any other call
     */
    boolean pollTransmit(OutgoingPacket out, long nowNs);

    /**
     * The packet that {@link #pollTransmit} has built was not sent, for the memory of its payload is gone. To be called
     * before anything else.
     */
    void onPayloadGone();

    /** {@return when {@link #onDeadline} wants to be called, {@link Long#MAX_VALUE} for never} */
    long deadlineNs();

    /** The deadline has passed. */
    void onDeadline(long nowNs);
}
