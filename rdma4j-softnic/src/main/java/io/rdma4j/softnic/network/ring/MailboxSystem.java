package io.rdma4j.softnic.network.ring;

import java.lang.foreign.MemorySegment;

/** What the system does for a {@link Mailbox}. Called by the owner of the engine; nothing waits. */
public interface MailboxSystem {
    /**
     * Wakes a process that waits for room, if it is there.
     *
     * @param process its number, as it says
     * @param descriptor the file by which it is woken, as it says
     * @param inode of that file: the process may have ended, or have given its file's number to another file
     */
    void wake(long process, int descriptor, long inode);

    /** {@return whether the process of a prefix has ended} May cost a system call. */
    boolean isDead(int prefix);

    /** Gives memory back to the system; it reads as zeros then. */
    void release(MemorySegment memory);
}
