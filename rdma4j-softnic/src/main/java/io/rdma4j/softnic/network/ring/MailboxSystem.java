package io.rdma4j.softnic.network.ring;

import java.lang.foreign.MemorySegment;

/** What the system does for a {@link Mailbox}. Called by the owner of the engine; nothing waits. */
public interface MailboxSystem {
    /**
     * Wakes a process that waits for room, if it is there.
     *
     * @param process its number, as it says
     * @param descriptor by which it is woken, as it says
     */
    void wake(long process, int descriptor);

    /** {@return whether the process of a prefix has ended} May cost a system call. */
    boolean isDead(int prefix);

    /** Gives memory back to the system; it reads as zeros then. */
    void release(MemorySegment memory);
}
