package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * An open device.
 *
 * <p>C: {@code struct ibv_context}. Thread safe.
 */
public interface DeviceContext extends AutoCloseable {
    /** {@return the device} C: {@code device}. */
    RdmaDevice device();

    /**
     * {@return what it is and can do} C: {@code ibv_query_device}.
     *
     * @throws RdmaException EIO if the device cannot be asked; never by a software device
     */
    DeviceAttributes queryDevice() throws RdmaException;

    /**
     * {@return what else it is and can do} C: {@code ibv_query_device_ex}.
     *
     * @throws RdmaException EIO if the device cannot be asked; never by a software device
     */
    ExtendedDeviceAttributes queryDeviceExtended() throws RdmaException;

    /**
     * {@return the raw clock that completion timestamps come from, now} C:
     * {@code ibv_query_rt_values_ex}.
     *
     * @throws RdmaException EOPNOTSUPP if the device has no clock
     */
    long queryClock() throws RdmaException;

    /**
     * {@return the state of a port} C: {@code ibv_query_port}.
     *
     * @param port from 1
     * @throws RdmaException EINVAL if there is no such port
     */
    PortAttributes queryPort(int port) throws RdmaException;

    /**
     * {@return the speed of a port in units of 100 Mb/s} C: {@code ibv_query_port_speed}.
     *
     * @throws RdmaException EINVAL if there is no such port
     */
    long queryPortSpeed(int port) throws RdmaException;

    /**
     * {@return an entry of a port's GID table, {@link Gid#ZERO} if it is empty} C:
     * {@code ibv_query_gid}.
     *
     * @throws RdmaException EINVAL if there is no such port or index
     */
    Gid queryGid(int port, int index) throws RdmaException;

    /**
     * {@return an entry of a port's GID table with its type} C: {@code ibv_query_gid_ex}.
     *
     * @throws RdmaException EINVAL if there is no such port or index, ENODATA if the entry is empty
     */
    GidEntry queryGidEntry(int port, int index) throws RdmaException;

    /**
     * {@return the entries of the GID table that are in use} C: {@code ibv_query_gid_table}.
     *
     * @throws RdmaException EIO if the device cannot be asked; ENODATA from a software device if an entry goes
     *         away meanwhile
     */
    List<GidEntry> queryGidTable() throws RdmaException;

    /**
     * {@return an entry of a port's P_Key table} C: {@code ibv_query_pkey}.
     *
     * @throws RdmaException EINVAL if there is no such port or index
     */
    int queryPkey(int port, int index) throws RdmaException;

    /**
     * {@return the index of a P_Key in a port's table} C: {@code ibv_get_pkey_index}.
     *
     * @throws RdmaException ENOENT if it is not there, EINVAL if there is no such port
     */
    int pkeyIndex(int port, int pkey) throws RdmaException;

    /**
     * {@return the path back to the sender of a received datagram} C: {@code ibv_init_ah_from_wc}.
     *
     * @param port the port it came in by
     * @param completion its completion
     * @param header the first {@link AddressHandle#GLOBAL_ROUTE_LENGTH} bytes of its receive buffer
     * @throws RdmaException EINVAL if there is no such header, or it is not for this device
     */
    AddressHandleAttributes pathBack(int port, WorkCompletion completion, MemorySegment header)
            throws RdmaException;

    /**
     * {@return where frames on a path go on the local link} C: {@code ibv_resolve_eth_l2_from_gid}.
     *
     * @throws RdmaException EHOSTUNREACH if the system does not know the neighbour, EINVAL for a path that packets
     *         cannot take
     */
    EthernetAddress resolveEthernet(AddressHandleAttributes path) throws RdmaException;

    /**
     * Creates a protection domain. C: {@code ibv_alloc_pd}.
     *
     * @throws RdmaException ENOMEM naming the limit when the device has all the domains it can have
     */
    ProtectionDomain allocateProtectionDomain() throws RdmaException;

    /**
     * Creates a completion queue. C: {@code ibv_create_cq}.
     *
     * @param capacity the entries it shall hold, from 1
     * @param channel where it announces completions when armed, or null
     * @param userContext an object of the caller's, or null
     * @param completionVector which of the device's vectors, from 0
     * @throws RdmaException EINVAL naming the limit if capacity or vector do not fit, EBADF if the channel is closed,
     *         ENOMEM naming the limit when the device has all the queues it can have
     */
    CompletionQueue createCompletionQueue(int capacity, @Nullable CompletionChannel channel,
            @Nullable Object userContext, int completionVector) throws RdmaException;

    /**
     * Creates a completion queue whose completions are read in place. C: {@code ibv_create_cq_ex}.
     *
     * @throws RdmaException EINVAL naming the limit if a size does not fit, or for a parent domain of another
     *         context; EOPNOTSUPP naming the fields the device does not have; EBADF if the channel is closed; ENOMEM
     *         naming the limit when the device has all the queues it can have
     */
    ExtendedCompletionQueue createCompletionQueue(CompletionQueueInitAttributes attributes)
            throws RdmaException;

