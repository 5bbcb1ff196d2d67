// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;

/**
 * A send queue and a receive queue: one end of a connection, or an end point for datagrams.
 *
 * <p>C: {@code struct} {@index ibv_qp}. Source: IBTA 10.2.4, 10.3. Thread safe. Posting allocates nothing and
 * does not wait, but for the end of another thread's {@link SendBatch}.
 *
 * <p><b>Polling memory.</b> A program may wait for a WRITE of its peer by looking at the memory that is written, without a
 * completion. It must read with {@link java.lang.invoke.VarHandle#getAcquire} or {@code getVolatile} of a handle of the
 * memory: a plain read may be moved out of the loop, and what is read after it may be older. On a software device:
 * <ul>
 * <li>Of two WRITEs of one queue pair the one posted first is seen first: who sees a byte of the second, the flag, sees all
 * of the first, the payload. So it is with a SEND, an atomic or an ATOMIC_WRITE after a WRITE. A queue pair of type UC may lose
 * the first and not the second.
 * <li>Within one WRITE no order is promised ({@link #isDataInOrder}): its last byte may be seen before others. The flag needs
 * a WRITE of its own, of one byte; for a number of eight bytes that is never seen in part there is
 * {@link SendOpcode#ATOMIC_WRITE}.
 * <li>Between WRITEs of different queue pairs, and between READs that are outstanding at the same time, there is no order: who
 * reads a version, the data and the version again waits for each completion before the next READ is posted. The same holds
 * for a READ and what the owner of the memory writes meanwhile.
 * </ul>
 * A completion orders everything before it, on every device. On a native device the order of WRITEs is that of the NIC and its
 * bus; most keep it unless {@link AccessFlag#RELAXED_ORDERING} was asked for.
 *
 * <p>Implemented by providers; a later version adds methods only as {@code default}.
 *
 * @since 0.1.0
 */
public interface QueuePair extends AutoCloseable {
    /**
     * {@return the protection domain it belongs to} C: {@index pd of struct ibv_qp}.
     *
     * @throws IllegalStateException for type XRC_RECEIVE, which has none: it may access the memory of its shared receive
     *         queues' domains
     */
    ProtectionDomain protectionDomain();

    /** {@return its number, 24 bits} C: {@index qp_num of struct ibv_qp}. */
    int number();

    /** {@return its transport service} C: {@index qp_type of struct ibv_qp}. */
    QueuePairType type();

    /**
     * {@return its state now} C: {@index state of struct ibv_qp}.
     *
     * @throws IllegalStateException if the queue pair is closed
     */
    QueuePairState state();

    /**
     * {@return the domain of connections that a queue pair of type XRC_RECEIVE belongs to, null for other types} C:
     * {@code xrcd} of {@code struct ibv_qp_init_attr_ex}.
     */
    @Experimental
    default @Nullable XrcDomain xrcDomain() {
        return null;
    }

    /**
     * {@return where sends complete} C: {@index send_cq of struct ibv_qp}.
     *
     * @throws IllegalStateException for type XRC_RECEIVE, which sends nothing
     */
    CompletionQueue sendCompletionQueue();

    /**
     * {@return where receives complete} C: {@index recv_cq of struct ibv_qp}.
     *
     * @throws IllegalStateException for types XRC_SEND and XRC_RECEIVE: the shared receive queue of the message has the
     *         completion queue
     */
    CompletionQueue receiveCompletionQueue();

    /** {@return the shared receive queue it takes its receives from, or null} C: {@index srq of struct ibv_qp}. */
    @Nullable
    SharedReceiveQueue sharedReceiveQueue();

    /** {@return the object given at creation, or null} C: {@index qp_context of struct ibv_qp}. */
    @Nullable
    Object userContext();

    /** {@return the sizes of its queues as the device gave them} C: {@code cap}. */
    QueuePairCapabilities capabilities();

    /**
     * {@return the attributes it was created with, its sizes as the device gave them} The object is a copy that belongs
     * to the caller, who can create a similar queue pair with it. C: {@code init_attr} of
     * {@index ibv_query_qp}.
     */
    QueuePairInitAttributes initAttributes();

    /**
     * Moves it to a state, or changes attributes in its state. C: {@index ibv_modify_qp}.
     *
     * @param attributes the state and what the transition requires and allows (IBTA table 91)
     * @throws RdmaException EINVAL naming missing or forbidden attributes, or the range of a value that the device
     *         does not accept; EOPNOTSUPP for an alternate path or a rate limit if the device supports none. Nothing is
     *         changed then
     */
    void modify(QueuePairAttributes attributes) throws RdmaException;

