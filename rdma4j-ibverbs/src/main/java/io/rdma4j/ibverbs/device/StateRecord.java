// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.WorkCompletionStatus;

/**
 * Reports the states of a queue pair to Java Flight Recorder. A device changes the state by itself after a failure, and the
 * failure is seen before the state is queried: each change is reported once, with the cause that was seen first. Thread
 * safe.
 */
public final class StateRecord {
    private final String device;
    private final int number;
    private final QueuePairType type;
    private QueuePairState last;

    StateRecord(String device, int number, QueuePairType type, QueuePairState first) {
        this.device = device;
        this.number = number;
        this.type = type;
        last = first;
    }

    /** Records the present state, which may be unchanged. */
    public synchronized void moved(QueuePairState next, String cause) {
        if (next != last) {
            FlightEvents.queuePairState(device, number, last, next, cause);
            last = next;
        }
    }

    /** The device has reported an error of it. */
    public void onAsyncEvent(AsyncEventType event) {
        switch (event) {
            case QP_FATAL, QP_REQUEST_ERROR, QP_ACCESS_ERROR ->
                failed(QueuePairState.ERR, event.name());
            default -> {
                // It continues.
            }
        }
    }

    /** A request has failed: of an unreliable queue pair that stops sends alone. IBTA 10.3.1. */
    public void onFailure(WorkCompletionStatus status, boolean isReceive) {
        boolean isSendQueueError = !isReceive
                && (type == QueuePairType.UC || type == QueuePairType.UD);
        failed(isSendQueueError ? QueuePairState.SQE : QueuePairState.ERR, status.name());
    }

    /** Records that it failed, if it was not in error or reset before. */
    private synchronized void failed(QueuePairState next, String cause) {
        if (last != QueuePairState.RESET && last != QueuePairState.ERR) {
            moved(next, cause);
        }
    }
}
