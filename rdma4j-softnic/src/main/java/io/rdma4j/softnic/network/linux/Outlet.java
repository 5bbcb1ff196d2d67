package io.rdma4j.softnic.network.linux;

import java.lang.foreign.MemorySegment;

/** Takes messages for the network. */
interface Outlet {
    /**
     * Sends one message.
     *
     * @param message a {@code struct msghdr}
     * @return the bytes sent, or the negated error number
     */
    long send(MemorySegment message);

    /**
     * Sends several messages.
     *
     * @param messages {@code struct mmsghdr}, one behind the other
     * @return how many of them were sent, from the first; or the negated error number of the first
     */
    int send(MemorySegment messages, int count);

    /** Takes nothing more. */
    void close();
}