    /**
     * {@return its attributes, as far as the device knows them} One that the device has not set, and a state of path migration
     * that this version does not know, are not in their {@link QueuePairAttributes#mask mask}. The object is a copy that
     * belongs to the caller. C: {@code attr} of {@index ibv_query_qp}; {@code init_attr} is {@link #initAttributes}.
     *
     * @throws RdmaException EIO if the device has failed or gives a state or a path MTU that this version does not know, never
     *         by a software device; EBADF if the queue pair is closed
     */
    QueuePairAttributes query() throws RdmaException;

    /**
     * {@return what this host's system has said lately of packets that this queue pair has sent and that did not leave, or did
     * not arrive, in one line; null if it has said nothing} Of datagrams only those to the last destination count. It is no
     * failure by itself: reliable queue pairs send again, and unreliable ones lose messages. It explains why nothing comes.
     * For any thread; not for the way of a message, because it asks the system. Native devices know nothing. No counterpart
     * in C.
     *
     * @throws RdmaException EIO if the device has failed; never by a software device
     */
    default @Nullable String sendRefusal() throws RdmaException {
        return null;
    }

    /**
     * {@return what this queue pair has counted, by the names of {@link DeviceContext#counters}, in display order} Empty for a
     * native device, whose driver counts per port only. The map is a copy.
     */
    Map<String, Long> counters();

    /**
     * Posts a send request. C: {@index ibv_post_send}.
     *
     * @param request the caller's, free again when the call returns
     * @throws RdmaException EINVAL in a state that does not allow it or for a request that does not fit
     *         the queue pair, EMSGSIZE for more bytes than a message or a datagram can have, EOPNOTSUPP for an
     *         operation or a flag that the device does not support, EFAULT for inline data that cannot be read, ENOMEM
     *         when the queue is full; on a native device also EFAULT for memory whose arena is closed, EPERM for a bind of
     *         a window or region of another domain, and EBUSY while another queue pair is posted a bind of the same window
     * @throws IllegalStateException if the calling thread has begun a batch ({@link #startBatch}) that it has not ended
     */
    void postSend(SendWorkRequest request) throws RdmaException;

    /**
     * Posts send requests in order.
     *
     * @param requests in this order; free again when the call returns
     * @throws PostException if one is refused, with the errno that {@link #postSend(SendWorkRequest)} has for it, or
     *         EINVAL if it is null; the requests before it are posted
     * @throws IllegalStateException if the calling thread has begun a batch ({@link #startBatch}) that it has not ended;
     *         nothing is posted then
     */
    void postSend(List<SendWorkRequest> requests) throws RdmaException;

    /**
     * Begins a batch of sends, which are built in place and posted together. Other threads that post sends wait for its end,
     * so end it also when something fails ({@code try}). C: {@index ibv_wr_start}, {@index ibv_qp_to_qp_ex}.
     *
     * @return the batch, always the same object
     * @throws RdmaException EBADF if the queue pair is closed
     * @throws IllegalStateException if the calling thread has begun one already, or if the queue pair was created without
     *         {@link QueuePairInitAttributes#sendOperations}
     */
    SendBatch startBatch() throws RdmaException;

    /**
     * Posts a receive request. C: {@index ibv_post_recv}.
     *
     * @param request the caller's, free again when the call returns
     * @throws RdmaException EINVAL in state RESET, for more elements than the queue pair was created for, if
     *         it uses a shared receive queue, or for types XRC_SEND and XRC_RECEIVE; ENOMEM when the queue is full; on a
     *         native device also EFAULT for memory whose arena is closed, and EMSGSIZE for an element that is too long
     */
    void postReceive(ReceiveWorkRequest request) throws RdmaException;

    /**
     * Posts receive requests in order.
     *
     * @param requests in this order; free again when the call returns
     * @throws PostException if one is refused, with the errno that {@link #postReceive(ReceiveWorkRequest)} has for it,
     *         or EINVAL if it is null; the requests before it are posted
     */
    void postReceive(List<ReceiveWorkRequest> requests) throws RdmaException;

