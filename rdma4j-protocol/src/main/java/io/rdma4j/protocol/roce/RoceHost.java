// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.roce;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.work.QueuePairHost;

/** What a RoCE queue pair needs of its host besides what every one needs. */
public interface RoceHost extends QueuePairHost {
    /** The first request of the peer arrived, so the peer is ready and knows this side. */
    default void peerIsReady() {}

    /**
     * {@return how many packets of one message, whichever, may be sent as one on a path} More than 1 if it leads through
     * memory, to the same device or to another process. See {@link OutgoingPacket#span(int)}.
     *
     * @param mtu bytes of a packet's payload
     */
    default int maxSegments(Path path, int mtu) {
        return 1;
    }

    /** {@return whether a path delays the queue pair instead of losing packets when it is full} */
    default boolean isLossless(Path path) {
        return false;
    }

    /** {@return by how many nanoseconds at most the time that it tells is behind, while it sends by lossless paths} To read the clock takes time as well. */
    default long mostBehindNs() {
        return 0;
    }

    /**
     * {@return whether a packet on a path may carry an acknowledgement} As through memory, where nothing reads its headers but
     * the device at its end. See {@link OutgoingPacket#piggyback(long, int, long)}.
     */
    default boolean piggybacks(Path path) {
        return false;
    }

    /** {@return whether the queue pairs send one packet each in turns at present, so that the acknowledgements of all of them leave together} */
    default boolean sendsInTurns() {
        return false;
    }

    /**
     * Requests end from now on without having been acknowledged, and the program may use their memory for something else: what
     * a path only names, and the peer has not read, must not arrive any more. Called before a completion says so.
     */
    default void withdrawPayloads() {}

    /** {@return whether the network accepts nothing at present, so that the peer may not have got the last packets, or the peer is known to be there and to pause} */
    default boolean isHeldUp() {
        return false;
    }

    /**
     * {@return how many middle packets of one message may be sent as one on a path} The port splits it. See {@link
     * OutgoingPacket#span(int)}.
     */
    default int maxMiddleSegments(Path path) {
        return 1;
    }

    /** {@return the estimate of the round-trip time to the peer of a path, shared by all queue pairs to it} */
    default RoundTripEstimate roundTrips(Path path) {
        return new RoundTripEstimate();
    }

    /**
     * The peer has said that it has no receive for the oldest request, which is sent again later.
     *
     * @param forNs how long it has said so of this request, in nanoseconds; 0 for the first time
     */
    default void peerHasNoReceive(long forNs) {}

    /** The packet with this PSN is sent again, and for some causes all later ones. */
    void retransmits(int psn, RetransmissionCause cause);
}
