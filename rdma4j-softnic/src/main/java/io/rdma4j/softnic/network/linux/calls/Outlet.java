// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.linux.calls;

import java.lang.foreign.MemorySegment;

/** Sends messages to the network. */
public interface Outlet {
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
     * @param messages an array of {@code struct mmsghdr}
     * @return how many were sent, starting with the first; or the negated error number of the first
     */
    int send(MemorySegment messages, int count);

    /**
     * Takes a report of an earlier message off the error queue.
     *
     * @param report a {@code struct msghdr}
     * @return negative if there is none
     */
    default long receiveReport(MemorySegment report) {
        return -1;
    }

    /** Closes it. */
    void close();
}
