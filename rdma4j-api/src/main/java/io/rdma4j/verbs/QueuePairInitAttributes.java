// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

import java.util.Set;

/**
 * What a new queue pair shall be.
 *
 * <p>C: {@code struct} {@index ibv_qp_init_attr}. A mutable object of the caller; the device copies what it
 * needs. A new one asks for an RC queue pair with 16 requests each way. What a queue pair was created with
 * tells {@link QueuePair#initAttributes}.
 *
 * @since 0.1.0
 */
public final class QueuePairInitAttributes {
    private QueuePairType type = QueuePairType.RC;
    private boolean isTypeSet;
    private @Nullable CompletionQueue sendCompletionQueue;
    private @Nullable CompletionQueue receiveCompletionQueue;
    private @Nullable SharedReceiveQueue sharedReceiveQueue;
    private QueuePairCapabilities capabilities = QueuePairCapabilities.ofDepth(16, 16);
    private boolean signalAll;
    private @Nullable Object userContext;
    private @Nullable Set<SendOpcode> sendOperations;
    private boolean blockSelfMulticastLoopback;
    private boolean answerFirst;

    /** Creates the default. */
    public QueuePairInitAttributes() {}

    /**
     * Creates a copy.
     *
     * @param other what is copied
     */
    public QueuePairInitAttributes(QueuePairInitAttributes other) {
        type = other.type;
        isTypeSet = other.isTypeSet;
        sendCompletionQueue = other.sendCompletionQueue;
        receiveCompletionQueue = other.receiveCompletionQueue;
        sharedReceiveQueue = other.sharedReceiveQueue;
        capabilities = other.capabilities;
        signalAll = other.signalAll;
        userContext = other.userContext;
        sendOperations = other.sendOperations;
        blockSelfMulticastLoopback = other.blockSelfMulticastLoopback;
        answerFirst = other.answerFirst;
    }

    /** {@return the transport service} C: {@index qp_type of struct ibv_qp_init_attr}. */
    public QueuePairType type() {
        return type;
    }

    /** {@return whether the transport service was set; an id of {@code io.rdma4j.cm} knows it otherwise} */
    public boolean isTypeSet() {
        return isTypeSet;
    }

    /** Sets the transport service ({@code qp_type}). */
    public QueuePairInitAttributes type(QueuePairType value) {
        type = value;
        isTypeSet = true;
        return this;
    }

    /** {@return where sends complete} C: {@index send_cq of struct ibv_qp_init_attr}. */
    public @Nullable CompletionQueue sendCompletionQueue() {
        return sendCompletionQueue;
    }

    /** Sets where sends complete ({@code send_cq}). */
    public QueuePairInitAttributes sendCompletionQueue(CompletionQueue value) {
        sendCompletionQueue = value;
        return this;
    }

    /** {@return where receives complete} C: {@index recv_cq of struct ibv_qp_init_attr}. */
    public @Nullable CompletionQueue receiveCompletionQueue() {
        return receiveCompletionQueue;
    }

    /** Sets where receives complete ({@code recv_cq}). */
    public QueuePairInitAttributes receiveCompletionQueue(CompletionQueue value) {
        receiveCompletionQueue = value;
        return this;
    }

    /** Sets one completion queue for both. */
    public QueuePairInitAttributes completionQueue(CompletionQueue value) {
        return sendCompletionQueue(value).receiveCompletionQueue(value);
    }

    /**
     * {@return the shared receive queue that replaces the queue pair's own, if any} C:
     * {@index srq of struct ibv_qp_init_attr}.
     */
    public @Nullable SharedReceiveQueue sharedReceiveQueue() {
        return sharedReceiveQueue;
    }

    /** Sets a shared receive queue ({@code srq}). Its sizes count then, and those of receives here are ignored. */
    public QueuePairInitAttributes sharedReceiveQueue(@Nullable SharedReceiveQueue value) {
        sharedReceiveQueue = value;
        return this;
    }

    /** {@return the sizes of the queues} C: {@index cap of struct ibv_qp_init_attr}. */
    public QueuePairCapabilities capabilities() {
        return capabilities;
    }

    /** Sets the sizes of the queues ({@code cap}). */
    public QueuePairInitAttributes capabilities(QueuePairCapabilities value) {
        capabilities = value;
        return this;
    }

    /** {@return whether every send request is signaled} C: {@index sq_sig_all of struct ibv_qp_init_attr}. */
    public boolean signalAll() {
        return signalAll;
    }

    /** Makes every send request report its success ({@code sq_sig_all}). */
    public QueuePairInitAttributes signalAll(boolean value) {
        signalAll = value;
        return this;
    }

    /** {@return the caller's own object} C: {@index qp_context of struct ibv_qp_init_attr}. */
    public @Nullable Object userContext() {
        return userContext;
    }

    /** Attaches an object of the caller ({@code qp_context}). */
    public QueuePairInitAttributes userContext(@Nullable Object value) {
        userContext = value;
        return this;
    }

    /**
     * {@return what may be posted through {@link QueuePair#startBatch}, or null if that is not wanted} C:
     * {@index send_ops_flags of struct ibv_qp_init_attr_ex}.
     */
    public @Nullable Set<SendOpcode> sendOperations() {
        return sendOperations;
    }

    /**
     * Asks for the interface that posts piece by piece, for these operations
     * ({@index send_ops_flags of struct ibv_qp_init_attr_ex} of {@code struct} {@index ibv_qp_init_attr_ex}).
     */
    public QueuePairInitAttributes sendOperations(SendOpcode... value) {
        sendOperations = FlagSets.of(SendOpcode.class, value);
        return this;
    }

    /** {@return whether its own multicasts are kept from it} C: {@index create_flags of struct ibv_qp_init_attr_ex}. */
    public boolean blockSelfMulticastLoopback() {
        return blockSelfMulticastLoopback;
    }

    /** Keeps its own multicasts from it ({@index IBV_QP_CREATE_BLOCK_SELF_MCAST_LB} of {@code enum} {@index ibv_qp_create_flags}). */
    public QueuePairInitAttributes blockSelfMulticastLoopback(boolean value) {
        blockSelfMulticastLoopback = value;
        return this;
    }

    /** {@return whether a request may leave before an acknowledgement that is due} See {@link #answerFirst(boolean)}. */
    @Experimental
    public boolean answerFirst() {
        return answerFirst;
    }

    /**
     * Lets a request leave before an acknowledgement that is due, so that an answer arrives sooner where acknowledgements are packets of their own. Off by
     * default: the peer's send may then complete after the answer to it has arrived, and a program stands still that posts again only if its last send has
     * completed by then. For protocols whose ends do not rely on that order. A hint, which RC queue pairs of software RoCE follow; other devices have an order
     * of their own. C has nothing like it.
     */
    @Experimental
    public QueuePairInitAttributes answerFirst(boolean value) {
        answerFirst = value;
        return this;
    }

    @Override
    public String toString() {
        return "queue pair " + type + ", " + capabilities + ", sends to " + sendCompletionQueue
                + ", receives to " + receiveCompletionQueue
                + (sharedReceiveQueue == null ? "" : ", " + sharedReceiveQueue)
                + (signalAll ? ", all signaled" : "") + (answerFirst ? ", answers first" : "")
                + (sendOperations == null ? "" : ", operations " + sendOperations);
    }
}
