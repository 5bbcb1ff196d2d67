// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;

/**
 * The protocol of one queue pair. One caller at a time; time is an argument.
 *
 * <p>After every call the host has sent what there is to send, and then asks for {@link #deadlineNs}. How things travel
 * is the matter of each transport, whose interface extends this one.
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

    /** Sets the attributes the protocol knows. */
    void query(QueuePairAttributes into);

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

    /** {@return when {@link #onDeadline} wants to be called, {@link Long#MAX_VALUE} for never} */
    long deadlineNs();

    /** The deadline has passed. */
    void onDeadline(long nowNs);
}
