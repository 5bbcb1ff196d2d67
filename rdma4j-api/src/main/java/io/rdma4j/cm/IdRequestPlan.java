package io.rdma4j.cm;

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
        return new IdRequestPlan(domain, new QueuePairInitAttributes(attributes).type(type));
    }

    void createFor(CmId id) throws RdmaException {
        id.createQueuePair(domain, attributes);
    }
}
