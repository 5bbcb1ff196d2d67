package io.rdma4j.verbs;

/**
 * A rule that is in force: the device gives its queue pair the frames that the rule names.
 *
 * <p>C: {@code struct ibv_flow}. Attached by {@link QueuePair#attachFlow}. Thread safe.
 */
public interface Flow extends AutoCloseable {
    /** {@return the queue pair that gets the frames} */
    QueuePair queuePair();

    /** {@return the rule} */
    FlowRule rule();

    /**
     * Ends it: frames go where they went before. Idempotent. C: {@code ibv_destroy_flow}.
     *
     * @throws RdmaException EIO if the device cannot end it
     */
    @Override
    void close() throws RdmaException;
}
