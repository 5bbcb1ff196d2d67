// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * Memory a device may access.
 *
 * <p>C: {@code struct} {@index ibv_mr}. Source: IBTA 10.6. The region keeps its segment reachable; closing the
 * region ends every access, local and remote, at once. If the segment's arena is closed first, or the file that it
 * maps is truncated, access to a software device's region fails as if the region were closed. A native device may
 * go on writing to the pages, which can belong to something else by then: close the region first. Thread safe.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface MemoryRegion extends AutoCloseable {
    /** {@return the protection domain it belongs to} C: {@index pd of struct ibv_mr}. */
    ProtectionDomain protectionDomain();

    /** {@return the memory; a segment of no bytes for device memory and for the null region} */
    MemorySegment segment();

    /**
     * {@return the address of the first byte for work requests and peers: the segment's native
     * address, 0 for a zero-based region, or the address chosen at registration} C: {@index addr of struct ibv_mr}.
     */
    long address();

    /** {@return the bytes} C: {@index length of struct ibv_mr}. */
    long length();

    /** {@return the key of local work requests} C: {@index lkey of struct ibv_mr}. */
    int lkey();

    /** {@return the key a peer uses} C: {@index rkey of struct ibv_mr}. */
    int rkey();

    /** {@return what may be done to it} */
    Set<AccessFlag> access();

    /**
     * Changes memory, domain or access rights of the region. Its keys stay the same. C: {@index ibv_rereg_mr}.
     * Outstanding requests that need a right or a byte that the region loses fail.
     *
     * @param changes what is to be other than it is
     * @throws RdmaException as {@link ProtectionDomain#register(MemorySegment, Set)}; EINVAL for a domain of another device
     *         context, and for other memory if the region lies in device memory, was made by
     *         {@link ProtectionDomain#allocateRegion(long, Set)} or is the null region; EBUSY while memory windows are bound
     *         to it; on a native device also EOPNOTSUPP for a region of device memory, and EFAULT if its arena was closed.
     *         Nothing is changed then
     */
    void reregister(MemoryRegionChanges changes) throws RdmaException;

    /**
     * Ends all access. Idempotent. C: {@index ibv_dereg_mr}, {@index rdma_dereg_mr}.
     *
     * @throws RdmaException EBUSY while memory windows are bound to it
     */
    @Override
    void close() throws RdmaException;
}
