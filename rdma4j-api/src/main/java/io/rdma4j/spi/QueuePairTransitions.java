// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;

/**
 * Which transitions of a queue pair a transport has, and which attributes each requires and allows. The devices of
 * one transport share one, so that all refuse the same with the same words.
 */
public interface QueuePairTransitions {
    /**
     * Checks a call of modify.
     *
     * @param current the state the queue pair is in
     * @return the state it will be in
     * @throws RdmaException EINVAL naming the state, the missing or the forbidden attributes
     */
    QueuePairState check(QueuePairType type, QueuePairState current, QueuePairAttributes attributes)
            throws RdmaException;
}
