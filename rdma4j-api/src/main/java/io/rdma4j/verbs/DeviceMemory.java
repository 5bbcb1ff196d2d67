// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.lang.foreign.MemorySegment;

/**
 * Memory of the device itself, which only the device and the two copying methods can access.
 *
 * <p>C: {@code struct} {@index ibv_dm}, {@index ibv_alloc_dm}. It is registered with
 * {@link ProtectionDomain#register(MemoryRegionInitAttributes)}, as a region whose addresses start at 0.
 * Starts zeroed. Thread safe; concurrent copies of the same bytes mix.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface DeviceMemory extends AutoCloseable {
    /** {@return the device it belongs to} */
    DeviceContext context();

    /** {@return its bytes} */
    long length();

    /**
     * Copies a whole segment into it. C: {@index ibv_memcpy_to_dm}.
     *
     * @param offset in the memory of the device
     * @param source memory of this process
     * @throws RdmaException EINVAL naming the bounds if it does not fit
     */
    void copyFrom(long offset, MemorySegment source) throws RdmaException;

    /**
     * Fills a whole segment from it. C: {@index ibv_memcpy_from_dm}.
     *
     * @param offset in the memory of the device
     * @param target memory of this process
     * @throws RdmaException EINVAL naming the bounds if the segment is longer than the memory from there on
     */
    void copyTo(long offset, MemorySegment target) throws RdmaException;

    /**
     * Frees it. Idempotent. C: {@index ibv_free_dm}.
     *
     * @throws RdmaException EBUSY while regions of it are registered
     */
    @Override
    void close() throws RdmaException;
}
