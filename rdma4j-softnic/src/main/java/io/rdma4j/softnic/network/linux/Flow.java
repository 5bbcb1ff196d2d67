package io.rdma4j.softnic.network.linux;

import io.rdma4j.protocol.roce.wire.OutgoingPacket;
import io.rdma4j.protocol.work.Path;

import java.lang.foreign.Arena;
import java.nio.ByteBuffer;

/**
 * What leaves from one UDP port. Switches, and cards that receive, take packets with the same ports for one flow: they go
 * one way, and may be put together to a train. For one thread at a time.
 */
final class Flow {
    private final LinuxSocket socket;
    private final Burst burst;

    /**
     * @param port the UDP port that the socket is bound to
     * @param interfaceIndex of the interface that addresses of the link belong to
     */
    Flow(LinuxSocket socket, int port, int interfaceIndex, Arena arena) {
        this.socket = socket;
        burst = new Burst(interfaceIndex, port, arena);
    }

    /** Opens flows beside that of port 4791. */
    @FunctionalInterface
    interface Opener {
        /**
         * {@return a flow from a port of its own}
         *
         * @param number tells the flows of a port apart
         * @throws LinuxSocket.Refused if the system gives no more sockets or ports
         */
        Flow open(int number) throws LinuxSocket.Refused;
    }

    boolean add(OutgoingPacket packet) {
        return burst.add(packet);
    }

    void add(ByteBuffer datagram, Path path) {
        burst.add(datagram, path);
    }

    /** Sends what there is if there is no room for more. {@return false if it is kept} */
    boolean makeRoom() {
        return !burst.isFull() || burst.send(socket);
    }

    /** Sends what there is. {@return false if some of it is kept} */
    boolean flush() {
        return burst.send(socket);
    }

    int takeRefused() {
        return burst.takeRefused();
    }

    /** Gives up what is kept; the socket is closed by whoever knows who shares it. */
    void clear() {
        burst.clear();
    }

    LinuxSocket socket() {
        return socket;
    }
}
