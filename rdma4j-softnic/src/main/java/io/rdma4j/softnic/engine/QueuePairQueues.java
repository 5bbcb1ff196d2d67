package io.rdma4j.softnic.engine;

import io.rdma4j.protocol.work.ReceiveQueue;
import io.rdma4j.protocol.work.SendQueue;
import io.rdma4j.softnic.queue.CompletionRing;

/**
 * The queues of a queue pair.
 *
 * @param sends what was posted to send
 * @param receives where it takes receive requests from, its own or a view of a shared queue
 * @param sendCompletions where sends complete
 * @param receiveCompletions where receives complete
 */
public record QueuePairQueues(SendQueue sends, ReceiveQueue receives,
        CompletionRing sendCompletions, CompletionRing receiveCompletions) {}
