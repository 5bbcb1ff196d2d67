package io.rdma4j.ibverbs.observe;

import io.rdma4j.observe.jmx.QueuePairData;
import io.rdma4j.verbs.Gid;

import java.util.List;
import java.util.Map;

/** What an open context shows of its device. Asked by any thread, also while the context is closed. */
public interface ShownContext {
    /** {@return the device's name} */
    String device();

    /** {@return the device's addresses; none if it cannot be asked any more} */
    List<Gid> gids();

    /** {@return the device's counters by the kernel's names} */
    Map<String, Long> counters();

    /** {@return how many queue pairs this context has} */
    int queuePairCount();

    /** {@return the queue pairs of this context, without those that are being closed} */
    List<QueuePairData> queuePairs();
}
