// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.work.QueuePairProtocol;

/**
 * The protocol of one RoCE queue pair: packets come in and go out.
 *
 * <p>After every call but {@link #pollTransmit} the host polls for packets until there is none, and then asks for
 * {@link #deadlineNs}.
 */
public interface RoceProtocol extends QueuePairProtocol {
    /** Sets the path of packets to the peer. */
    void route(Path path);

    /**
     * Sets the wait asked of a peer whose message finds no receive for the first time, a code as of {@code min_rnr_timer}, which
     * is asked for when it comes again; until {@code min_rnr_timer} is set again. Only RC has it.
     */
    default void firstRnrTimer(int code) {}

    /** A packet for this queue pair arrived, from its peer if it has one. */
    void onPacket(PacketView packet, long nowNs);

    /**
     * Builds the next packet to send.
     *
     * @return false if there is none now; ask again after any other call
     */
    boolean pollTransmit(OutgoingPacket out, long nowNs);

    /** {@return whether another {@link #pollTransmit} may build a packet or do anything else, as far as is known at once} */
    default boolean mayTransmit() {
        return true;
    }

    /**
     * The packet that {@link #pollTransmit} has built was not sent, because the memory of its payload no longer exists.
     * Must be called before any other method.
     */
    void onPayloadGone();
}
