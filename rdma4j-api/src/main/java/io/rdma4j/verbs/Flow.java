// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.verbs;

/**
 * An active rule: the device delivers the frames that match it to its queue pair.
 *
 * <p>C: {@code struct} {@index ibv_flow}. Attached by {@link QueuePair#attachFlow}. Thread safe.
 *
 * <p>Implemented by providers.
 *
 * @since 0.1.0
 */
@Experimental
public interface Flow extends AutoCloseable {
    /** {@return the queue pair that gets the frames} */
    QueuePair queuePair();

    /** {@return the rule} */
    FlowRule rule();

    /**
     * Removes the rule: the frames go where they went before. Idempotent. C: {@index ibv_destroy_flow}.
     *
     * @throws RdmaException EIO if the device cannot end it
     */
    @Override
    void close() throws RdmaException;
}
