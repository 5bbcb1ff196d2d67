// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;

/**
 * An open device.
 *
 * <p>C: {@code struct} {@index ibv_context}. Thread safe.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface DeviceContext extends AutoCloseable {
    /** {@return the device} C: {@index device of struct ibv_context}. */
    RdmaDevice device();

    /**
     * {@return the attributes and limits of the device} C: {@index ibv_query_device}, {@index ibv_query_device_ex}.
     *
     * @throws RdmaException EIO if the device cannot be asked; never by a software device
     */
    DeviceAttributes queryDevice() throws RdmaException;

    /**
     * {@return the present value of the raw clock that completion timestamps come from} C:
     * {@index ibv_query_rt_values_ex}, {@index raw_clock of struct ibv_values_ex} of {@code struct} {@index ibv_values_ex}.
     *
     * @throws RdmaException EOPNOTSUPP if the device has no clock
     */
    long queryClock() throws RdmaException;

    /**
     * {@return the state of a port} C: {@index ibv_query_port}.
     *
     * @param port from 1
     * @throws RdmaException EINVAL if there is no such port
     */
    PortAttributes queryPort(int port) throws RdmaException;

    /**
     * {@return the speed of a port in Mb/s; 0 if it has none now} C: {@index ibv_query_port_speed}.
     *
     * @param port from 1
     * @throws RdmaException EINVAL if there is no such port
     */
    long queryPortSpeedMbps(int port) throws RdmaException;

    /**
     * {@return an entry of a port's GID table, {@link Gid#ZERO} if it is empty} C:
     * {@index ibv_query_gid}.
     *
     * @param port from 1
     * @param index from 0
     * @throws RdmaException EINVAL if there is no such port or index
     */
    Gid queryGid(int port, int index) throws RdmaException;

    /**
     * {@return an entry of a port's GID table with its type} C: {@index ibv_query_gid_ex}.
     *
     * @param port from 1
     * @param index from 0
     * @throws RdmaException EINVAL if there is no such port or index, ENODATA if the entry is empty
     */
    GidEntry queryGidEntry(int port, int index) throws RdmaException;

    /**
     * {@return the entries of the GID table that are in use} C: {@index ibv_query_gid_table}.
     *
     * @throws RdmaException EIO if the device cannot be asked; ENODATA from a software device if an entry is removed
     *         during the call
     */
    List<GidEntry> queryGidTable() throws RdmaException;

    /**
     * {@return an entry of a port's P_Key table} C: {@index ibv_query_pkey}.
     *
     * @param port from 1
     * @param index from 0
     * @throws RdmaException EINVAL if there is no such port or index, EOPNOTSUPP if the device has no partitions, as
     *         iWARP
     */
    int queryPkey(int port, int index) throws RdmaException;

    /**
     * {@return the index of a P_Key in a port's table} C: {@index ibv_get_pkey_index}.
     *
     * @param port from 1
     * @param pkey 16 bits
     * @throws RdmaException ENOENT if the table does not have it, EINVAL if there is no such port, EOPNOTSUPP if the
     *         device has no partitions, as iWARP
     */
    int pkeyIndex(int port, int pkey) throws RdmaException;

    /**
     * {@return the path back to the sender of a received datagram} A datagram of InfiniBand that has no global route header
     * ({@link WorkCompletionFlag#GRH}) goes back by LIDs alone. C: {@index ibv_init_ah_from_wc}.
     *
     * @param port the port that received it
     * @param completion its completion
     * @param header the first {@link AddressHandle#GLOBAL_ROUTE_LENGTH} bytes of its receive buffer
     * @throws RdmaException EINVAL if there is no such header and the port has no LID, as on Ethernet, or if it is not for
     *         this device; EOPNOTSUPP if the device has no datagrams, as iWARP
     */
    AddressHandleAttributes pathBack(int port, WorkCompletion completion, MemorySegment header)
            throws RdmaException;

    /**
     * {@return the Ethernet address to which frames on a path are sent} C: {@index ibv_resolve_eth_l2_from_gid}.
     *
     * @param path to the neighbour
     * @throws RdmaException EHOSTUNREACH if the system does not know the neighbour, EINVAL for a path that is not valid
     *         on this device, EOPNOTSUPP if the device has no datagrams, as iWARP
     */
    EthernetAddress resolveEthernet(AddressHandleAttributes path) throws RdmaException;

    /**
     * Creates a protection domain. C: {@index ibv_alloc_pd}.
     *
     * @return it, open; the caller closes it
     * @throws RdmaException ENOMEM naming the limit when the device has as many domains as it can have
     */
    ProtectionDomain allocateProtectionDomain() throws RdmaException;

    /**
     * Creates a completion queue whose completions are read in place. C: {@index ibv_create_cq_ex}.
     *
     * @param attributes its capacity, channel and fields
     * @return it, open; the caller closes it
     * @throws RdmaException EINVAL naming the limit if capacity or vector are out of range, or for a parent domain of
     *         another context; EOPNOTSUPP naming the fields that the device does not support; EBADF if the channel is
     *         closed; ENOMEM naming the limit when the device has as many queues as it can have
     */
    ExtendedCompletionQueue createExtendedCompletionQueue(CompletionQueueInitAttributes attributes)
            throws RdmaException;

    /**
     * Creates a completion queue that is polled. C: {@index ibv_create_cq}; for attributes that it does not have,
     * {@index ibv_create_cq_ex}.
     *
     * @param attributes its capacity, channel and fields
     * @return it, open; the caller closes it
     * @throws RdmaException as {@link #createExtendedCompletionQueue}
     */
    default CompletionQueue createCompletionQueue(CompletionQueueInitAttributes attributes)
            throws RdmaException {
        return createExtendedCompletionQueue(attributes);
    }

    /**
     * Creates a thread domain. C: {@index ibv_alloc_td}.
     *
     * @return it, open; the caller closes it
     * @throws RdmaException EOPNOTSUPP if the device has none; never by a software device
     */
    ThreadDomain allocateThreadDomain() throws RdmaException;

    /**
     * Opens a domain of extended reliable connections (XRC) for this process only. C: {@index ibv_open_xrcd} with an
     * {@index fd of struct ibv_xrcd_init_attr} of -1.
     *
     * @return it, open; the caller closes it
     * @throws RdmaException EOPNOTSUPP if the device does not support XRC; software devices do not
     */
    @Experimental
    default XrcDomain openXrcDomain() throws RdmaException {
        throw RdmaException.unsupported("open XRC domain",
                "this device has no extended reliable connections (XRC)");
    }

    /**
     * Opens a domain of extended reliable connections (XRC) that a file identifies. All processes that open the domain of
     * the same file on the same device share it. Nothing is written to the file, and it is closed again. C:
     * {@code ibv_open_xrcd} with {@code struct} {@index ibv_xrcd_init_attr}, its {@index fd of struct ibv_xrcd_init_attr} and {@index oflags of struct ibv_xrcd_init_attr}.
     *
     * @param file a file that this process may read, by its path on the machine
     * @param options none to open an existing domain; {@link StandardOpenOption#CREATE} to create file and domain if they
     *        do not exist ({@code O_CREAT}); {@link StandardOpenOption#CREATE_NEW} to create a new domain, while the file
     *        may exist ({@code O_CREAT}, {@code O_EXCL})
     * @return it, open; the caller closes it
     * @throws RdmaException EOPNOTSUPP if the device does not support XRC, as software devices do not; ENOENT or EACCES for
     *         a file that cannot be opened; EAGAIN without a creating option if no process has the domain open; EINVAL
     *         with CREATE_NEW if a process has it open, for other options, or for a file that is not in the machine's own
     *         file system
     */
    @Experimental
    default XrcDomain openXrcDomain(Path file, StandardOpenOption... options)
            throws RdmaException {
        throw RdmaException.unsupported("open XRC domain",
                "this device has no extended reliable connections (XRC)");
    }

    /**
     * Allocates memory of the device. C: {@index ibv_alloc_dm}, {@code struct} {@index ibv_alloc_dm_attr}.
     *
     * @param byteSize from 1 ({@index length of struct ibv_alloc_dm_attr})
     * @param byteAlignment a power of two; C names its logarithm ({@index log_align_req of struct ibv_alloc_dm_attr})
     * @return it, open; the caller closes it
     * @throws RdmaException EINVAL for a size or alignment out of range, ENOMEM if the device has not enough memory
     *         left, EOPNOTSUPP if it has none
     */
    DeviceMemory allocateDeviceMemory(long byteSize, long byteAlignment) throws RdmaException;

    /**
     * Creates a completion queue without channel.
     *
     * @param capacity how many entries it must hold, from 1
     * @return it, open; the caller closes it
     * @throws RdmaException as {@link #createExtendedCompletionQueue}
     */
    default CompletionQueue createCompletionQueue(int capacity) throws RdmaException {
        return createCompletionQueue(new CompletionQueueInitAttributes().capacity(capacity));
    }

    /**
     * Creates a completion queue whose events arrive in a channel.
     *
     * @param capacity how many entries it must hold, from 1
     * @param channel where its events arrive
     * @return it, open; the caller closes it
     * @throws RdmaException as {@link #createExtendedCompletionQueue}
     */
    default CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel)
            throws RdmaException {
        return createCompletionQueue(
                new CompletionQueueInitAttributes().capacity(capacity).channel(channel));
    }

    /**
     * {@return further facts about the device for people to read: names and texts in display order, such as how a
     * software device reaches the network, and why} Empty by default.
     */
    @Experimental
    default Map<String, String> details() {
        return Map.of();
    }

    /**
     * {@return what this device has counted, by name, in display order} What a device does not count is not in the map, so
     * that "none" can be told from "not counted"; it may be empty. The map is a copy. Read
     * regularly, not for each message.
     *
     * <p>A software device counts from when this process opened it, under the names of Linux's {@code rdma_rxe} ({@code
     * sent_pkts}, {@code rcvd_rnr_err}) and a few of its own. The driver of a native device counts from when the kernel found
     * the device, for all programs; its counters have the kernel's names and units and are added up over the ports. C: the
     * files in {@code /sys/class/infiniband/DEVICE/ports/N/hw_counters} and {@code counters}, {@code rdma statistic}.
     */
    Map<String, Long> counters();

    /**
     * {@return the channel of the asynchronous events, to wait for it together with others in a {@link WaitSet} or a
     * selector, or alone by {@link AsyncEventChannel#awaitEvent} and {@link AsyncEventChannel#pollEvent}} It is always the same
     * object. C: {@code ibv_context.async_fd}, {@index ibv_get_async_event}.
     */
    AsyncEventChannel asyncEventChannel();

    /**
     * {@return the open queue pair of this context with a number, such as that of a completion
     * ({@link WorkCompletion#queuePairNumber}); null if there is none, as once it is closed} Allocates nothing and does not wait:
     * for each completion of a queue that many queue pairs share. What the program knows of a queue pair it finds by
     * {@link QueuePair#userContext}. A device may give the number of a closed queue pair to a new one, of which completions that
     * were polled before know nothing. No counterpart in C, whose programs keep a table of their own by
     * {@code qp_num}.
     *
     * @param number 24 bits
     * @throws RdmaException EBADF if the context is closed
     */
    @Nullable
    QueuePair queuePair(int number) throws RdmaException;

    /**
     * Closes the device. Idempotent. C: {@index ibv_close_device}.
     *
     * @throws RdmaException EBUSY while anything created from it is open; {@link #closeAll} closes that, too
     */
    @Override
    void close() throws RdmaException;

    /**
     * Closes everything that was created from this context and is open, and then the device. Idempotent. No counterpart in C.
     *
     * <p>The order is: memory windows; flows; memberships in multicast groups; queue pairs; shared receive queues; address
     * handles; memory regions; device memory; completion queues; domains of extended connections; protection domains, of which
     * parent domains come before what they share; thread domains; the device. Of one kind the newest is first. Peers learn
     * nothing, as with {@link QueuePair#close}. Memory of the caller and channels are left alone. So a program that fails
     * half-way needs one call:
     *
     * <pre>{@code
     * DeviceContext context = device.open();
     * try (AutoCloseable all = context::closeAll) {
     *     ...
     * }
     * }</pre>
     *
     * @throws RdmaException EBUSY if a thread holds an unacknowledged event of an object, or creates objects meanwhile; everything
     *         that can be closed is closed then, the device is open, and this can be called again. EBUSY, too, for the
     *         context that all ids of the process share ({@link io.rdma4j.cm.CmId#context}), of which nothing is closed
     */
    void closeAll() throws RdmaException;
}
