package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;

/**
 * A fence around memory and queue pairs: a queue pair reaches only regions of its own domain.
 *
 * <p>C: {@code struct ibv_pd}. Source: IBTA 10.2.3. Thread safe.
 */
public interface ProtectionDomain extends AutoCloseable {
    /** {@return the device it belongs to} C: {@code context}. */
    DeviceContext context();

    /**
     * Registers memory. C: {@code ibv_reg_mr}. The region keeps the segment reachable; its bytes stay the
     * caller's, and closing its arena ends access as closing the region does.
     *
     * <p>A segment made by a restricted method ({@link MemorySegment#reinterpret(long)}) is memory only because the caller
     * says so. A device that accesses it, perhaps because a peer asks, ends the JVM if it is not mapped, no longer mapped
     * or mapped without the rights that {@code access} needs; of these only the first is noticed here, and only on Linux
     * (without native access only for a segment of no arena).
     *
     * @param segment native or mapped memory of any size, of a shared, automatic or global arena
     * @param access what may be done; reading by the local side is always allowed
     * @throws RdmaException EINVAL for a heap segment, a segment without bytes, a confined or closed arena,
     *         a read-only segment with write access, remote writing without local writing, or
     *         {@link AccessFlag#FLUSH_PERSISTENT} for a segment that maps no file; EFAULT for a
     *         segment that is known not to be mapped; EOPNOTSUPP
     *         naming rights the device does not offer; ENOMEM naming the limit when it has no room for
     *         another region
     * @throws IllegalStateException if the domain is closed
     */
    MemoryRegion register(MemorySegment segment, Set<AccessFlag> access) throws RdmaException;

    /**
     * As above.
     *
     * @throws RdmaException as above
     * @throws IllegalArgumentException if a right is named twice
     */
    default MemoryRegion register(MemorySegment segment, AccessFlag... access)
            throws RdmaException {
        return register(segment, Set.of(access));
    }

    /**
     * Registers memory under an address of the caller's choice. C: {@code ibv_reg_mr_iova}.
     *
     * @param iova the address of the first byte, as work requests and peers shall count
     * @throws RdmaException as above
     */
    MemoryRegion register(MemorySegment segment, long iova, Set<AccessFlag> access)
            throws RdmaException;

    /**
     * Registers new memory, which is the region's own: zeroed, aligned to a page, and given back when the region is
     * closed, not before. No arena can be closed under it, which a device that reads and writes memory by its physical
     * addresses does not notice in time. C: {@code ibv_alloc_buf}, or {@code malloc}, and {@code ibv_reg_mr}.
     *
     * @param byteSize from 1
     * @param access what may be done; reading by the local side is always allowed
     * @throws RdmaException EINVAL for a size below 1 and for rights that memory of the process cannot have, as above;
     *         ENOMEM if there is not so much memory, or no room for another region
     */
    MemoryRegion allocateRegion(long byteSize, Set<AccessFlag> access) throws RdmaException;

    /**
     * As above.
     *
     * @throws RdmaException as above
     * @throws IllegalArgumentException if a right is named twice
     */
    default MemoryRegion allocateRegion(long byteSize, AccessFlag... access)
            throws RdmaException {
        return allocateRegion(byteSize, Set.of(access));
    }

    /**
     * Registers memory of the process or of the device. C: {@code ibv_reg_mr_ex}, {@code ibv_reg_dm_mr}.
     *
     * @throws RdmaException EINVAL if not exactly one of segment and device memory is set, for device memory of
     *         another context, for bounds outside it or without {@link AccessFlag#ZERO_BASED}, and as above
     */
    MemoryRegion register(MemoryRegionInitAttributes attributes) throws RdmaException;

    /**
     * Registers memory of another device, such as a graphics card, which its driver gives out as a dma-buf. The process does
     * not reach it by the region, whose segment is {@link MemorySegment#NULL}. C: {@code ibv_reg_dmabuf_mr}.
     *
     * @param fd the descriptor of the dma-buf, which stays the caller's and may be closed once the region is there
     * @param offset where in the dma-buf the region begins, in bytes
     * @param length bytes of the region, from 1
     * @param iova the address of the first byte, as work requests and peers shall count; as far into a page as the offset
     * @param access what may be done; reading by the local side is always allowed
     * @throws RdmaException EINVAL for a negative descriptor or offset, a length below 1, an address that is not as far into
     *         a page as the offset, or remote writing without local writing; EBADF for a descriptor of no dma-buf;
     *         EOPNOTSUPP if the device has no such regions, as software devices have not; ENOMEM naming the limit when
     *         it has no room for another region
     * @throws IllegalStateException if the domain is closed
     */
    MemoryRegion registerDmaBuf(int fd, long offset, long length, long iova,
            Set<AccessFlag> access) throws RdmaException;

    /**
     * Registers no memory: what is received there is thrown away, and zeros are sent from there; any
     * address and length fit. For local use. C: {@code ibv_alloc_null_mr}.
     *
     * @throws RdmaException ENOMEM naming the limit when the device has no room for another region; EOPNOTSUPP
     *         if it has no such regions
     */
    MemoryRegion registerNull() throws RdmaException;

