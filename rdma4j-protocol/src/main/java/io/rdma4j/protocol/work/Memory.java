package io.rdma4j.protocol.work;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.WorkCompletionStatus;

/**
 * Registered memory as one queue pair may see it. Keys, protection domain, bounds and rights are checked
 * at every call, before a byte moves; a length of 0 is for the caller to handle.
 */
public interface Memory {
    /**
     * Checks an access by a local request.
     *
     * @param isWrite whether data arrives there
     * @param target where the memory is, if allowed
     * @return whether it is allowed
     */
    boolean local(int lkey, long address, long length, boolean isWrite, MemoryReference target);

    /**
     * Checks an access by the peer.
     *
     * @param needed the right it needs
     * @param target where the memory is, if allowed
     * @return whether it is allowed
     */
    boolean remote(int rkey, long address, long length, AccessFlag needed, MemoryReference target);

    /** {@return why {@link #remote} has just refused an access} */
    AccessRefusal refusal(int rkey, AccessFlag needed);

    /**
     * Checks an access by the peer to all that a key stands for.
     *
     * @param target where that starts, if allowed
     * @return its bytes, or -1 if it is not allowed
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
     * Invalidates a key as the peer asks.
     *
     * @return false if it is not the key of a window of type 2 that this queue pair has bound
     */
    boolean invalidate(int rkey);
}
