// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Gid;

import java.nio.ByteBuffer;

/**
 * UDP port 4791 of one local address. One caller at a time; no call waits, and sending and receiving allocate nothing.
 */
public interface PacketPort {
    /** The outcome of sending a packet. */
    enum Sent {
        /** Accepted: it leaves at once, or with others at the next {@link #flush}. */
        SENT,
        /** Accepted by a {@link MemoryPath}, whose reader copies the payload from where it lies. */
        LENT,
        /** The network stack is full: the packet is kept and goes first; offer no other before {@link #flush}. */
        KEPT,
        /** The network stack refused it; it is lost, as on a wire. */
        REFUSED,
        /** No socket has the destination port. Only {@link #sendAsking} reports this. */
        UNREACHABLE,
        /**
         * Not sent, because the memory of its payload no longer exists: its arena was closed, or its file truncated.
         */
        PAYLOAD_GONE
    }

    /** {@return the address} */
    Gid local();

    /**
     * {@return how many middle packets of a message {@link #send(OutgoingPacket)} accepts as one} See {@link
     * OutgoingPacket#span(int)}.
     */
    default int maxMiddleSegments() {
        return 1;
    }

    /** {@return whether packets of several queue pairs to one process there leave by one system call} */
    default boolean sendsTogether(Gid destination) {
        return false;
    }

    /**
     * Sends a packet whose path starts at this address. Its bytes are read before this returns; it has left
     * when {@link #flush} has returned true.
     */
    Sent send(OutgoingPacket packet);

    /**
     * As {@link #send(OutgoingPacket)}, and finds out whether any socket has the destination port: at once on this machine,
     * otherwise {@link #takeReports} has it later. It costs some system calls; on this machine the packet may leave from another
     * port.
     */
    default Sent sendAsking(OutgoingPacket packet) {
        return send(packet);
    }

    /**
     * Sends the bytes of a datagram as they are, sealed or damaged on purpose.
     *
     * @param datagram from position 0 to limit; must not change while it is kept
     * @param path starts at this address
     */
    Sent send(ByteBuffer datagram, Path path);

    /** Sends the accepted and kept packets. {@return whether none is left here} */
    boolean flush();

    /** {@return how many accepted and kept packets have not left} None after {@link #flush} has returned true. */
    int waiting();

    /** Drops the accepted and kept packets that have not left: they are lost, as on a wire. {@return how many} */
    int dropWaiting();

    /**
     * {@return how many accepted packets the network stack has refused since the last call}
     *
     * @param failures is told why, if any were
     */
    default int takeRefused(SendFailures failures) {
        return 0;
    }

    /**
     * Looks for what the system reports of packets that have left, such as ICMP messages. It costs system calls.
     *
     * @param failures is told what it has reported since the last call
     */
    default void takeReports(SendFailures failures) {}

    /**
     * Passes received packets to a handler.
     *
     * @param budget the maximum number of datagrams
     * @return how many datagrams were received
     */
    int receive(PacketHandler handler, int budget);

    /**
     * As {@link #receive} for a caller that comes back at once: may return after one system call, because another would
     * mostly find nothing.
     */
    default int receiveBriefly(PacketHandler handler, int budget) {
        return receive(handler, budget);
    }
}
