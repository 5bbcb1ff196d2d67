// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.spi;

import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

import java.util.List;

/**
 * How a queue pair is brought up: the states through which it is moved, in order, and the attributes of each step. Changes
 * that the transport itself makes while it connects are not included.
 */
public interface QueuePairBringUp {
    /** {@return the states that the queue pair is modified to, in order; none if the device does all by itself} */
    List<QueuePairState> states();

    /**
     * {@return the attributes that bring a queue pair to a state, the state included; without any set if there is
     * nothing to modify} C: {@code rdma_init_qp_attr}.
     *
     * @throws RdmaException EINVAL for a state that it is not brought to, or for which the peer's parameters are not
     *         known yet
     */
    QueuePairAttributes attributes(QueuePairState target) throws RdmaException;

    /**
     * Takes all steps with a queue pair.
     *
     * @throws RdmaException as {@link #attributes} and {@link QueuePair#modify}
     */
    default void applyTo(QueuePair queuePair) throws RdmaException {
        for (QueuePairState state : states()) {
            queuePair.modify(attributes(state));
        }
    }
}
