// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.protocol.work;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;

/** The host of a queue pair's protocol, which gets its completions and changes of state. */
public interface QueuePairHost {
    /**
     * A send request ended. Unsignaled successes are reported too; the host leaves them out. Requests end in
     * order; the host frees the slot of each before anybody can see its completion, for a thread that sees it
     * may post the next.
     *
     * @param byteLength bytes read, 0 for what sends
     */
    void sendCompleted(SendRequest request, WorkCompletionStatus status, long byteLength);

    /**
     * A receive request ended. Its slot is freed as that of a send.
     *
     * @param details flags, immediate data and whether the peer solicits an event
     */
    void receiveCompleted(ReceiveRequest request, WorkCompletionStatus status,
            WorkCompletionOpcode opcode, long byteLength, ReceiveDetails details);

    /**
     * Starts to write mapped memory to its file, which takes long. {@link QueuePairProtocol#onFlushed} reports the
     * outcome, never during this call.
     *
     * @param ticket a number for the report
     * @return whether it was started; if not, {@code onFlushed} is not called
     */
    boolean flush(MemorySegment memory, long offset, long length, long ticket);

    /** The queue pair changed its state by itself. */
    void stateChanged(QueuePairState state);

    /** Something happened that no completion reports. */
    void asyncEvent(AsyncEventType type);

    /** Something happened that is counted. */
    void count(Counter counter);

    /** It happened so often. */
    void count(Counter counter, long times);
}
