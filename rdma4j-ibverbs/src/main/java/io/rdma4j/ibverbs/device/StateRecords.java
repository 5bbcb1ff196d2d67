// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.ibverbs.device;

import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The states of all queue pairs of a context, by the numbers that stand in completions. Thread safe. */
public final class StateRecords {
    private final Map<Integer, StateRecord> byNumber = new ConcurrentHashMap<>();

    /** {@return the record of a queue pair that was created} */
    public StateRecord add(String device, int number, QueuePairType type, QueuePairState first) {
        StateRecord record = new StateRecord(device, number, type, first);
        byNumber.put(number, record);
        return record;
    }

    /** A queue pair was closed, and its number may be used again. */
    public void remove(int number) {
        byNumber.remove(number);
    }

    /** A completion reports that a request has failed, or was flushed because another one had failed. */
    public void onFailure(int number, WorkCompletionStatus status, boolean isReceive) {
        if (status == WorkCompletionStatus.WORK_REQUEST_FLUSHED) {
            return;
        }
        StateRecord record = byNumber.get(number);
        if (record != null) {
            record.onFailure(status, isReceive);
        }
    }
}
