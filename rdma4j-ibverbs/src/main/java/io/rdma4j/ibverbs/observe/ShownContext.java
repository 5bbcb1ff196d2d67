// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.observe;

import io.rdma4j.observe.jmx.QueuePairData;
import io.rdma4j.verbs.Gid;

import java.util.List;
import java.util.Map;

/**
 * The view of an open context's device for observers. For any thread, also while the context is being
 * closed.
 */
public interface ShownContext {
    /** {@return the device's name} */
    String device();

    /** {@return the device's addresses; empty if it cannot be queried any more} */
    List<Gid> gids();

    /** {@return the device's counters by the kernel's names} */
    Map<String, Long> counters();

    /** {@return how many queue pairs this context has} */
    int queuePairCount();

    /** {@return the queue pairs of this context, without those that are being closed} */
    List<QueuePairData> queuePairs();
}
