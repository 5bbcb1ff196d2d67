// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network.ring;

import org.jspecify.annotations.Nullable;

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

    /**
     * Maps a section of the pages of another device, to read what it lends.
     *
     * @param owner the nonce of that device's mailbox, as its process wrote it
     * @param descriptor the file descriptor of its pages in that process, as the process wrote it
     * @param number the number of the section, as the process wrote it
     * @return it, a section that is gone if there is none; null if this process may not have it, and so none of that device
     */
    @Nullable
    LentSection lentSection(long owner, int descriptor, long number);

    /** Gives memory back to the system; it reads as zeros then. */
    void release(MemorySegment memory);
}
