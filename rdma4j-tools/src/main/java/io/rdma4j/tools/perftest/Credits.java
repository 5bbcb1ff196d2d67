// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendFlag;
import io.rdma4j.verbs.SendWorkRequest;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The number of messages that each queue pair's receiver has taken: it WRITEs the number into the sender's memory, so that
 * the sender never exceeds the posted receives on a transport without "receiver not ready". As in perftest over iWARP.
 *
 * <p>The first numbers are those that this side sends, the others those that it receives.
 */
final class Credits implements AutoCloseable {
    /** WRITEs of a queue pair that may be under way, in addition to its sends. */
    static final int DEPTH = 4;

    private static final VarHandle NUMBER = ValueLayout.JAVA_INT.varHandle();

    private final int queuePairs;
    private final MemorySegment numbers;
    private final MemoryRegion region;
    /** The number in the last credit of the messages before. */
    private long last;

    Credits(ProtectionDomain domain, Arena arena, int queuePairs) throws RdmaException {
        this.queuePairs = queuePairs;
        numbers = arena.allocate(ValueLayout.JAVA_INT, 2L * queuePairs);
        region = domain.register(numbers, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
    }

    /** {@return the address to which the peer writes its number for a queue pair} */
    long address(int index) {
        return region.address() + incoming(index);
    }

    int rkey() {
        return region.rkey();
    }

    private static long outgoing(int index) {
        return (long) index * Integer.BYTES;
    }

    private long incoming(int index) {
        return outgoing(queuePairs + index);
    }

    /** So many messages of each queue pair have been sent, while so many receives are all there are. */
    void sent(long messages, int receives) {
        last = CreditGiver.lastCredit(messages, receives);
    }

    /**
     * {@return whether the last credit of the messages before has come} Its completion does not say so: on iWARP a WRITE that
     * has completed may arrive after later messages of another connection.
     */
    boolean hasLast() {
        for (int i = 0; i < queuePairs; i++) {
            if ((int) NUMBER.getVolatile(numbers, incoming(i)) - (int) last < 0) {
                return false;
            }
        }
        return true;
    }

    /** Nothing has been taken: other messages begin. */
    void reset() {
        last = 0;
        for (int i = 0; i < queuePairs; i++) {
            NUMBER.setVolatile(numbers, incoming(i), 0);
        }
    }

    /**
     * {@return whether a queue pair's message may be posted whose number this is, though so many receives are all there are}
     * The last of them counts, unlike in perftest, where a single receive would never be used.
     */
    boolean covers(int index, long number, int receives) {
        int ahead = (int) number - (int) NUMBER.getVolatile(numbers, incoming(index));
        return Integer.compareUnsigned(ahead, receives) <= 0;
    }

    /** {@return the message that says how many of a queue pair's messages have been taken} Its number is to be set. */
    SendWorkRequest credit(int index, long taken, Endpoint peer) {
        NUMBER.setVolatile(numbers, outgoing(index), (int) taken);
        return new SendWorkRequest().add(region, outgoing(index), Integer.BYTES)
                .write(peer.address(), peer.rkey()).set(SendFlag.SIGNALED);
    }

    @Override
    public void close() throws RdmaException {
        region.close();
    }
}
