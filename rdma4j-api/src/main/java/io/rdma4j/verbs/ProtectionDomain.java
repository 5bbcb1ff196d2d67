// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;

/**
 * Groups memory and queue pairs: a queue pair can access only regions of its own domain.
 *
 * <p>C: {@code struct} {@index ibv_pd}. Source: IBTA 10.2.3. Thread safe.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface ProtectionDomain extends AutoCloseable {
    /** {@return the device it belongs to} C: {@index context of struct ibv_pd}. */
    DeviceContext context();

    /**
     * Registers memory. C: {@index ibv_reg_mr}. The region keeps the segment reachable. The memory still belongs to the
     * caller; closing its arena ends access as closing the region does.
     *
     * <p><b>Danger:</b> the address of a segment that a restricted method made ({@link MemorySegment#reinterpret(long)}) is
     * the caller's claim. If the memory is not mapped, no longer mapped, or mapped without the rights that {@code access}
     * needs, an access by the device, perhaps on behalf of a peer, crashes the JVM. This method detects only memory that is
     * not mapped, and only on Linux (without native access only for a segment without an arena).
     *
     * @param segment native or mapped memory of any size, of a shared, automatic or global arena
     * @param access what may be done; reading by the local side is always allowed
     * @return the region, open; the caller closes it
     * @throws RdmaException EINVAL for a heap segment, a segment without bytes, a confined or closed arena,
     *         a read-only segment with write access, remote writing without local writing, or
     *         {@link AccessFlag#FLUSH_PERSISTENT} for a segment that maps no file; EFAULT for a
     *         segment that is known not to be mapped; EOPNOTSUPP
     *         naming rights that the device does not support; ENOMEM naming the limit when it has no room for
     *         another region; EBADF if the domain is closed
     */
    MemoryRegion register(MemorySegment segment, Set<AccessFlag> access) throws RdmaException;

    /**
     * Registers memory with rights that are listed. C: {@index ibv_reg_mr}.
     *
     * @param segment native or mapped memory, as {@link ProtectionDomain#register(MemorySegment, java.util.Set)} wants it
     * @param access what may be done; reading by the local side is always allowed
     * @return the region, open; the caller closes it
     * @throws RdmaException as {@link #register(MemorySegment, Set)}
     */
    default MemoryRegion register(MemorySegment segment, AccessFlag... access)
            throws RdmaException {
        return register(segment, FlagSets.of(AccessFlag.class, access));
    }

    /**
     * Registers memory under an address of the caller's choice. C: {@index ibv_reg_mr_iova}.
     *
     * @param segment native or mapped memory, as {@link ProtectionDomain#register(MemorySegment, java.util.Set)} wants it
     * @param iova the address of the first byte for work requests and peers
     * @param access what may be done; reading by the local side is always allowed
     * @return the region, open; the caller closes it
     * @throws RdmaException as {@link #register(MemorySegment, Set)}; EOPNOTSUPP on a native device with a libibverbs older than rdma-core 16
     */
    MemoryRegion register(MemorySegment segment, long iova, Set<AccessFlag> access)
            throws RdmaException;

    /**
     * Allocates memory for a region and registers it. The memory is zeroed and aligned to a page, and is freed when the
     * region is closed, not before. So no program can close an arena while the device uses its memory; a NIC, which
     * accesses memory by physical addresses, would not notice that in time. Software devices on Linux can lend such memory to
     * other processes of the user: a long message from it to another process of the machine is copied once instead of twice. C:
     * {@index ibv_alloc_buf}, or {@code malloc}, and {@index ibv_reg_mr}.
     *
     * @param byteSize from 1
     * @param access what may be done; reading by the local side is always allowed
     * @return it, open; the caller closes it
     * @throws RdmaException EINVAL for a size below 1 and for rights that memory of the process cannot have, as in
     *         {@link #register(MemorySegment, Set)}; ENOMEM if there is not so much memory, or no room for another region
     */
    MemoryRegion allocateRegion(long byteSize, Set<AccessFlag> access) throws RdmaException;

    /**
     * Allocates memory for a region and registers it with rights that are listed. C: {@index ibv_alloc_buf}, {@code
     * ibv_reg_mr}.
     *
     * @param byteSize from 1
     * @param access what may be done; reading by the local side is always allowed
     * @return it, open; the caller closes it
     * @throws RdmaException as {@link #allocateRegion(long, Set)}
     */
    default MemoryRegion allocateRegion(long byteSize, AccessFlag... access)
            throws RdmaException {
        return allocateRegion(byteSize, FlagSets.of(AccessFlag.class, access));
    }

    /**
     * Registers memory of the process, of the device or of another device. C: {@index ibv_reg_mr_ex},
     * {@index ibv_reg_dm_mr}, {@index ibv_reg_dmabuf_mr}.
     *
     * @param attributes what it is to be like; the object may be changed afterwards
     * @return the region, open; the caller closes it
     * @throws RdmaException EINVAL if not exactly one of segment, device memory and dma-buf is set, for device memory of
     *         another context, for bounds outside it or without {@link AccessFlag#ZERO_BASED}, for a dma-buf with a
     *         negative descriptor or offset, with a length below 1, or with an address that is not equally far into a page
     *         as the offset; EBADF for a descriptor that is not a dma-buf; EOPNOTSUPP for a dma-buf if the device has no
     *         such regions, as software devices do not; and as {@link #register(MemorySegment, Set)}
     */
    MemoryRegion register(MemoryRegionInitAttributes attributes) throws RdmaException;

    /**
     * Creates the null region, which has no memory: data received into it is discarded, and data sent from it is zeros.
     * Any address and length are valid. For local use only. C: {@index ibv_alloc_null_mr}.
     *
     * @return the region, open; the caller closes it
     * @throws RdmaException ENOMEM naming the limit when the device has no room for another region; EOPNOTSUPP
     *         if it has no such regions
     */
    MemoryRegion registerNull() throws RdmaException;

    /**
     * Advises the device about the coming use of registered memory. C: {@index ibv_advise_mr}.
     *
     * @param advice how the memory will be used
     * @param elements ranges of regions of this domain
     * @param flags none, or that it is done before the call returns
     * @throws RdmaException ENOENT for a key of no region of this domain, EFAULT for bounds outside it,
     *         EINVAL for {@link MemoryAdvice#PREFETCH_WRITE} without LOCAL_WRITE, or if the memory is gone; EOPNOTSUPP
     *         if the device takes no advice
     */
    void advise(MemoryAdvice advice, List<ScatterGatherElement> elements, AdviceFlag... flags)
            throws RdmaException;

    /**
     * Creates a domain that shares this one's regions and adds what the attributes say, such as a thread domain. It can be used
     * wherever a protection domain can. C: {@index ibv_alloc_parent_domain}.
     *
     * @param attributes what it is to be like; the object may be changed afterwards
     * @throws RdmaException EINVAL if the thread domain is of another device context; on a native device also EINVAL if
     *         this is a parent domain itself, and EOPNOTSUPP for an allocator
     */
    ProtectionDomain createParentDomain(ParentDomainInitAttributes attributes) throws RdmaException;

    /**
     * Creates a queue pair in state RESET. C: {@index ibv_create_qp}. One of type {@link QueuePairType#XRC_SEND} has no
     * receive queue and needs no completion queue for it; one of type {@link QueuePairType#XRC_RECEIVE} is created by
     * {@link XrcDomain#createQueuePair}; for one of type {@link QueuePairType#RAW_PACKET} the process needs CAP_NET_RAW.
     *
     * @param attributes what it is to be like; the object may be changed afterwards
     * @return it, open; the caller closes it
     * @throws RdmaException EOPNOTSUPP for a type or an operation
     *         ({@link QueuePairInitAttributes#sendOperations}) that the device does not support; EINVAL naming
     *         the limit for a size out of range, for an operation that the type does not have, for a completion
     *         queue that is missing or of another device context, or for a shared receive queue that is of another
     *         domain or that the type cannot use; EPERM for raw packets without CAP_NET_RAW; ENOMEM naming the limit when
     *         the device has as many queue pairs as it can have, or if memory is short; EADDRINUSE or EADDRNOTAVAIL if
     *         the device cannot get its network address
     */
    QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException;

    /**
     * Creates a shared receive queue. C: {@index ibv_create_srq}, {@index ibv_create_srq_ex}.
     *
     * @param attributes what it is to be like; the object may be changed afterwards
     * @return it, open; the caller closes it
     * @throws RdmaException EINVAL naming the limit for a size out of range, or a limit above the size; EINVAL for type XRC
     *         without XRC domain or completion queue, or with one of another context, and for another type with either;
     *         EOPNOTSUPP for a type that the device does not support; ENOMEM naming the limit when the device has as many
     *         queues as it can have, or if memory is short
     */
    SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueInitAttributes attributes)
            throws RdmaException;

    /**
     * Creates an address handle, the path that datagrams take. C: {@index ibv_create_ah}.
     *
     * @param attributes what it is to be like; the object may be changed afterwards
     * @return it, open; the caller closes it
     * @throws RdmaException EINVAL without a global route on RoCE, for an empty entry of the GID table, or
     *         for GIDs of two IP versions; ENOMEM naming the limit when the device has as many handles as it can have;
     *         EOPNOTSUPP if the device has no datagrams, as iWARP
     */
    AddressHandle createAddressHandle(AddressHandleAttributes attributes) throws RdmaException;

    /**
     * Creates the path back to the sender of a received datagram. C: {@index ibv_create_ah_from_wc}.
     *
     * @param port the port that received it
     * @param completion its completion
     * @param header the first {@link AddressHandle#GLOBAL_ROUTE_LENGTH} bytes of its receive buffer
     * @return it, open; the caller closes it
     * @throws RdmaException EINVAL if there is no such header or port, or it is not for this device, and as
     *         {@link #createAddressHandle(AddressHandleAttributes)}
     */
    default AddressHandle createAddressHandle(int port, WorkCompletion completion,
            MemorySegment header) throws RdmaException {
        return createAddressHandle(context().pathBack(port, completion, header));
    }

    /**
     * Creates a memory window. C: {@index ibv_alloc_mw}.
     *
     * @param type how it is bound
     * @return it, open; the caller closes it
     * @throws RdmaException ENOMEM naming the limit when the device has as many windows as it can have; EOPNOTSUPP
     *         for a type that it does not support
     */
    MemoryWindow allocateMemoryWindow(MemoryWindowType type) throws RdmaException;

    /**
     * Frees it. Idempotent. C: {@index ibv_dealloc_pd}.
     *
     * @throws RdmaException EBUSY while anything created in it is open
     */
    @Override
    void close() throws RdmaException;
}
