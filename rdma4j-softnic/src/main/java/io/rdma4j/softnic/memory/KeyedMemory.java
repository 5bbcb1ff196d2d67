// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.memory;

import io.rdma4j.protocol.work.AccessRefusal;
import io.rdma4j.protocol.work.MemoryReference;
import io.rdma4j.protocol.work.Registration;

/**
 * The memory that a key refers to. A key has an identifier in the upper 24 bits and a tag in the lower 8,
 * so that a stale key does not match new memory with the same identifier.
 */
public sealed interface KeyedMemory extends Registration permits RegisteredMemory, WindowMemory {
    /** {@return its key} */
    int key();

    /** {@return whether another thread than the engine's owner may end its life, even while the owner accesses it} */
    boolean canVanish();

    /** {@return the identifier of a key} */
    static int id(int key) {
        return key >>> 8;
    }

    /**
     * Checks an access by the peer.
     *
     * @param wantedKey the key of the access
     * @param domain the protection domain of the queue pair
     * @param queuePair the number of the queue pair
     * @param length at least 1
     * @param needed verbs.h bits that must all be set
     * @param target receives the location of the memory, if allowed
     */
    boolean allowsPeer(int wantedKey, Object domain, int queuePair, long address, long length,
            int needed, MemoryReference target);

    /**
     * {@return why {@link #allowsPeer} has just refused an access}
     *
     * @param wantedKey the key of the access
     * @param domain the protection domain of the queue pair
     * @param queuePair the number of the queue pair
     * @param needed verbs.h bits that must all be set
     */
    AccessRefusal refusal(int wantedKey, Object domain, int queuePair, int needed);

    /**
     * Checks an access by the peer to all of it.
     *
     * @return its length in bytes, or -1 if the access is not allowed
     */
    long allowsPeerWhole(int wantedKey, Object domain, int queuePair, int needed,
            MemoryReference target);
}
