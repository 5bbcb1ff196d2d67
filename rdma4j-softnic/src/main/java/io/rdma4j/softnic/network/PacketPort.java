package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.verbs.Gid;

import java.nio.ByteBuffer;

/**
 * UDP port 4791 of one local address. One caller at a time; nothing waits, and sending and receiving
 * allocate nothing.
 */
public interface PacketPort {
    /** What became of a packet. */
    enum Sent {
        /** It is taken: it leaves at once, or with others at the next {@link #flush}. */
        SENT,
        /** The network stack is full: the packet is kept and goes first; offer no other before {@link #flush}. */
        KEPT,
        /** The network stack refused it; it is lost, as on a wire. */
        REFUSED,
        /** No socket has the port it was sent to. Only {@link #sendAsking} says so. */
        UNREACHABLE,
        /** It was not sent, for the memory of its payload is gone: its arena was closed, or its file truncated. */
        PAYLOAD_GONE
    }

    /** {@return the address} */
    Gid local();

    /**
     * {@return how many middle packets of a message {@link #send(OutgoingPacket)} takes as one} See
     * {@link OutgoingPacket#span(int)}.
     */
    default int maxMiddleSegments() {
        return 1;
    }

    /**
     * Sends a packet whose path starts at this address. Its bytes are read before this returns; it has left
     * when {@link #flush} has returned true.
     */
    Sent send(OutgoingPacket packet);

    /**
     * As {@link #send(OutgoingPacket)}, and finds out whether anybody has the port that the packet goes to, if that can
     * be known: on this machine. It costs some system calls. The packet need not leave from this port.
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

    /** Sends what was taken and what is kept. {@return whether nothing is left here} */
    boolean flush();

    /** {@return how many packets the network stack refused after they were taken, since the last call} */
    default int takeRefused() {
        return 0;
    }

    /**
     * Hands up what has arrived.
     *
     * @param budget the most datagrams to take
     * @return how many were taken
     */
    int receive(PacketHandler handler, int budget);

    /**
     * As {@link #receive} for a caller that comes back at once: what a system call brings may do, where another would
     * mostly find nothing.
     */
    default int receiveBriefly(PacketHandler handler, int budget) {
        return receive(handler, budget);
    }
}
