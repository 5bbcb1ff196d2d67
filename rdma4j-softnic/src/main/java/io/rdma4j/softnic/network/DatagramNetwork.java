// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

import java.net.InetAddress;
import java.nio.channels.Selector;
import java.util.List;

/** The ports of one device. */
public interface DatagramNetwork {
    /** {@return the ports, in the order they were opened} */
    List<PacketPort> ports();

    /**
     * {@return the port of a local address, or null} For the thread that also closes ports. Allocates nothing.
     */
    @Nullable
    PacketPort port(Gid local);

    /**
     * Opens a port.
     *
     * @throws RdmaException EADDRINUSE if another process holds it, EADDRNOTAVAIL if the address is not
     *         one of this machine's
     */
    PacketPort open(InetAddress local) throws RdmaException;

    /**
     * Opens a port that receives the packets to a multicast group. Other processes may do so too.
     *
     * @throws RdmaException EADDRNOTAVAIL if the interface cannot join it
     */
    PacketPort join(Gid group) throws RdmaException;

    /** Closes the port of a group, or of a local address. */
    void leave(Gid group);

    /**
     * Sets the time, which later packets are sent at, and sends delayed packets that are due.
     *
     * @return whether all due packets were sent; if not, call {@link PacketPort#flush} first
     */
    default boolean pollDue(long nowNs) {
        return true;
    }

    /** {@return when {@link #pollDue} has something to send, {@link Long#MAX_VALUE} for never} */
    default long nextDueNs() {
        return Long.MAX_VALUE;
    }

    /**
     * {@return the bytes of the longest IP packet that passes between a local address and another one, as far as the system
     * knows beside the interface's MTU; {@link Integer#MAX_VALUE} if it does not say} For any thread.
     */
    default int longestPacket(Gid local, Gid remote) {
        return Integer.MAX_VALUE;
    }

    /**
     * Checks whether packets still leave by the interface of the device, where another one of this host leads to their
     * destinations as well. For any thread; called now and then.
     */
    default void lookAtRoutes() {}

    /** {@return how the ports are shared with other processes} */
    default PortSharing sharing() {
        return PortSharing.NONE;
    }

    /** {@return by which packets pass between this device and others of this machine, null if by ports alone} */
    default @Nullable SharedMemory sharedMemory() {
        return null;
    }

    /**
     * Waits until a datagram has arrived or can be sent, {@link #wake} is called, or time is up. May be
     * called while another thread uses the ports.
     */
    void await(long timeoutNs);

    /**
     * {@return whether the last {@link #await} has ended with the system's word that no port has anything} It need not be asked port
     * by port then. Only the first call after a wait says so. A network that does not know says no.
     */
    default boolean takePortsQuiet() {
        return false;
    }

    /** {@return whether {@link #await(long, Selector)} can wait for a selector} For the thread that selects by it; the first calls wake it up. */
    default boolean canAwait(Selector selector) {
        return false;
    }

    /**
     * As {@link #await(long)}, and until a selector has something. With a time-out of 0 it may look at the selector alone.
     *
     * @return whether the selector has something
     * @throws IllegalStateException if {@link #canAwait} has not said that it can
     */
    default boolean await(long timeoutNs, Selector selector) {
        throw new IllegalStateException("no selector is awaited here");
    }

    /** Ends a wait under way, or the next one. */
    void wake();

    /** Closes all ports. */
    void close();
}
