package io.rdma4j.cm;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** The queue pair that an endpoint shall have, or each request of a passive one. */
record IdRequestPlan(@Nullable ProtectionDomain domain, QueuePairInitAttributes attributes) {
    /** {@return a plan that later changes of the caller's attributes do not touch} */
    static IdRequestPlan of(@Nullable ProtectionDomain domain, QueuePairInitAttributes attributes,
            QueuePairType type) {
        QueuePairInitAttributes copy = IdDataPath.copy(attributes).type(type);
        CompletionQueue sends = attributes.sendCompletionQueue();
        if (sends != null) {
            copy.sendCompletionQueue(sends);
        }
        CompletionQueue receives = attributes.receiveCompletionQueue();
        if (receives != null) {
            copy.receiveCompletionQueue(receives);
        }
        return new IdRequestPlan(domain, copy);
    }

    void createFor(CmId id) throws RdmaException {
        id.createQueuePair(domain, attributes);
    }
}
