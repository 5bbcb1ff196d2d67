// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;

/**
 * A path to the queue pairs of another process of this machine, through shared memory. For the owner of the engine; no call
 * waits, and sending allocates nothing.
 */
public interface MemoryPath {
    /**
     * {@return whether it can be used: not after the other process has ended or the ring was found broken} A closed path
     * stays closed.
     */
    boolean isOpen();

    /** {@return how many bytes of a message {@link #send} accepts as one packet} See {@link OutgoingPacket#span(int)}. */
    int maxPayload();

    /**
     * {@return how many bytes of a message go best as one packet if they are copied} Its reader copies a packet while the next one is written, so short
     * ones keep both at work; too short ones cost more than they gain. Not more than {@link #maxPayload}.
     */
    int bestCopiedPayload();

    /** {@return whether it accepts a packet of the maximum length now, or is closed} If not, its reader is slow. */
    boolean hasRoom(long nowNs);

    /**
     * {@return whether it has had no room for so long, although its reader lives, that unreliable queue pairs should no
     * longer wait} Their packets are then lost, as at a full socket.
     */
    boolean isStandingStill();

    /** {@return whether the process at its end is known to live} It may be stopped, or pause. May cost a system call. */
    default boolean isReaderAlive() {
        return false;
    }

    /**
     * Sends a packet, whose bytes are read before this returns. The reader may still have to be woken ({@link
     * SharedMemory#flush}).
     */
    PacketPort.Sent send(OutgoingPacket packet, long nowNs);
}
