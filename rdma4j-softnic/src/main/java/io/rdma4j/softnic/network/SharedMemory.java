// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.network;

import io.rdma4j.protocol.roce.wire.PacketView;
import io.rdma4j.protocol.roce.wire.Path;
import io.rdma4j.softnic.memory.LendableMemory;
import io.rdma4j.verbs.Gid;
import org.jspecify.annotations.Nullable;

import java.util.function.IntPredicate;

/**
 * The memory through which a device exchanges packets with other processes of this machine. For the owner of the engine, but for what says otherwise; no
 * call waits, and sending and receiving allocate nothing.
 */
public interface SharedMemory {
    /** What {@link #tick} returns if the system has none. */
    long NO_TICK = Long.MIN_VALUE;
    /** Systems normally do not tick more rarely. */
    long LONGEST_TICK_NS = 10_000_000;

    /** Receives the packets that other processes have written. */
    interface Handler {
        /**
         * A packet arrived. Valid only during the call; the other process may change its payload while it is read.
         *
         * @param packet knows the addresses that its sender has given
         */
        void onPacket(PacketView packet);

        /** Something arrived in place of a packet, from an address that its sender has given; others may follow. */
        void onMalformed(Gid source);

        /** A process has written something that is not a packet; nothing more is received from it. */
        void onNonsense();
    }

    /**
     * {@return the path to a queue pair of another process, null if only the network reaches it}
     *
     * @param path the network path of packets to it
     */
    @Nullable
    MemoryPath path(Path path, int queuePair);

    /** {@return a number that changes when {@link #path} may return another result} */
    int version();

    /**
     * Passes received packets to a handler.
     *
     * @param budget the maximum number of packets
     * @return how many packets were received
     */
    int receive(Handler handler, int budget);

    /** {@return whether {@link #receive} would find nothing} For any thread; to others than the owner of the engine it may be out of date. */
    default boolean isQuiet() {
        return false;
    }

    /** {@return the memory of this device that it can lend to other processes} For any thread. */
    default LendableMemory lendable() {
        return LendableMemory.NONE;
    }

    /**
     * Withdraws what was lent in requests to a queue pair: they end without having been acknowledged, and their memory may be
     * used for something else.
     */
    default void withdrawRequests(int queuePair) {}

    /**
     * {@return a number that normally changes at least every {@link #LONGEST_TICK_NS}, and takes less time to get than the time itself; {@link #NO_TICK} if there is
     * none here}
     */
    default long tick() {
        return NO_TICK;
    }

    /** Gets the ends of other processes. */
    interface EndHandler {
        /**
         * A process has ended, and everything that it has sent was received.
         *
         * @param address one that it had
         * @param hadQueuePair whether it had the queue pair of a number there
         */
        void onProcessEnded(Gid address, IntPredicate hadQueuePair);
    }

    /** Sees to it that {@link #reportEnded} reports the end of the process that has a queue pair, if this memory reaches it. */
    default void watch(Path path, int queuePair) {}

    /** {@return whether processes have ended that {@link #reportEnded} has not reported} What they have sent is there then. */
    default boolean hasEnded() {
        return false;
    }

    /** Reports processes that have ended, of which {@link #receive} has left nothing. After {@link #hasEnded}, {@link #receive} and the ports. */
    default void reportEnded(EndHandler handler) {}

    /** Wakes sleeping readers to which something was sent. */
    void flush();
}
