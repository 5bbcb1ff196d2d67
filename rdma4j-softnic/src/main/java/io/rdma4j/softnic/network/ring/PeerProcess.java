package io.rdma4j.softnic.network.ring;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/** What the system does for a {@link RingPath}. Called by the owner of the engine; nothing waits. */
public interface PeerProcess {
    /** Ends the sleep of who reads the mailbox. {@return false if it has gone} */
    boolean wake();

    /**
     * Maps a part of the mailbox.
     *
     * @return the part, null if the system refuses
     */
    @Nullable
    MemorySegment map(long offset, long length);

    /** {@return whether who reads the mailbox is there still} May cost a system call. */
    boolean isAlive();

    /** Gives memory back to the system; it reads as zeros then. */
    void release(MemorySegment memory);

    /** The mailbox is not used any more. */
    void close();
}
