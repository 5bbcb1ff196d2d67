// SPDX-License-Identifier: Apache-2.0
/**
 * The queues between applications and the engine: rings of slots, as many as were needed at a time.
 *
 * <p>Applications post into {@link io.rdma4j.softnic.queue.SendRing} and
 * {@link io.rdma4j.softnic.queue.ReceiveRing} and take from
 * {@link io.rdma4j.softnic.queue.CompletionRing}; the engine does the opposite. Knows no protocol.
 */
@NullMarked
package io.rdma4j.softnic.queue;

import org.jspecify.annotations.NullMarked;