    /**
     * Says what will be done with registered memory. C: {@code ibv_advise_mr}.
     *
     * @param isFlushed whether it shall be done when the call returns ({@code IBV_ADVISE_MR_FLAG_FLUSH})
     * @throws RdmaException ENOENT for a key of no region of this domain, EFAULT for bounds outside it,
     *         EINVAL for {@link MemoryAdvice#PREFETCH_WRITE} without LOCAL_WRITE
     */
    void advise(MemoryAdvice advice, boolean isFlushed, List<ScatterGatherElement> elements)
            throws RdmaException;

    /**
     * Creates a domain that shares this one's regions and adds a thread domain and an allocator for queue
     * memory; usable wherever a domain is. C: {@code ibv_alloc_parent_domain}.
     *
     * @param threadDomain whose objects belong to one thread, or null
     * @param allocator where queues get their native memory, or null for the device's own
     * @throws RdmaException EINVAL if the thread domain is of another device context
     */
    ProtectionDomain createParentDomain(@Nullable ThreadDomain threadDomain,
            @Nullable BufferAllocator allocator) throws RdmaException;

    /**
     * Creates a queue pair in state RESET. C: {@code ibv_create_qp}. One of type {@link QueuePairType#XRC_SEND} has no
     * receive queue and needs no completion queue for it; one of type {@link QueuePairType#XRC_RECEIVE} is created by
     * {@link XrcDomain#createQueuePair}; one of type {@link QueuePairType#RAW_PACKET} takes a privilege of the process.
     *
     * @throws RdmaException EOPNOTSUPP for a type or an operation
     *         ({@link QueuePairInitAttributes#sendOperations}) that the device does not offer; EINVAL naming
     *         the limit for a size out of range, for an operation that the type does not have, for a completion
     *         queue that is missing or of another device context, or for a shared receive queue of another
     *         domain or that the type does not take; EPERM for raw packets without CAP_NET_RAW; ENOMEM naming the limit when the device has all the queue pairs it can have, or if there
     *         is not so much memory; EADDRINUSE or EADDRNOTAVAIL if the device cannot have its network address
     */
    QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException;

    /**
     * Creates a shared receive queue. C: {@code ibv_create_srq}.
     *
     * @throws RdmaException EINVAL naming the limit for a size out of range, or a limit above the size; ENOMEM
     *         naming the limit when the device has all the queues it can have, or if there is not so much
     *         memory
     */
    SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueAttributes attributes,
            @Nullable Object userContext) throws RdmaException;

    /**
     * Creates a shared receive queue of a kind. C: {@code ibv_create_srq_ex}.
     *
     * @throws RdmaException EOPNOTSUPP for a kind the device does not have; EINVAL for type XRC without domain of
     *         connections or completion queue, for those of another context, or for either with another type; and
     *         as above
     */
    default SharedReceiveQueue createSharedReceiveQueue(
            SharedReceiveQueueInitAttributes attributes) throws RdmaException {
        String operation = "create shared receive queue";
        if (attributes.type() != SharedReceiveQueueType.BASIC) {
            throw RdmaException.unsupported(operation,
                    "this device offers type BASIC, not " + attributes.type());
        }
        if (attributes.xrcDomain() != null || attributes.completionQueue() != null) {
            throw new RdmaException(Errno.EINVAL, operation, "an XRC domain and a completion queue"
                    + " are for type XRC, not BASIC, whose queue pairs have them");
        }
        return createSharedReceiveQueue(attributes.attributes(), attributes.userContext());
    }

    /**
     * Creates a shared receive queue of a kind that needs nothing else.
     *
     * @throws RdmaException as above
     */
    default SharedReceiveQueue createSharedReceiveQueue(SharedReceiveQueueType type,
            SharedReceiveQueueAttributes attributes, @Nullable Object userContext)
            throws RdmaException {
        return createSharedReceiveQueue(new SharedReceiveQueueInitAttributes().type(type)
                .attributes(attributes).userContext(userContext));
    }

    /**
     * Creates the path of datagrams. C: {@code ibv_create_ah}.
     *
     * @throws RdmaException EINVAL without a global route on RoCE, for an empty entry of the GID table, or
     *         for GIDs of two IP versions; ENOMEM naming the limit when the device has all the handles it can have
     */
    AddressHandle createAddressHandle(AddressHandleAttributes attributes) throws RdmaException;

    /**
     * Creates the path back to the sender of a received datagram. C: {@code ibv_create_ah_from_wc}.
     *
     * @param completion its completion
     * @param header the first {@link AddressHandle#GLOBAL_ROUTE_LENGTH} bytes of its receive buffer
     * @throws RdmaException EINVAL if there is no such header or port, or it is not for this device, and as
     *         {@link #createAddressHandle(AddressHandleAttributes)}
     */
    default AddressHandle createAddressHandle(int port, WorkCompletion completion,
            MemorySegment header) throws RdmaException {
        return createAddressHandle(context().pathBack(port, completion, header));
    }

    /**
     * Creates a memory window. C: {@code ibv_alloc_mw}.
     *
     * @throws RdmaException ENOMEM naming the limit when the device has all the windows it can have; EOPNOTSUPP
     *         for a type that it does not have
     */
    MemoryWindow allocateMemoryWindow(MemoryWindowType type) throws RdmaException;

    /**
     * Frees it. Idempotent. C: {@code ibv_dealloc_pd}.
     *
     * @throws RdmaException EBUSY while anything created in it is alive
     */
    @Override
    void close() throws RdmaException;
}
