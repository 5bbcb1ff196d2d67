package io.rdma4j.softnic.observe.jmx;

import java.util.List;
import java.util.Map;

/**
 * A device that is open in this process, as {@code io.rdma4j:type=Device,name=roce_lo}.
 *
 * <p>All attributes are read while the engine runs and without holding it up: values of one read belong
 * to nearly the same moment, not to exactly the same one.
 */
public interface DeviceMXBean {
    /** {@return the device's name} */
    String getName();

    /** {@return the addresses it holds, as GIDs} */
    List<String> getGids();

    /** {@return how many open contexts share it} */
    int getContexts();

    /** {@return the file that packets are recorded in, empty for none} */
    String getCapture();

    /** {@return what happens to the packets it sends, as {@link io.rdma4j.verbs.Impairment#parse} reads it} */
    String getImpairment();

    /** {@return the device's counters by their Linux names} Source: {@link io.rdma4j.verbs.Counter}. */
    Map<String, Long> getCounters();

    /** {@return how many queue pairs it has} */
    int getQueuePairCount();

    /** {@return its queue pairs by number} */
    List<QueuePairData> getQueuePairs();
}
