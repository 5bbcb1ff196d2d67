package io.rdma4j.protocol.roce;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.protocol.work.QueuePairHost;

/** What a RoCE queue pair needs of its host besides what every one needs. */
public interface RoceHost extends QueuePairHost {
    /** The first request of the peer arrived, so it is ready: it has learnt who this side is. */
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

    /** {@return whether a path loses nothing for want of room, but holds up the queue pair} */
    default boolean isLossless(Path path) {
        return false;
    }

    /** {@return whether the network takes nothing at present, so that the peer may not have heard what was sent last} */
    default boolean isHeldUp() {
        return false;
    }

    /**
     * {@return how many middle packets of one message may be sent as one on a path} The port cuts it. See
     * {@link OutgoingPacket#span(int)}.
     */
    default int maxMiddleSegments(Path path) {
        return 1;
    }

    /** {@return how long the answers of the peer at the other end of a path take, shared by all who lead there} */
    default RoundTripEstimate roundTrips(Path path) {
        return new RoundTripEstimate();
    }

    /** The packet with this PSN is sent again, and what lies behind if the cause says so. */
    void retransmits(int psn, RetransmissionCause cause);
}
