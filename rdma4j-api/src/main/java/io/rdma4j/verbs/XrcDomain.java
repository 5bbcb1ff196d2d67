// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A domain of extended reliable connections (XRC), which processes can share. A message that arrives on such a
 * connection goes to the shared receive queue that the peer names, whichever process of the domain has it. So a process
 * needs one connection to each machine, not one to each process on it.
 *
 * <p>C: {@code struct} {@index ibv_xrcd}. Source: IBTA, annex A14. Opened by {@link DeviceContext#openXrcDomain()}. Each
 * direction of a connection has a sending queue pair, created by {@link ProtectionDomain#createQueuePair} with type
 * {@link QueuePairType#XRC_SEND}, and at the peer a receiving one, created here. Thread safe.
 *
 * <p>Implemented by providers.
 *
 * @since 0.1.0
 */
@Experimental
public interface XrcDomain extends AutoCloseable {
    /** {@return the device it belongs to} C: {@index context of struct ibv_xrcd}. */
    DeviceContext context();

    /**
     * Creates the receiving side of a connection, in state RESET. It has no queues, so it has no completion queues, no
     * queue sizes and no protection domain. Posting is refused with EINVAL; {@link QueuePair#protectionDomain},
     * {@link QueuePair#sendCompletionQueue}, {@link QueuePair#receiveCompletionQueue} and {@link QueuePair#startBatch} throw
     * {@link IllegalStateException}. It exists until each process that created or opened it has closed it. C:
     * {@index ibv_create_qp_ex} with {@index xrcd of struct ibv_qp_open_attr}.
     *
     * @param attributes of type {@link QueuePairType#XRC_RECEIVE}, with {@link QueuePairInitAttributes#userContext};
     *        sizes are ignored
     * @return it, open; the caller closes it
     * @throws RdmaException EINVAL for another type, or for completion queues, a shared receive queue or operations
     *         to post; ENOMEM when the device has as many queue pairs as it can have; EBADF if the domain
     *         is closed
     */
    QueuePair createQueuePair(QueuePairInitAttributes attributes) throws RdmaException;

    /**
     * Opens a receiving queue pair that this or another process in the domain has created. C: {@index ibv_open_qp}, {@code struct} {@index ibv_qp_open_attr}.
     *
     * @param number its number ({@index qp_num of struct ibv_qp_open_attr})
     * @param userContext an object of the caller, or null ({@index qp_context of struct ibv_qp_open_attr})
     * @return it, open; the caller closes it
     * @throws RdmaException EINVAL if the domain has no such queue pair, EBADF if the domain is closed
     */
    QueuePair openQueuePair(int number, @Nullable Object userContext) throws RdmaException;

    /**
     * Leaves the domain; objects of other processes in it stay. Idempotent. C: {@index ibv_close_xrcd}.
     *
     * @throws RdmaException EBUSY while this process has queue pairs or shared receive queues in it
     */
    @Override
    void close() throws RdmaException;
}
