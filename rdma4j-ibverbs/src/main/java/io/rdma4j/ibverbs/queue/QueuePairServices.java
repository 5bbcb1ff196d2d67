// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.queue;

import io.rdma4j.ibverbs.memory.DomainServices;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.RdmaException;

/** What the parts of a queue pair need of it: those that post, check, and attach it. */
interface QueuePairServices {
    /** {@return the queue pair, for objects to answer with} */
    QueuePair queuePair();

    /** {@return the domain that it is in} */
    DomainServices owner();

    /** {@return the address of its {@code ibv_qp}} */
    long pointer();

    int number();

    QueuePairType type();

    QueuePairCapabilities capabilities();

    QueuePairState state() throws RdmaException;

    int port();

    int qkey();

    boolean isAllSignaled();

    /** {@return the longest message that its port carries} */
    long longestMessage() throws RdmaException;

    void checkOpen() throws RdmaException;

    /** {@return whether it is in state RESET, as far as this library knows} */
    boolean isReset();

    /** {@return whether the driver would lose requests that are posted now} */
    boolean isTooLate();

    /** {@return whether the driver may have lost requests that it has just accepted} */
    boolean isLostMeanwhile();

    /** Completes sends as flushed that the driver has lost, of which the last ones were not given to it. */
    void flushSends(int late);

    /** As {@link #flushSends}, for receives. */
    void flushReceives(int late);
}
