package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A domain of extended reliable connections, which processes can share: what a connection brings in goes to the shared
 * receive queue that the peer names, of whichever process in the domain has it. So a process on a machine of many
 * needs one connection to each machine, not one to each process there.
 *
 * <p>C: {@code struct ibv_xrcd}. Source: IBTA, annex A14. Opened by {@link DeviceContext#openXrcDomain()}. Each direction of a
 * connection has a sending queue pair, created by {@link ProtectionDomain#createQueuePair} with type
 * {@link QueuePairType#XRC_SEND}, and at the peer a receiving one, created here. Thread safe.
 */
public interface XrcDomain extends AutoCloseable {
    /** {@return the device it belongs to} C: {@code context}. */
    DeviceContext context();

    /**
     * Creates the receiving side of a connection, in state RESET. Nothing is posted to it and it completes nothing, so
     * it has no completion queues, no queue sizes and no protection domain: posting is refused with EINVAL,
     * {@link QueuePair#protectionDomain}, {@link QueuePair#sendCompletionQueue},
     * {@link QueuePair#receiveCompletionQueue} and {@link QueuePair#extended} are an {@link IllegalStateException}. It stays
     * alive until each process that created or opened it has closed it. C: {@code ibv_create_qp_ex} with {@code xrcd}.
     *
     * @param attributes of type {@link QueuePairType#XRC_RECEIVE}, with {@link QueuePairInitAttributes#userContext};
     *        sizes are not looked at
     * @throws RdmaException EINVAL for another type, or for completion queues, a shared receive queue or operations
     *         to post; ENOMEM when the device has all the queue pairs it can have
     * @throws IllegalStateException if the domain is closed
     */
    QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException;

    /**
     * Opens a receiving queue pair that this or another process in the domain has created. C: {@code ibv_open_qp}.
     *
     * @param number its number ({@code qp_num})
     * @param userContext an object of the caller's, or null ({@code qp_context})
     * @throws RdmaException EINVAL if the domain has no such queue pair
     * @throws IllegalStateException if the domain is closed
     */
    QueuePair openQueuePair(int number, @Nullable Object userContext) throws RdmaException;

    /**
     * Leaves it; what other processes have in it stays. Idempotent. C: {@code ibv_close_xrcd}.
     *
     * @throws RdmaException EBUSY while queue pairs or shared receive queues of it are alive
     */
    @Override
    void close() throws RdmaException;
}
