// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.device;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;

import java.util.List;

/** What posting requires on every device, in the order in which it is checked: a request, a state, and room for its elements. */
public final class PostRules {
    /** What is attempted, as errors say it. */
    public static final String SEND = "post send";
    /** What is attempted, as errors say it. */
    public static final String RECEIVE = "post receive";

    private PostRules() {}

    /**
     * {@return the request at a place of a list as an application gives it}
     *
     * @throws IllegalStateException if it is null
     */
    public static <T> T given(List<T> requests, int place) {
        T request = requests.get(place);
        if (request == null) {
            throw new IllegalStateException("it is null");
        }
        return request;
    }

    /** @throws RdmaException EINVAL if sends cannot be posted in a state. In SQE and ERR they can, and are flushed */
    public static void requireSendState(QueuePairState state, String operation)
            throws RdmaException {
        switch (state) {
            case RTS, SQD, SQE, ERR -> {
                // Allowed; in SQE and ERR it is flushed.
            }
            case RESET, INIT, RTR -> throw new RdmaException(Errno.EINVAL, operation,
                    "the queue pair is in state " + state + "; sends need RTS");
        }
    }

    /**
     * Requires that a request has no more elements than its queue has room for.
     *
     * @param queue what was created for them
     * @throws RdmaException EINVAL if it has more
     */
    public static void requireElements(int count, int most, String queue, String operation)
            throws RdmaException {
        if (count > most) {
            throw new RdmaException(Errno.EINVAL, operation, "the request has " + count
                    + " elements; the " + queue + " was created for " + most);
        }
    }
}
