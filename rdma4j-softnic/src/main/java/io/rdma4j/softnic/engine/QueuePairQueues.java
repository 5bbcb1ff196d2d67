// SPDX-License-Identifier: Apache-2.0
package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.softnic.queue.CompletionRing;

/**
 * The queues of a queue pair.
 *
 * @param sends the posted send requests
 * @param receives the source of receive requests: its own queue or a view of a shared one
 * @param sendCompletions the completion queue of sends
 * @param receiveCompletions the completion queue of receives
 */
public record QueuePairQueues(SendQueue sends, ReceiveQueue receives,
        CompletionRing sendCompletions, CompletionRing receiveCompletions) {}
