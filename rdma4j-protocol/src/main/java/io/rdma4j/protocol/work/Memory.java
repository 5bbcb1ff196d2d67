// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.WorkCompletionStatus;

/**
 * The registered memory that one queue pair may access. Each call checks keys, protection domain, bounds and rights before
 * any access; the caller must handle a length of 0.
 */
public interface Memory {
    /**
     * Checks an access by a local request.
     *
     * @param isWrite whether the request writes to it
     * @param target where the memory is, if allowed
     * @return whether it is allowed
     */
    boolean local(int lkey, long address, long length, boolean isWrite, MemoryReference target);

    /**
     * Checks an access by the peer.
     *
     * @param needed the access flag that it needs
     * @param target where the memory is, if allowed
     * @return whether it is allowed
     */
    boolean remote(int rkey, long address, long length, AccessFlag needed, MemoryReference target);

    /** {@return why {@link #remote} has just refused an access} */
    AccessRefusal refusal(int rkey, AccessFlag needed);

    /**
     * Checks an access by the peer to the whole memory of a key.
     *
     * @param target receives the start of the memory, if allowed
     * @return its length in bytes, or -1 if the access is not allowed
     */
    long remoteWhole(int rkey, AccessFlag needed, MemoryReference target);

    /**
     * Carries out a request that concerns this side alone: it binds a memory window of this queue pair's protection domain,
     * or invalidates a key.
     *
     * @return how it ends
     */
    WorkCompletionStatus carryOut(SendRequest request);

    /**
     * Invalidates a key on the peer's request.
     *
     * @return false if it is not the key of a window of type 2 that this queue pair has bound
     */
    boolean invalidate(int rkey);
}
