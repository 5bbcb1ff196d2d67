// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * Gives the peer access to part of a region for a limited time.
 *
 * <p>C: {@code struct} {@index ibv_mw}. Source: IBTA 10.6.7.2. Thread safe.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface MemoryWindow extends AutoCloseable {
    /** {@return the protection domain it belongs to} C: {@index pd of struct ibv_mw}. */
    ProtectionDomain protectionDomain();

    /** {@return its kind} C: {@index type of struct ibv_mw}. */
    MemoryWindowType type();

    /** {@return the key the peer uses; changes with each bind} C: {@index rkey of struct ibv_mw}. */
    int rkey();

    /**
     * {@return the next key after another one: its low 8 bits are incremented} For the next bind of a
     * type 2 window. C: {@index ibv_inc_rkey}.
     *
     * @param rkey its present key
     */
    static int nextRkey(int rkey) {
        return (rkey & 0xffff_ff00) | ((rkey + 1) & 0xff);
    }

    /**
     * Frees it; the peer's access ends at once. Idempotent. C: {@index ibv_dealloc_mw}.
     *
     * @throws RdmaException EIO if the device cannot free it, EBUSY if a request that names it is being posted and that
     *         does not end; never by a software device
     */
    @Override
    void close() throws RdmaException;
}
