package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;

/**
 * A way to the queue pairs of another process of this machine, through memory that both have mapped. For the owner of the
 * engine; nothing waits, and sending allocates nothing.
 */
public interface MemoryPath {
    /** {@return whether it leads anywhere still: the other process may have gone} It does not come back. */
    boolean isOpen();

    /** {@return the bytes of a message that {@link #send} takes as one packet} See {@link OutgoingPacket#span(int)}. */
    int maxPayload();

    /** {@return whether it takes the longest packet now, or leads nowhere any more} If not, whoever reads there is slow. */
    boolean hasRoom(long nowNs);

    /**
     * {@return whether it has had no room for so long, although its reader lives, that who may lose packets should not wait any
     * longer} What is sent is lost then, as at a full socket.
     */
    boolean isStandingStill();

    /** Sends a packet, whose bytes are read before this returns. It has left then, but its reader may have to be woken. */
    PacketPort.Sent send(OutgoingPacket packet, long nowNs);
}
