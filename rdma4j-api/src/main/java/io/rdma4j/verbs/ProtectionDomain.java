package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * A fence around memory and queue pairs: a queue pair reaches only regions of its own domain.
 *
 * <p>C: {@code struct ibv_pd}. Source: IBTA 10.2.3. Thread safe.
 */
public interface ProtectionDomain extends AutoCloseable {
    /** {@return the device it belongs to} */
    DeviceContext context();

    /**
     * Registers memory. C: {@code ibv_reg_mr}.
     *
     * @param segment native or mapped memory of any size, of a shared, automatic or global arena
     * @param access what may be done; reading by the local side is always allowed
     * @throws RdmaException EINVAL for a heap segment, a confined arena, a read-only segment with
     *         write access, or remote writing without local writing
     */
    MemoryRegion register(MemorySegment segment, Set<AccessFlag> access) throws RdmaException;

    /** As above. */
    default MemoryRegion register(MemorySegment segment, AccessFlag... access)
            throws RdmaException {
        return register(segment, Set.of(access));
    }

    /**
     * Registers memory under an address of the caller's choice. C: {@code ibv_reg_mr_iova}.
     *
     * @param iova the address of the first byte, as work requests and peers shall count
     */
    MemoryRegion register(MemorySegment segment, long iova, Set<AccessFlag> access)
            throws RdmaException;

    /** Creates a queue pair in state RESET. C: {@code ibv_create_qp}. */
    QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException;

    /** Creates a shared receive queue. C: {@code ibv_create_srq}. */
    SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueAttributes attributes,
            @Nullable Object userContext) throws RdmaException;

    /** Creates the path of datagrams. C: {@code ibv_create_ah}. */
    AddressHandle createAddressHandle(AddressHandleAttributes attributes) throws RdmaException;

    /** Creates a memory window. C: {@code ibv_alloc_mw}. */
    MemoryWindow allocateMemoryWindow(MemoryWindowType type) throws RdmaException;

    /**
     * Frees it. Idempotent. C: {@code ibv_dealloc_pd}.
     *
     * @throws RdmaException EBUSY while anything created in it is alive
     */
    @Override
    void close() throws RdmaException;
}
