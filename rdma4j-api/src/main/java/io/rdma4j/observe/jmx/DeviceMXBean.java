// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.observe.jmx;

import java.util.List;
import java.util.Map;

/**
 * A device that is open in this process, as {@code io.rdma4j:type=Device,name=roce_lo}.
 *
 * <p>All attributes are read while the device works and without holding it up: values of one read belong
 * to nearly the same moment, not to exactly the same one.
 *
 * @since 0.1.0
 */
public interface DeviceMXBean {
    /** {@return the device's name} */
    String getName();

    /** {@return the addresses it holds, as GIDs} */
    List<String> getGids();

    /** {@return how many contexts of this process are open} */
    int getContexts();

    /** {@return the device's counters by their Linux names} Source: {@link io.rdma4j.verbs.DeviceContext#counters}. */
    Map<String, Long> getCounters();

    /** {@return how many queue pairs this process has on it} */
    int getQueuePairCount();

    /** {@return these queue pairs by number} */
    List<QueuePairData> getQueuePairs();
}
