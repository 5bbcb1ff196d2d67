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

    /**
     * {@return whether it takes the longest packet now} If not, whoever reads there is slow, and it is worth waiting. It
     * takes packets, which are lost, if it stands still for long.
     */
    boolean hasRoom(long nowNs);

    /** Sends a packet, whose bytes are read before this returns. It has left then, but its reader may have to be woken. */
    PacketPort.Sent send(OutgoingPacket packet, long nowNs);
}
