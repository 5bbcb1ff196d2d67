// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.testkit;

import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SendOpcode;

/** Completions waited for in a channel: arm, wait, acknowledge. */
public abstract class CompletionEventConformance extends Conformance {
    /** Called by subclasses. */
    protected CompletionEventConformance() {}

    @ConformanceCase(after = "test_cq_events.cq_events_ud")
    void eventsAnnounceDatagrams() throws RdmaException {
        players(new PlayerSettings().type(QueuePairType.UD).with(own -> own.usesEvents = true))
                .exchange(SendOpcode.SEND);
    }

    @ConformanceCase(after = "test_cq_events.cq_events_rc")
    void eventsAnnounceMessages() throws RdmaException {
        players(new PlayerSettings().with(own -> own.usesEvents = true)).exchange(SendOpcode.SEND);
    }
}
