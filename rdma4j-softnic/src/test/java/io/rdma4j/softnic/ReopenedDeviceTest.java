// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaDevices;
import io.rdma4j.verbs.RdmaException;
import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.Set;

import static org.assertj.core.api.Assertions.assertThat;

/** A device that is closed and opened again, as by a program that connects, and some time later connects again. */
class ReopenedDeviceTest {
    private static final int TIMES = 20;
    private static final int QUEUE_PAIRS = 200;

    /** Peers remember the numbers for a while. Among 4,000 random ones of 16 bits, a hundred would come twice. */
    @Test
    void noQueuePairNumberComesAgain() throws RdmaException {
        Set<Integer> numbers = new HashSet<>();
        for (int i = 0; i < TIMES; i++) {
            try (DeviceContext context = RdmaDevices.find("roce_lo").open();
                    ProtectionDomain domain = context.allocateProtectionDomain();
                    CompletionQueue queue = context.createCompletionQueue(1)) {
                for (int j = 0; j < QUEUE_PAIRS; j++) {
                    try (QueuePair queuePair = domain.createQueuePair(
                            new QueuePairInitAttributes().completionQueue(queue))) {
                        numbers.add(queuePair.number());
                    }
                }
            }
        }
        assertThat(numbers).hasSize(TIMES * QUEUE_PAIRS);
    }
}