    /**
     * Binds a type 1 memory window to a range of a region by posting a send request. When this returns,
     * {@link MemoryWindow#rkey()} is the new key. A length of 0 ends the peer's access. If several queue pairs bind one
     * window, the order is undefined. C: {@index ibv_bind_mw}.
     *
     * @param requestId the number that its completion has
     * @param window of type 1, of the same domain
     * @param bind what it opens to the peer
     * @param flags {@link SendFlag#SIGNALED} reports success by a completion, as failure is in any case;
     *        {@link SendFlag#FENCE} waits for outstanding READs and atomics
     * @throws RdmaException EINVAL for a window of type 2 or another flag, EPERM for a window or region of another domain,
     *         and as {@link #postSend(SendWorkRequest)}
     * @throws IllegalStateException if the calling thread has begun a batch ({@link #startBatch}) that it has not ended
     */
    void bindMemoryWindow(long requestId, MemoryWindow window, MemoryWindowBind bind,
            SendFlag... flags) throws RdmaException;

    /**
     * Joins a multicast group; joining it again has no effect. On InfiniBand the group's LID is that of an id of this
     * process that has joined the group by the same port ({@link io.rdma4j.cm.CmId#joinMulticast}). C:
     * {@code ibv_attach_mcast}.
     *
     * @param group an IPv4 or IPv6 multicast address, IPv4 as {@code ::ffff:a.b.c.d}; on InfiniBand the group's MGID
     * @throws RdmaException EINVAL if the queue pair is not of type UD, if the GID is not a multicast group, or, naming
     *         the limit, if the queue pair is in as many groups as it can be; ENOMEM naming the limit if the device is in
     *         as many groups as it can be; EADDRNOTAVAIL if its interface cannot join
     */
    void attachMulticast(Gid group) throws RdmaException;

    /**
     * Joins a multicast group of InfiniBand whose LID the program knows, for example from another program that has joined it
     * at the subnet manager. Software devices have no LIDs and ignore it. C: {@index ibv_attach_mcast}.
     *
     * @param group a multicast address
     * @param lid the group's LID, 0xc000 to 0xfffe, or 0 on Ethernet
     * @throws RdmaException as {@link #attachMulticast(Gid)}; EINVAL for another LID
     */
    default void attachMulticast(Gid group, int lid) throws RdmaException {
        attachMulticast(group);
    }

    /**
     * Leaves a multicast group. C: {@index ibv_detach_mcast}.
     *
     * @param group a multicast address
     * @throws RdmaException EINVAL if the queue pair has not joined the group or is not of type UD, or if the GID is not
     *         a multicast group
     */
    void detachMulticast(Gid group) throws RdmaException;

    /**
     * Makes the device deliver the frames that match a rule to this queue pair, until the flow is closed. For queue pairs
     * of type RAW_PACKET, and on some devices of type UD. C: {@index ibv_create_flow}.
     *
     * @param rule what frames must have
     * @return the flow, until it is closed
     * @throws RdmaException EOPNOTSUPP if the device cannot steer flows, or not by such a rule; EINVAL for a queue pair of
     *         another type, or a rule that the device does not accept; EPERM without CAP_NET_RAW; EBUSY or ENOMEM when
     *         the device's table is full
     */
    @Experimental
    default Flow attachFlow(FlowRule rule) throws RdmaException {
        throw RdmaException.unsupported("attach flow",
                "this device steers no flows; raw packets are for real NICs");
    }

    /**
     * {@return whether the bytes of one message become visible in memory in order, so that its last byte tells that the others
     * are there} It says nothing of the order of two messages, which the description of {@link QueuePair} tells. C:
     * {@index ibv_query_qp_data_in_order}.
     *
     * @param opcode the operation
     * @throws RdmaException EIO if the device cannot be asked; never by a software device
     */
    boolean isDataInOrder(SendOpcode opcode) throws RdmaException;

    /**
     * Sets the enhanced connection options to offer to the peer. C: {@index ibv_set_ece}.
     *
     * @param options of the vendor of the device
     * @throws RdmaException EOPNOTSUPP for options that the device does not support
     */
    void enhancedConnectionOptions(EnhancedConnectionOptions options) throws RdmaException;

    /**
     * {@return the options in use} C: {@index ibv_query_ece}.
     *
     * @throws RdmaException EOPNOTSUPP if the device cannot tell; never by a software device
     */
    EnhancedConnectionOptions enhancedConnectionOptions() throws RdmaException;

    /**
     * Frees it; outstanding requests are dropped without completions. With those that are in a completion queue by then it
     * is as after {@link QueuePairState#RESET}: a software device removes them. Idempotent. C: {@index ibv_destroy_qp}.
     *
     * @throws RdmaException EBUSY while it is attached to multicast groups, has open flows or has unacknowledged events
     */
    @Override
    void close() throws RdmaException;
}
