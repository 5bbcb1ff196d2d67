// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.spi.QueuePairTransitions;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;

/**
 * The state transitions of iWARP: the kernel's connection manager makes most of them, and the driver checks the
 * others.
 */
final class KernelIwarpTransitions implements QueuePairTransitions {
    static final KernelIwarpTransitions INSTANCE = new KernelIwarpTransitions();

    private KernelIwarpTransitions() {}

    @Override
    public QueuePairState check(QueuePairType type, QueuePairState current,
            QueuePairAttributes attributes) {
        return attributes.isSet(QueuePairAttribute.STATE) ? attributes.state() : current;
    }
}
