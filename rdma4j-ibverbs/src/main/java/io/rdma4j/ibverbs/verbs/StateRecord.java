package io.rdma4j.ibverbs.verbs;

import io.rdma4j.observe.jfr.FlightEvents;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.WorkCompletionStatus;

/**
 * The states of a queue pair as Java Flight Recorder is told of them. A device moves a queue pair by itself when something
 * fails, and what failed says so before the state is asked for: each change is told once, with the cause that was seen first.
 * Thread safe.
 */
final class StateRecord {
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

    /** It is in a state, and may have been before. */
    synchronized void moved(QueuePairState next, String cause) {
        if (next != last) {
            FlightEvents.queuePairState(device, number, last, next, cause);
            last = next;
        }
    }

    /** The device has told that something is wrong with it. */
    void onAsyncEvent(AsyncEventType event) {
        switch (event) {
            case QP_FATAL, QP_REQUEST_ERROR, QP_ACCESS_ERROR ->
                failed(QueuePairState.ERR, event.name());
            default -> {
                // It goes on.
            }
        }
    }

    /** A request has failed: of an unreliable queue pair that stops sends alone. IBTA 10.3.1. */
    void onFailure(WorkCompletionStatus status, boolean isReceive) {
        boolean isSendQueueError = !isReceive
                && (type == QueuePairType.UC || type == QueuePairType.UD);
        failed(isSendQueueError ? QueuePairState.SQE : QueuePairState.ERR, status.name());
    }

    /** It has failed, unless that is old news. */
    private synchronized void failed(QueuePairState next, String cause) {
        if (last != QueuePairState.RESET && last != QueuePairState.ERR) {
            moved(next, cause);
        }
    }
}
