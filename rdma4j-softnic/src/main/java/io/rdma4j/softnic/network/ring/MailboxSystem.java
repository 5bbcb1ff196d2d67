// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import java.lang.foreign.MemorySegment;

/** The system calls of a {@link Mailbox}. Called by the owner of the engine; no call waits. */
public interface MailboxSystem {
    /**
     * Wakes a process that waits for room, if it still exists.
     *
     * @param process the process ID, as the process wrote it
     * @param descriptor the file descriptor of its wake-up pipe, as the process wrote it
     * @param inode the inode of the pipe: the process may have ended, or use the descriptor for another file
     */
    void wake(long process, int descriptor, long inode);

    /** {@return whether the process of a prefix has ended} May cost a system call. */
    boolean isDead(int prefix);

    /** Gives memory back to the system; it reads as zeros then. */
    void release(MemorySegment memory);
}
