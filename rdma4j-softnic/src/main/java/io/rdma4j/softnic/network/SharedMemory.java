package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.Path;
import org.jspecify.annotations.Nullable;

/**
 * The memory by which a device exchanges packets with other processes of this machine. For the owner of the engine; nothing
 * waits, and sending and receiving allocate nothing.
 */
public interface SharedMemory {
    /** Receives what other processes have written. */
    interface Handler {
        /** A packet arrived. */
        void onPacket(SharedPacket packet);

        /** What a process has written is no packet; nothing more is received from it here. */
        void onNonsense();
    }

    /**
     * {@return the way to a queue pair that is not this process's, null if it is to be reached by the network}
     *
     * @param path that packets to it take
     */
    @Nullable
    MemoryPath path(Path path, int queuePair);

    /** {@return a number that changes when {@link #path} may have another answer} */
    int version();

    /**
     * Hands up what has arrived.
     *
     * @param budget the most packets to take
     * @return how many were taken
     */
    int receive(Handler handler, int budget);

    /** Wakes those who sleep and were sent something. */
    void flush();
}
