// SPDX-License-Identifier: Apache-2.0
/**
 * Queue pairs and shared receive queues of native devices, and how requests are posted to them. Start reading at {@link
 * io.rdma4j.ibverbs.queue.NativeQueuePair} and {@link io.rdma4j.ibverbs.queue.NativeSendPosting}. Their parts know the queue pair as
 * {@link io.rdma4j.ibverbs.queue.QueuePairServices} alone.
 */
@NullMarked
package io.rdma4j.ibverbs.queue;

import org.jspecify.annotations.NullMarked;
