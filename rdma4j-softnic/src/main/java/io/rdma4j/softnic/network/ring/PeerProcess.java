// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/** The system calls of a {@link RingPath}. Called by the owner of the engine; no call waits. */
public interface PeerProcess {
    /** Wakes the reader of the mailbox. {@return false if its process has ended} */
    boolean wake();

    /**
     * Maps a part of the mailbox.
     *
     * @return the part, null if the system refuses
     */
    @Nullable
    MemorySegment map(long offset, long length);

    /** {@return whether the reader's process is alive} May cost a system call. */
    boolean isAlive();

    /** Gives memory back to the system; it reads as zeros then. */
    void release(MemorySegment memory);

    /** The mailbox is not used any more. */
    void close();
}
