// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.QueuePair;

import java.util.Objects;

/** What a device or queue pair has counted, by the name under which programs find it. */
public final class Counted {
    private Counted() {}

    /** {@return the value of a counter, which the device must have} */
    public static long counted(DeviceContext context, Counter counter) {
        return Objects.requireNonNull(context.counters().get(counter.text()), counter.text());
    }

    /** {@return the value of a counter, which the queue pair must have} */
    public static long counted(QueuePair queuePair, Counter counter) {
        return Objects.requireNonNull(queuePair.counters().get(counter.text()), counter.text());
    }
}
