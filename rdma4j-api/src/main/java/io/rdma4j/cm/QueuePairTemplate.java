// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.cm;

import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairType;
import org.jspecify.annotations.Nullable;

/** Domain and attributes of the queue pair of an endpoint, or of each request of a passive endpoint. */
record QueuePairTemplate(@Nullable ProtectionDomain domain, QueuePairInitAttributes attributes) {
    /** {@return a template that later changes of the caller's attributes do not touch} */
    static QueuePairTemplate of(@Nullable ProtectionDomain domain,
            QueuePairInitAttributes attributes, QueuePairType type) {
        return new QueuePairTemplate(domain, new QueuePairInitAttributes(attributes).type(type));
    }
}
