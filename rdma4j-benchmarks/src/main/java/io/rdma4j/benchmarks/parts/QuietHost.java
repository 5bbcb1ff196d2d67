// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.benchmarks.parts;

import io.rdma4j.protocol.count.Counter;
import io.rdma4j.protocol.roce.RetransmissionCause;
import io.rdma4j.protocol.roce.RoceHost;
import io.rdma4j.protocol.work.ReceiveDetails;
import io.rdma4j.protocol.work.ReceiveRequest;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.protocol.work.SendRequest;
import io.rdma4j.verbs.AsyncEventType;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.WorkCompletionOpcode;
import io.rdma4j.verbs.WorkCompletionStatus;

import java.lang.foreign.MemorySegment;

/** Frees the slots of sends that succeeded; anything else is a defect of the benchmark. */
final class QuietHost implements RoceHost {
    private final SendQueue queue;
    private long completed;

    QuietHost(SendQueue queue) {
        this.queue = queue;
    }

    /** {@return how many sends have completed} */
    long completed() {
        return completed;
    }

    @Override
    public void sendCompleted(SendRequest request, WorkCompletionStatus status,
            long byteLength) {
        if (status != WorkCompletionStatus.SUCCESS) {
            throw new IllegalStateException("a request ended with " + status);
        }
        request.release();
        queue.retire();
        completed++;
    }

    @Override
    public void receiveCompleted(ReceiveRequest request, WorkCompletionStatus status,
            WorkCompletionOpcode opcode, long byteLength, ReceiveDetails details) {
        throw new IllegalStateException("nothing was posted");
    }

    @Override
    public boolean flush(MemorySegment memory, long offset, long length, long ticket) {
        throw new IllegalStateException("the peer flushes nothing");
    }

    @Override
    public void stateChanged(QueuePairState state) {
        throw new IllegalStateException("the queue pair went to " + state);
    }

    @Override
    public void asyncEvent(AsyncEventType type) {
        // That communication is established, once.
    }

    @Override
    public void retransmits(int psn, RetransmissionCause cause) {
        throw new IllegalStateException("nothing is lost");
    }

    @Override
    public void count(Counter counter) {
        // The engine's business.
    }

    @Override
    public void count(Counter counter, long times) {
        // The engine's business.
    }
}