    /**
     * Creates a thread domain. C: {@code ibv_alloc_td}.
     *
     * @throws RdmaException EOPNOTSUPP if the device has none; never by a software device
     */
    ThreadDomain allocateThreadDomain() throws RdmaException;

    /**
     * Opens a domain of extended reliable connections, of this process alone. C: {@code ibv_open_xrcd} with an
     * {@code fd} of -1.
     *
     * @throws RdmaException EOPNOTSUPP if the device has none, as software devices
     */
    default XrcDomain openXrcDomain() throws RdmaException {
        throw RdmaException.unsupported("open XRC domain",
                "this device has no extended reliable connections (XRC)");
    }

    /**
     * Opens the domain of extended reliable connections that a file stands for, shared by all processes that open the
     * domain of the same file on the same device. Nothing is written to the file, and it is closed again. C:
     * {@code ibv_open_xrcd} with {@code fd} and {@code oflags}.
     *
     * @param file a file that this process may read, by its path on the machine
     * @param options none for a domain that there is already; {@link StandardOpenOption#CREATE} creates file and domain
     *        where there is none ({@code O_CREAT}); {@link StandardOpenOption#CREATE_NEW} the domain in any case, beside
     *        a file that may be there already ({@code O_CREAT}, {@code O_EXCL})
     * @throws RdmaException EOPNOTSUPP if the device has none, as software devices; ENOENT or EACCES for a file that cannot
     *         be opened; EAGAIN if no process has the domain open and it is not to be created; EINVAL if one has and it is
     *         to be new, or for other options
     */
    default XrcDomain openXrcDomain(Path file, StandardOpenOption... options)
            throws RdmaException {
        throw RdmaException.unsupported("open XRC domain",
                "this device has no extended reliable connections (XRC)");
    }

    /**
     * Allocates memory of the device. C: {@code ibv_alloc_dm}.
     *
     * @param byteSize from 1
     * @param byteAlignment a power of two
     * @throws RdmaException EINVAL for a size or alignment out of range, ENOMEM if there is not so much
     *         left
     */
    DeviceMemory allocateDeviceMemory(long byteSize, long byteAlignment) throws RdmaException;

    /**
     * Creates a completion queue without channel.
     *
     * @throws RdmaException as {@link #createCompletionQueue(int, CompletionChannel, Object, int)}
     */
    default CompletionQueue createCompletionQueue(int capacity) throws RdmaException {
        return createCompletionQueue(capacity, null, null, 0);
    }

    /**
     * Creates a completion queue that announces completions in a channel.
     *
     * @throws RdmaException as {@link #createCompletionQueue(int, CompletionChannel, Object, int)}
     */
    default CompletionQueue createCompletionQueue(int capacity, CompletionChannel channel)
            throws RdmaException {
        return createCompletionQueue(capacity, channel, null, 0);
    }

    /**
     * {@return what else the device tells of itself, for people: names and texts in the order to show them in, such as
     * how a software device reaches the network and why in this way} Empty by default.
     */
    default Map<String, String> details() {
        return Map.of();
    }

    /**
     * {@return how often something happened on this device} Of a software device since this process opened it. Of a native
     * device as its driver counts: since the kernel has it, for all programs that use it, and 0 for what it does not count.
     */
    long counter(Counter counter);

    /**
     * {@return all that this device counts, by name, in the order to show it in} Of a software device each {@link Counter} by
     * its {@link Counter#text}. Of a native device what its driver counts, by the kernel's names and in its units, since
     * when and for whom {@link #counter} says; the values of several ports are added up. What cannot be read is left out,
     * so that there may be nothing. The map is a copy.
     */
    default Map<String, Long> counters() {
        Map<String, Long> values = new LinkedHashMap<>();
        for (Counter counter : Counter.values()) {
            values.put(counter.text(), counter(counter));
        }
        return values;
    }

    /**
     * {@return where the asynchronous events arrive, to wait for them together with others: in a {@link WaitSet}, or in a
     * selector} Always the same. C: {@code ibv_context.async_fd}.
     */
    AsyncEventChannel asyncEventChannel();

    /**
     * Waits for the next asynchronous event. C: {@code ibv_get_async_event}.
     *
     * @throws RdmaException EINTR when interrupted, EBADF when the context is closed
     */
    default AsyncEvent awaitAsyncEvent() throws RdmaException {
        return asyncEventChannel().awaitEvent();
    }

    /**
     * {@return the next asynchronous event, or null if none comes in time}
     *
     * @throws RdmaException EINTR when interrupted, EBADF when the context is closed
     */
    default @Nullable AsyncEvent pollAsyncEvent(Duration timeout) throws RdmaException {
        return asyncEventChannel().pollEvent(timeout);
    }

    /**
     * Closes the device. Idempotent. C: {@code ibv_close_device}.
     *
     * @throws RdmaException EBUSY while anything created from it is alive
     */
    @Override
    void close() throws RdmaException;
}
